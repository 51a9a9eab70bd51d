/** What `plan` says of a cluster in which everything is as it should be: no step, and no refusal. */
import assert from "node:assert/strict";

import type { Plan } from "../../src/main/make-plan.ts";

export function assertSettled({ steps, rejected }: Plan, message?: string): void {
  assert.deepEqual({ steps, rejected }, { steps: [], rejected: [] }, message);
}
