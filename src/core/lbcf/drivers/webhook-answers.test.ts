import assert from "node:assert/strict";
import { describe, test } from "node:test";

import {
  addressAnswer,
  createAnswer,
  deregisterAnswer,
  ensureAnswer,
  healthOf,
  judgedPodsOf,
  plainAnswer,
  type Reply,
  validationOf,
} from "./webhook-answers.ts";

const ok = (body: unknown): Reply => ({ status: 200, body: JSON.stringify(body) });

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
      "an empty status, whose message is kept",
      ok({ status: "", msg: "cannot decode the request" }),
      {
        status: "Invalid",
        msg: 'ensureBackend answered status "": it must be Succ, Fail or Running; msg: cannot decode the request',
      },
    ],
    [
      "nulls are empty values",
      ok({ status: "Running", msg: null, minRetryDelayInSeconds: null }),
      { status: "Running", msg: "" },
    ],
    ["a negative delay is none", ok({ status: "Fail", minRetryDelayInSeconds: -1 }), { status: "Fail", msg: "" }],
    [
      "a list",
      ok([]),
      { status: "Invalid", msg: "ensureBackend answered status nothing: it must be Succ, Fail or Running" },
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

  test("what they carry", () => {
    const created = createAnswer(ok({ status: "Succ", lbInfo: { id: "1" } }));
    assert.deepEqual("lbInfo" in created && created.lbInfo, { id: "1" });
    assert.equal(addressAnswer(ok({ status: "Succ" })).status, "Invalid");
    const address = addressAnswer(ok({ status: "Succ", backendAddr: "a" }));
    assert.equal("backendAddr" in address && address.backendAddr, "a");
    const ensured = ensureAnswer(ok({ status: "Succ", injectedInfo: null }));
    assert.deepEqual("injectedInfo" in ensured && ensured.injectedInfo, {});
  });

  test("the case of fields does not matter, that of keys in maps does", () => {
    const created = createAnswer(ok({ Status: "Succ", Msg: "m", LbInfo: { ID: "1", id: "2" } }));
    assert.deepEqual(created, { status: "Succ", msg: "m", lbInfo: { ID: "1", id: "2" } });
    assert.equal(validationOf("validateBackend", ok({ Succ: true })).kind, "valid");
    assert.equal(healthOf(ok({ Healthy: false }))?.healthy, false);
    const judged = judgedPodsOf(ok({ SUCC: true, DoNotDeregister: [{ Metadata: { UID: "a" } }] }));
    assert.deepEqual(judged, { kind: "judged", keep: new Set(["a"]) });
  });

  const huge = "x".repeat(1 << 20);
  const INVALID: readonly (readonly [string, () => { status: string; msg: string }, RegExp])[] = [
    ["a status that is a number", () => plainAnswer("ensureBackend", ok({ status: 5 })), /answered status 5/],
    [
      "an address that is a number",
      () => addressAnswer(ok({ status: "Succ", backendAddr: 5 })),
      /backendAddr is no text/,
    ],
    ["an lbInfo with a number", () => createAnswer(ok({ status: "Succ", lbInfo: { id: 1 } })), /lbInfo\.id is no text/],
    ["an lbInfo that is a list", () => createAnswer(ok({ status: "Succ", lbInfo: ["1"] })), /lbInfo is no map/],
    ["an injectedInfo that is a text", () => ensureAnswer(ok({ status: "Succ", injectedInfo: "x" })), /is no map/],
    ["a msg that is a number", () => plainAnswer("ensureBackend", ok({ status: "Fail", msg: 5 })), /msg is no text/],
    [
      "an injectedInfo that is a number beside Fail",
      () => ensureAnswer(ok({ status: "Fail", msg: "no", injectedInfo: 7 })),
      /answered Fail, but injectedInfo is no map/,
    ],
    [
      "an injectedInfo of a deregistration that is a number",
      () => deregisterAnswer(ok({ status: "Succ", injectedInfo: 7 })),
      /injectedInfo is no map/,
    ],
    ["a huge address", () => addressAnswer(ok({ status: "Succ", backendAddr: huge })), /longer than 65536/],
    ["a huge lbInfo", () => createAnswer(ok({ status: "Succ", lbInfo: { id: huge } })), /lbInfo is longer/],
    ["a huge key", () => ensureAnswer(ok({ status: "Succ", injectedInfo: { [huge]: 5 } })), /is no text/],
  ];
  for (const [what, answer, message] of INVALID) {
    test(`${what} makes no sense`, () => {
      const { status, msg } = answer();
      assert.equal(status, "Invalid");
      assert.match(msg, message);
      assert.ok(msg.length < 500, `${msg.length}`);
    });
  }

  test("a delay is a whole number of seconds that fits 32 bits, as a number or in quotes", () => {
    const answer = (minRetryDelayInSeconds: unknown) =>
      plainAnswer("ensureBackend", ok({ status: "Running", minRetryDelayInSeconds }));
    assert.deepEqual(answer(2 ** 31 - 1), { status: "Running", msg: "", retryAfterMs: (2 ** 31 - 1) * 1_000 });
    assert.deepEqual(answer("60"), { status: "Running", msg: "", retryAfterMs: 60_000 });
    for (const delay of [0.001, 1e-9, 2 ** 31, true, "abc", "", "1.5", [1], {}, [], "9".repeat(1_000)]) {
      const { status, msg } = answer(delay);
      assert.equal(status, "Invalid", JSON.stringify(delay));
      assert.match(msg, /minRetryDelayInSeconds .* is no whole number of seconds/);
      assert.ok(msg.length < 500);
    }
  });

  test("a null in a map is an empty text", () => {
    const created = createAnswer(ok({ status: "Succ", lbInfo: { id: "1", zone: null } }));
    assert.deepEqual("lbInfo" in created && created.lbInfo, { id: "1", zone: "" });
  });

  test("a long message is cut", () => {
    for (const status of ["Succ", "Fail", "Running"]) {
      assert.ok(plainAnswer("ensureBackend", ok({ status, msg: huge })).msg.length < 1_100);
    }
    const validation = validationOf("validateBackend", ok({ succ: false, msg: huge }));
    assert.ok("message" in validation && validation.message.length < 1_100);
    assert.ok((healthOf(ok({ healthy: false, msg: huge }))?.message.length ?? 0) < 1_100);
  });

  test("a long answer is quoted in part", () => {
    const { msg } = plainAnswer("healthz", { status: 500, body: "x".repeat(5_000) });
    assert.ok(msg.length < 300, msg);
  });
});

describe("validations, judgements and health", () => {
  test("yes, no and neither", () => {
    assert.deepEqual(validationOf("validateBackend", ok({ succ: true })), { kind: "valid" });
    assert.deepEqual(validationOf("validateBackend", ok({ succ: false, msg: "no" })), {
      kind: "refused",
      message: "no",
    });
    assert.equal(validationOf("validateBackend", ok({})).kind, "failed");
    assert.equal(validationOf("validateBackend", ok({ succ: false, msg: 5 })).kind, "failed");
    assert.equal(validationOf("validateBackend", { status: 503, body: "" }).kind, "failed");
  });

  test("pods are known by uid", () => {
    const judged = judgedPodsOf(ok({ succ: true, doNotDeregister: [{ metadata: { uid: "a" } }] }));
    assert.deepEqual(judged, { kind: "judged", keep: new Set(["a"]) });
    assert.deepEqual(judgedPodsOf(ok({ succ: true, doNotDeregister: null })), { kind: "judged", keep: new Set() });
    assert.deepEqual(judgedPodsOf(ok({ succ: false, msg: "busy" })), { kind: "failed", message: "busy" });
  });

  test("an answer that names pods in another form is invalid: no pod is deregistered by mistake", () => {
    for (const doNotDeregister of ["web-0", ["web-0"], [{ metadata: {} }], [{ uid: "a" }], { "web-0": true }, 5]) {
      const judged = judgedPodsOf(ok({ succ: true, doNotDeregister }));
      assert.equal(judged.kind, "failed", JSON.stringify(doNotDeregister));
    }
  });

  test("only a driver that speaks of its health is believed", () => {
    assert.deepEqual(healthOf(ok({ healthy: true })), { healthy: true, message: "" });
    assert.equal(healthOf(ok({ healthy: false }))?.healthy, false);
    for (const reply of [ok({}), ok("fine"), { status: 404, body: "" }, { status: 500, body: "" }]) {
      assert.equal(healthOf(reply), undefined);
    }
  });
});
