import assert from "node:assert/strict";
import { test } from "node:test";

import { BadInput } from "../../shared/bad-input.ts";
import { faultBoard, parseFault } from "./faults.ts";

const LB = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/kubernetes";
const target = (method: string, path = LB, caller = "someone") => ({ method, path, caller });

test("a fault hits by method, path without case, caller, and as often as it says", () => {
  const board = faultBoard();
  board.arm(parseFault({ method: "PUT", path: "**/loadbalancers/*", skip: 1, count: 2, effect: { kind: "cutAfter" } }));
  const hits = (method: string, path = LB) => board.hits(target(method, path)).length;
  assert.equal(hits("GET"), 0);
  assert.equal(hits("PUT", `${LB}/backendAddressPools/p`), 0);
  assert.deepEqual([hits("PUT"), hits("PUT"), hits("PUT"), hits("PUT")], [0, 1, 1, 0]);
  assert.equal(board.list()[0]?.hits, 2);
});

test("a caller can be singled out, and a count of null never ends", () => {
  const board = faultBoard();
  board.arm(parseFault({ caller: "other", count: null, effect: { kind: "delay", delayMs: 5 } }));
  assert.equal(board.hits(target("GET")).length, 0);
  for (let i = 0; i < 50; i++) assert.equal(board.hits(target("GET", LB, "other")).length, 1);
});

test("two faults of one kind take turns; different kinds act together", () => {
  const board = faultBoard();
  board.arm(parseFault({ effect: { kind: "status", status: 500, code: "First" } }));
  board.arm(parseFault({ effect: { kind: "status", status: 503, code: "Second" } }));
  board.arm(parseFault({ effect: { kind: "delay", delayMs: 1 }, count: 2 }));
  const codes = () =>
    board.hits(target("GET")).map(({ effect }) => (effect.kind === "status" ? effect.code : effect.kind));
  assert.deepEqual(codes(), ["First", "delay"]);
  assert.deepEqual(codes(), ["Second", "delay"]);
  assert.deepEqual(codes(), []);
});

test("faults are cleared one by one or all together", () => {
  const board = faultBoard();
  const first = board.arm(parseFault({ effect: { kind: "cutBefore" } }));
  board.arm(parseFault({ effect: { kind: "cutBefore" } }));
  assert.equal(board.clear(first.id), 1);
  assert.equal(board.list().length, 1);
  assert.equal(board.clear(), 1);
  assert.equal(board.hits(target("GET")).length, 0);
});

test("an operation's fate has Azure's words unless told otherwise", () => {
  const failed = parseFault({ effect: { kind: "operation" } }).effect;
  assert.deepEqual(failed, {
    kind: "operation",
    fate: { status: "Failed", code: "InternalServerError", message: "An error occurred." },
  });
  const canceled = parseFault({ effect: { kind: "operation", outcome: "Canceled", tailMs: 50 } }).effect;
  assert.deepEqual(canceled, {
    kind: "operation",
    fate: { status: "Canceled", code: "Canceled", message: "Operation was canceled." },
    tailMs: 50,
  });
});

const WRONG: readonly [unknown, RegExp][] = [
  [[], /fault must be an object/],
  [{ effect: { kind: "explode" } }, /fault\.effect\.kind must be one of .*not "explode"/],
  [{ efect: {} }, /unknown key "efect"/],
  [{ method: "FETCH", effect: { kind: "cutBefore" } }, /fault\.method must be one of .*not "FETCH"/],
  [{ count: 0, effect: { kind: "cutBefore" } }, /fault\.count must be a whole number of at least 1, not 0/],
  [{ path: "loadBalancers", effect: { kind: "cutBefore" } }, /fault\.path must begin/],
  [{ effect: { kind: "delay" } }, /fault\.effect\.delayMs must be a whole number/],
  [{ effect: { kind: "status" } }, /fault\.effect\.status/],
];

for (const [value, message] of WRONG) {
  test(`refused: ${JSON.stringify(value)}`, () => {
    assert.throws(
      () => parseFault(value),
      (error: Error) => error instanceof BadInput && message.test(error.message),
    );
  });
}
