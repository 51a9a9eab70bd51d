import assert from "node:assert/strict";
import { test } from "node:test";

import { type EndEvent, goneNode, missedEviction } from "./missed-evictions.ts";
import { parsePreemptionEvent } from "./preemption-events.ts";

const AT = Date.UTC(2026, 0, 1, 10, 0, 0);
const TRUST = { namespaces: ["default"], nowMs: AT + 60_000 };

function event(reason: string, message: string, atMs: number, name = "n"): EndEvent {
  const time = new Date(atMs).toISOString();
  return {
    metadata: { uid: reason, namespace: "default", creationTimestamp: time },
    involvedObject: { kind: "Node", name },
    reason,
    message,
    firstTimestamp: time,
    lastTimestamp: time,
  };
}

const NOTICE = parsePreemptionEvent(
  event("PreemptScheduled", "Preempt Scheduled: Thu, 01 Jan 2026 10:00:30 GMT. EventId: 7", AT),
);

const ENDS: readonly { readonly what: string; readonly end?: EndEvent; readonly isMissed: boolean }[] = [
  { what: "nothing was said", isMissed: true },
  { what: "it was drained", end: event("EvictionDrained", "", AT + 3_000), isMissed: false },
  { what: "it was drained late", end: event("EvictionDrainedLate", "", AT + 40_000), isMissed: false },
  { what: "an earlier one was drained", end: event("EvictionDrained", "", AT - 3_000), isMissed: true },
  { what: "another node was drained", end: event("EvictionDrained", "", AT + 3_000, "m"), isMissed: true },
  { what: "it was cancelled", end: event("ScheduledEventOver", "is over. EventId: 7", AT + 9), isMissed: false },
  { what: "another was cancelled", end: event("ScheduledEventOver", "is over. EventId: 8", AT + 9), isMissed: true },
];

for (const { what, end, isMissed } of ENDS) {
  test(`a Node has gone, ${what}`, () => {
    const missed = missedEviction(goneNode("n"), [NOTICE], end === undefined ? [] : [end], TRUST);
    assert.deepEqual(missed, isMissed ? { announcedMs: AT, dueMs: AT + 30_000 } : undefined);
  });
}

test("a notice that does not say when it is due cannot be missed", () => {
  const vague = { ...NOTICE, message: "Preempt Scheduled: soon" };
  assert.equal(missedEviction(goneNode("n"), [vague], [], TRUST), undefined);
});
