import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { loadBalancer, record, registered } from "../../../test/support/lbcf-objects.ts";
import {
  addressAnswer,
  backendRequest,
  createAnswer,
  ensureAnswer,
  healthOf,
  judgementOf,
  loadBalancerRequest,
  plainAnswer,
  type Reply,
  validateBackendRequest,
  validateLoadBalancerRequest,
  verdictOf,
} from "./webhook-protocol.ts";

const ok = (body: unknown): Reply => ({ status: 200, body: JSON.stringify(body) });

describe("requests", () => {
  test("empty maps are null, old ones are left out where there are none", () => {
    assert.deepEqual(validateLoadBalancerRequest(loadBalancer("lb", { lbSpec: {} }), "Create", {}), {
      lbSpec: null,
      operation: "Create",
      attributes: null,
      dryRun: false,
    });
  });

  test("an ensured load balancer comes with its lbInfo", () => {
    const body = loadBalancerRequest("ensureLoadBalancer", loadBalancer("lb"), "retry");
    assert.deepEqual(body.lbInfo, { id: "lb" });
    assert.equal(body.recordID, "ensureLoadBalancer(uid-lb)");
  });

  test("old parameters go in both spellings", () => {
    const question = { backendType: "Pod", lbInfo: {}, operation: "Update", parameters: {} } as const;
    const body = validateBackendRequest({ ...question, oldParameters: { a: "1" } });
    assert.deepEqual([body.OldParameters, body.oldParameters], [{ a: "1" }, { a: "1" }]);
  });

  test("a record's id stays, its retry's does not", () => {
    const [one, two] = ["a", "b"].map((retry) => backendRequest("ensureBackend", record(registered("x")), retry));
    assert.equal(one?.recordID, two?.recordID);
    assert.notEqual(one?.retryID, two?.retryID);
  });
});

describe("answers", () => {
  const TABLE: readonly (readonly [string, Reply, object])[] = [
    ["Succ", ok({ status: "Succ", msg: "m" }), { status: "Succ", msg: "m" }],
    [
      "Fail",
      ok({ status: "Fail", msg: "m", minRetryDelayInSeconds: 3 }),
      { status: "Fail", msg: "m", retryAfterMs: 3_000 },
    ],
    [
      "Running as the documents spell it",
      ok({ status: "Running", minRetryDelayinSeconds: "5" }),
      { status: "Running", msg: "", retryAfterMs: 5_000 },
    ],
    [
      "a delay of nothing is none",
      ok({ status: "Running", minRetryDelayInSeconds: 0 }),
      { status: "Running", msg: "" },
    ],
    [
      "another status",
      ok({ status: "OK" }),
      { status: "Invalid", msg: 'ensureBackend answered status "OK": it must be Succ, Fail or Running' },
    ],
    [
      "a list",
      ok([]),
      { status: "Invalid", msg: 'ensureBackend answered status "": it must be Succ, Fail or Running' },
    ],
    [
      "no JSON",
      { status: 200, body: "<html>" },
      { status: "Invalid", msg: "ensureBackend answered what is no JSON: <html>" },
    ],
    ["an HTTP error", { status: 500, body: "oops" }, { status: "Error", msg: "ensureBackend answered HTTP 500: oops" }],
    ["a redirect", { status: 302, body: "" }, { status: "Error", msg: "ensureBackend answered HTTP 302" }],
  ];
  for (const [what, reply, expected] of TABLE) {
    test(what, () => assert.deepEqual(plainAnswer("ensureBackend", reply), expected));
  }

  test("what they carry, and only maps of texts", () => {
    const created = createAnswer(ok({ status: "Succ", lbInfo: { id: "1", n: 2 } }));
    assert.deepEqual("lbInfo" in created && created.lbInfo, { id: "1" });
    assert.equal(addressAnswer(ok({ status: "Succ" })).status, "Invalid");
    const address = addressAnswer(ok({ status: "Succ", backendAddr: "a" }));
    assert.equal("backendAddr" in address && address.backendAddr, "a");
    const ensured = ensureAnswer(ok({ status: "Succ", injectedInfo: null }));
    assert.deepEqual("injectedInfo" in ensured && ensured.injectedInfo, {});
  });

  test("a long answer is quoted in part", () => {
    const { msg } = plainAnswer("healthz", { status: 500, body: "x".repeat(5_000) });
    assert.ok(msg.length < 300, msg);
  });
});

describe("verdicts, judgements and health", () => {
  test("yes, no and neither", () => {
    assert.deepEqual(verdictOf("validateBackend", ok({ succ: true })), { kind: "valid" });
    assert.deepEqual(verdictOf("validateBackend", ok({ succ: false, msg: "no" })), { kind: "refused", message: "no" });
    assert.equal(verdictOf("validateBackend", ok({})).kind, "failed");
    assert.equal(verdictOf("validateBackend", { status: 503, body: "" }).kind, "failed");
  });

  test("pods are known by uid", () => {
    const pods = [{ metadata: { uid: "a" } }, { metadata: {} }, "x"];
    const judged = judgementOf(ok({ succ: true, doNotDeregister: pods }));
    assert.deepEqual("keep" in judged && [...judged.keep], ["a"]);
    assert.deepEqual(judgementOf(ok({ succ: false, msg: "busy" })), { problem: "busy" });
  });

  test("only a driver that speaks of its health is believed", () => {
    assert.deepEqual(healthOf(ok({ healthy: true })), { healthy: true, message: "" });
    assert.equal(healthOf(ok({ healthy: false }))?.healthy, false);
    for (const reply of [ok({}), ok("fine"), { status: 404, body: "" }, { status: 500, body: "" }]) {
      assert.equal(healthOf(reply), undefined);
    }
  });
});
