import assert from "node:assert/strict";
import { test } from "node:test";

import type { Admission } from "./admit-flow.ts";
import { createFlowTable } from "./flow-table.ts";
import { createFlowAcceptor } from "./flow-acceptor.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";
import { frontend, member } from "./test-members.ts";

const ADMITTED: Admission = { kind: "forward", member: member("10.240.0.4"), targetPort: 1 };
const REFUSED: Admission = { kind: "refuse", reason: "noEligibleMember" };

function setUp(maxFlows: number) {
  const flowTable = createFlowTable(() => 0);
  const answers: Admission[] = [];
  const acceptor = createFlowAcceptor({
    clock: { nowMs: () => 0, setTimer: () => ({ cancel() {} }) },
    flowTable,
    settings: () => ({ ...DEFAULT_SETTINGS, maxFlows }),
    policy: { admit: () => answers.shift() ?? ADMITTED, eligible: () => [], cutOff: () => new Map() },
  });
  const receive = () => acceptor.receive(frontend(), "127.0.0.1", 50_000).admission;
  return { flowTable, answers, acceptor, receive };
}

test("what is refused holds no slot", () => {
  const { answers, receive } = setUp(1);
  answers.push(REFUSED, REFUSED, ADMITTED);
  assert.deepEqual([receive(), receive(), receive()], [REFUSED, REFUSED, ADMITTED]);
});

test("more flows than there may be are refused, until one ends", () => {
  const { acceptor, receive, flowTable } = setUp(2);
  assert.deepEqual([receive().kind, receive().kind], ["forward", "forward"]);
  assert.deepEqual(receive(), { kind: "refuse", reason: "limit" });
  acceptor.freeSlot();
  assert.equal(receive().kind, "forward");
  const { total, open, refused } = flowTable.countsOf(frontend().key);
  assert.deepEqual([total, open, refused], [4, 3, { limit: 1 }]);
});
