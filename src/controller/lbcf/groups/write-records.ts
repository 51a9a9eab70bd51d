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
    (await failureOf(
      "Delete",
      deletes.map(({ record }) => writer.deleteRecord(record)),
    )) ??
    (await failureOf(
      "Update",
      updates.map(({ record, spec }) => writer.updateRecord(record, spec)),
    )) ??
    failureOf(
      "Create",
      creates.map((draft) => writer.createRecord(group, draft)),
    )
  );
}

/** The reasons are LBCF's. */
async function failureOf(
  verb: "Delete" | "Update" | "Create",
  writes: readonly Promise<void>[],
): Promise<FailedWrite | undefined> {
  const results = await Promise.allSettled(writes);
  const failed = results.filter((result) => result.status === "rejected");
  const [first] = failed;
  if (first === undefined) return undefined;
  const why = first.reason instanceof Error ? first.reason.message : String(first.reason);
  const message = `cannot ${verb.toLowerCase()} ${pluralize(failed.length, "backend record")}: ${why}`;
  return { reason: `${verb}BackendFailed`, message, error: first.reason };
}
