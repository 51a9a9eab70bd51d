import assert from "node:assert/strict";
import { test } from "node:test";

import { BadInput } from "../../shared/input.ts";
import { delayedBy, faultRegistry, parseFault } from "./faults.ts";

const LB = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/kubernetes";
const target = (method: string, path = LB, caller = "client") => ({ method, path, caller });

test("a fault hits by method, path without case, caller, and as often as it says", () => {
  const faults = faultRegistry();
  faults.arm(
    parseFault({ method: "PUT", path: "**/loadbalancers/*", skip: 1, count: 2, effect: { kind: "cutAfter" } }),
  );
  const hits = (method: string, path = LB) => faults.hits(target(method, path)).length;
  assert.equal(hits("GET"), 0);
  assert.equal(hits("PUT", `${LB}/backendAddressPools/p`), 0);
  assert.deepEqual([hits("PUT"), hits("PUT"), hits("PUT"), hits("PUT")], [0, 1, 1, 0]);
  assert.equal(faults.list()[0]?.hits, 2);
});

test("a caller can be singled out, and a count of null never ends", () => {
  const faults = faultRegistry();
  faults.arm(parseFault({ caller: "other", count: null, effect: { kind: "delay", delayMs: 5 } }));
  assert.equal(faults.hits(target("GET")).length, 0);
  for (let i = 0; i < 50; i++) assert.equal(faults.hits(target("GET", LB, "other")).length, 1);
});

test("two faults of one kind take turns; different kinds act together", () => {
  const faults = faultRegistry();
  faults.arm(parseFault({ effect: { kind: "status", status: 500, code: "First" } }));
  faults.arm(parseFault({ effect: { kind: "status", status: 503, code: "Second" } }));
  faults.arm(parseFault({ effect: { kind: "delay", delayMs: 1 }, count: 2 }));
  const codes = () =>
    faults.hits(target("GET")).map(({ effect }) => (effect.kind === "status" ? effect.code : effect.kind));
  assert.deepEqual(codes(), ["First", "delay"]);
  assert.deepEqual(codes(), ["Second", "delay"]);
  assert.deepEqual(codes(), []);
});

test("faults are cleared one by one or all together", () => {
  const faults = faultRegistry();
  const first = faults.arm(parseFault({ effect: { kind: "cutBefore" } }));
  faults.arm(parseFault({ effect: { kind: "cutBefore" } }));
  assert.equal(faults.clear(first.id), 1);
  assert.equal(faults.list().length, 1);
  assert.equal(faults.clear(), 1);
  assert.equal(faults.hits(target("GET")).length, 0);
});

test("a request that is delayed without an end goes on when the fault is cleared, or the emulator closes", async () => {
  const faults = faultRegistry();
  const { id } = faults.arm(parseFault({ count: null, effect: { kind: "delay", delayMs: null } }));
  const closing = Promise.withResolvers<boolean>();
  const passed: string[] = [];
  const pass = (what: string, sleep: Promise<boolean>): Promise<unknown> =>
    delayedBy(faults.hits(target("GET")), faults, () => sleep).then((isOpen) => passed.push(`${what} ${isOpen}`));
  const cut = pass("cut", closing.promise);
  const held = pass("held", new Promise(() => {}));
  closing.resolve(false);
  await cut;
  assert.deepEqual(passed, ["cut false"]);
  faults.clear(id);
  await held;
  assert.deepEqual(passed, ["cut false", "held true"]);
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
