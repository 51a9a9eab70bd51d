/**
 * A write that Azure accepts and then, as an operation, fails leaves its content behind: the next read shows the
 * culprit's fragment as if it were in place. So what was there before is remembered and becomes the base again, unless
 * another client has changed the resource since: that change must not be lost.
 */
import type { ArmBody } from "./commit-types.ts";

export interface Rollback {
  /** What was there before the write. */
  readonly before: ArmBody;
  /** The write's content as Azure had accepted it. */
  readonly accepted: unknown;
}

/** What to merge into: the earlier content under the ETag of now. `undefined` where there is nothing to take back. */
export function takenBack(rollback: Rollback | undefined, now: ArmBody | null): ArmBody | undefined {
  if (rollback === undefined || now === null || contentOf(now) !== contentOf(rollback.accepted)) return undefined;
  const { etag: _, ...before } = rollback.before;
  return now.etag === undefined ? before : { ...before, etag: now.etag };
}

function contentOf(body: unknown): string {
  return JSON.stringify(body, (key, value: unknown) =>
    key === "etag" || key === "provisioningState" ? undefined : value,
  );
}
