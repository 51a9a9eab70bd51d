import assert from "node:assert/strict";
import { test } from "node:test";

import type { HistoryEntry } from "../../sandbox/kubernetes/model/contract.ts";
import { Process } from "../environment/timeline.ts";
import type { Fault } from "../network/faults.ts";
import type { OutgoingCall } from "../network/network.ts";
import { UnseenNodes } from "./unseen-nodes.ts";

const LONG_MS = 10_000;

/** A node comes, a process sees it after a second, and it goes; `meanwhile`: after two seconds. */
function seenBy(process: Process, meanwhile: (unseen: UnseenNodes) => void = () => {}): UnseenNodes {
  let nowMs = 0;
  const unseen = new UnseenNodes(() => nowMs);
  const change = (type: HistoryEntry["type"], revision: number): void =>
    unseen.onChange({ collection: "nodes", type, revision, object: { metadata: { name: "node" } } } as HistoryEntry);
  change("ADDED", 1);
  nowMs = 1_000;
  unseen.onDelivered(process, "nodes", 1);
  nowMs = 2_000;
  meanwhile(unseen);
  nowMs = 20_000;
  change("DELETED", 2);
  return unseen;
}

test("a node that a process saw for long is known", () => {
  assert.equal(seenBy(new Process("one")).has("node"), false);
});

for (const [what, endedMs, isUnseen] of [
  ["died a moment later", 1_500, true],
  ["had been told to end before, however long that took", 500, true],
  ["ended long after", 1_000 + LONG_MS, false],
] as const) {
  test(`a node that was seen by a process which ${what}`, () => {
    const process = new Process("one");
    process.endedMs = endedMs;
    assert.equal(seenBy(process).has("node"), isUnseen);
  });
}

test("a node that was seen by a process which Azure throttled until it ended", () => {
  const process = new Process("one");
  const fault: Fault = { kind: "refused", side: "azure", calls: "any", status: 429, skip: 0, times: 1 };
  const call = { process, side: "azure", call: "read", what: "GET Microsoft.Network/loadBalancers" } as OutgoingCall;
  process.endedMs = 20_000;
  assert.equal(seenBy(process, (unseen) => unseen.onFault(call, fault)).has("node"), true);
  process.endedMs = 60_000;
  assert.equal(seenBy(process, (unseen) => unseen.onFault(call, fault)).has("node"), false, "it could read again");
});
