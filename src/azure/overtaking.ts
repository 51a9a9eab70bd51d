/**
 * A drain of a part that waits while its whole is being written. When that write is over, the whole would be read before
 * anything else leaves: a megabyte and more of it, where the drain needs but its part, which bears the same ETag. So the
 * drain goes first, in one attempt; where that fails or there is any doubt it has its turn as if nothing had been tried.
 */
import type { ArmBody, Committed } from "./commit-types.ts";
import { guarded, isBadNews, settledAs, type CommitContext } from "./commit-batch.ts";
import { ArmError } from "./failures.ts";
import { isBroken, isChanging } from "./resource-parts.ts";
import { wholesome } from "./resource-shape.ts";
import type { Ticket } from "./ticket.ts";

/** What came of it, once the whole was read. */
export type Overtaken = (whole: ArmBody) => ReadonlyMap<Ticket, Committed<ArmBody>>;

/** `undefined`: nothing was sent. Throws the `ArmError` of the write. `batch`: drains of one part, all of one kind. */
export async function overtake(batch: readonly Ticket[], context: CommitContext): Promise<Overtaken | undefined> {
  const [first] = batch;
  if (first === undefined) return undefined;
  const { id, merge } = first.write;
  const part = await look(id, context);
  if (part?.etag === undefined || isChanging(part) || isBroken(part)) return undefined;
  const merged = merge(
    part,
    batch.map((ticket) => ticket.write.fragment),
  );
  if (merged.outcome.kind !== "put" || isBadNews(merged)) return undefined;
  await context.client.putUnread(id, merged.outcome.body, { ...guarded(context, "drain"), ifMatch: part.etag });
  return (whole) => settledAs({ kind: "written", body: whole }, merged, batch);
}

/** `null` also where it cannot be read: whoever reads the whole next says why. */
async function look(id: string, { client, closing }: CommitContext): Promise<ArmBody | null> {
  try {
    const part = await client.find<ArmBody>(id, { priority: "drain", signal: closing });
    return part && wholesome(part, `looking at ${id}`);
  } catch (error) {
    if (error instanceof ArmError) return null;
    throw error;
  }
}
