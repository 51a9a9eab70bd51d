/** Writes the records that a group's decision asks for. */
import type { Problem } from "../../../core/lbcf/groups/candidates.ts";
import type { GroupActions } from "../../../core/lbcf/groups/reconcile-backend-group.ts";
import type { BackendGroup } from "../../../core/lbcf/objects/objects.ts";
import { pluralize } from "../../../core/util/text.ts";
import type { LbcfWriter } from "../objects/lbcf-writer.ts";

/** The part of the writer that groups use. */
export type RecordWriter = Pick<LbcfWriter, "createRecord" | "updateRecord" | "deleteRecord">;

export interface FailedWrite extends Problem {
  readonly error: unknown;
}

/**
 * Deletes first, so that a load balancer with a limit has room, then updates, then creates. Within one kind all writes are
 * tried; a failure stops the next kind.
 */
export async function writeRecords(
  writer: RecordWriter,
  group: BackendGroup,
  { deletes, updates, creates }: GroupActions,
): Promise<FailedWrite | undefined> {
  return (
    (await failureOf("Delete", deletes, ({ record }) => writer.deleteRecord(record))) ??
    (await failureOf("Update", updates, ({ record, spec }) => writer.updateRecord(record, spec))) ??
    failureOf("Create", creates, (draft) => writer.createRecord(group, draft))
  );
}

/** Of one group; the writer has a bound for all. */
const AT_A_TIME = 32;

/** The reasons are LBCF's. */
async function failureOf<T>(
  verb: "Delete" | "Update" | "Create",
  items: readonly T[],
  write: (item: T) => Promise<void>,
): Promise<FailedWrite | undefined> {
  const failures: unknown[] = [];
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await write(item).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME, items.length) }, worker));
  const [error] = failures;
  if (failures.length === 0) return undefined;
  const why = error instanceof Error ? error.message : String(error);
  const message = `cannot ${verb.toLowerCase()} ${pluralize(failures.length, "backend record")}: ${why}`;
  return { reason: `${verb}BackendFailed`, message, error };
}
