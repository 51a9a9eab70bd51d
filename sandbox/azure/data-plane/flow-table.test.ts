import assert from "node:assert/strict";
import { test } from "node:test";

import { createFlowTable } from "./flow-table.ts";
import { frontend, member } from "./test-members.ts";

const [FRONT, MEMBER] = [frontend(), member("10.240.0.4")];
const CLIENT = { client: "127.0.0.1:50000", source: "203.0.113.1" };

test("flows are counted where they went and where they ended", () => {
  const flowTable = createFlowTable(() => 0);
  flowTable.opened(FRONT, MEMBER, CLIENT);
  flowTable.opened(FRONT, MEMBER, CLIENT);
  flowTable.opened(FRONT, MEMBER, CLIENT);
  flowTable.closed(FRONT, MEMBER, CLIENT, "closed");
  flowTable.refused(FRONT, CLIENT, { reason: "memberRefused", member: MEMBER });
  flowTable.refused(FRONT, CLIENT, { reason: "noEligibleMember" });
  const { total, open, refused, members } = flowTable.countsOf(FRONT.key);
  assert.deepEqual([total, open, refused], [4, 1, { memberRefused: 1, noEligibleMember: 1 }]);
  assert.deepEqual(members.get(MEMBER.ip), { total: 3, open: 1, refused: 1, openedWhileDown: 0 });
});

test("flows to a member that is Down are counted: a rule without a probe has them", () => {
  const flowTable = createFlowTable(() => 0);
  flowTable.opened(FRONT, MEMBER, CLIENT);
  flowTable.opened(FRONT, member(MEMBER.ip, "Down"), CLIENT);
  const { total, openedWhileDown } = flowTable.countsOf(FRONT.key).members.get(MEMBER.ip) ?? {};
  assert.deepEqual([total, openedWhileDown], [2, 1]);
});

test("the log is bounded, keeps the newest, and its numbers go on", () => {
  const flowTable = createFlowTable(() => 0);
  for (let count = 0; count < 50_000; count++) flowTable.note({ event: "listening" });
  const kept = flowTable.entries();
  assert.deepEqual([kept.length, kept[0]?.sequence, kept.at(-1)?.sequence], [20_000, 30_001, 50_000]);
});

test("the log is filtered by event, member and sequence", () => {
  const flowTable = createFlowTable(() => Date.UTC(2026, 0, 1));
  flowTable.opened(FRONT, MEMBER, CLIENT);
  flowTable.opened(FRONT, member("10.240.0.5"), CLIENT);
  flowTable.closed(FRONT, MEMBER, CLIENT, "closed");
  const sequences = (query: Parameters<typeof flowTable.entries>[0]) =>
    flowTable.entries(query).map(({ sequence }) => sequence);
  assert.deepEqual(sequences({ member: "10.240.0.4" }), [1, 3]);
  assert.deepEqual(sequences({ member: "node-10.240.0.5" }), [2]);
  assert.deepEqual(sequences({ event: "opened", limit: 1 }), [1]);
  assert.deepEqual(sequences({ after: 1 }), [2, 3]);
  assert.deepEqual(sequences({ frontend: "20.0.0.8:80/tcp" }), []);
  assert.equal(flowTable.entries()[0]?.time, "2026-01-01T00:00:00.000Z");
});
