import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { BackendState } from "./backend-state.ts";
import { DELETED, record, registered } from "../../../../test/support/lbcf-objects.ts";
import {
  addressKey,
  reconcileBackendRecord,
  type RecordDecision,
  type ObservedRecord,
} from "./reconcile-backend-record.ts";

const PRESENT: BackendState = { kind: "present", source: "10.0.0.1" };
const NOW_MS = 1_000_000;

function decide(observed: Partial<ObservedRecord>): RecordDecision {
  return reconcileBackendRecord({
    record: record(),
    backend: PRESENT,
    driver: { kind: "found", canDrain: true },
    others: [],
    isForgotten: false,
    sinceEnsuredMs: undefined,
    nowMs: NOW_MS,
    ...observed,
  });
}

function stepOf(observed: Partial<ObservedRecord>): unknown {
  const decision = decide(observed);
  return decision.kind === "step" ? decision.step.kind : decision.kind === "wait" ? decision.reason : decision.kind;
}

const dying = { deletionTimestamp: DELETED };
const at = registered("10.0.0.1");
const addressed = { backendAddr: "10.0.0.1", generatedFrom: "10.0.0.1" };
const failing = { ...at, conditions: [{ type: "Registered", status: "False", reason: "OperationFailed" } as const] };
const other = record(at, { name: "other", uid: "uid-other" });
const always = { ensurePolicy: { policy: "Always", periodMs: 60_000 } } as const;

const TABLE: readonly (readonly [string, Partial<ObservedRecord>, string])[] = [
  ["one without the finalizer gets it first", { record: record({}, { finalizers: [] }) }, "addFinalizer"],
  [
    "one with an address whose finalizer a user removed is left alone",
    { record: record(at, { finalizers: [] }) },
    "settled",
  ],
  [
    "... and is not deregistered when it is deleted",
    { record: record(at, { ...dying, finalizers: ["example.com/other"] }) },
    "settled",
  ],
  ["one without an address asks for it", {}, "generateAddress"],
  ["... but not while its pod is not ready", { backend: { kind: "unready", source: "10.0.0.1" } }, "BackendNotReady"],
  ["... nor when it is gone: its group deletes it", { backend: { kind: "gone" } }, "BackendNotReady"],
  ["one with an address is registered", { record: record(addressed) }, "ensure"],
  [
    "... but not if its pod has ended meanwhile",
    { record: record(addressed), backend: { kind: "gone" } },
    "BackendNotReady",
  ],
  ["one that is registered is left alone", { record: record(at) }, "settled"],
  [
    "one that an earlier LBCF registered is left alone",
    { record: record({ backendAddr: "a", conditions: at.conditions }) },
    "settled",
  ],
  ["one whose spec changed is ensured again", { record: record(at, { generation: 2 }) }, "ensure"],
  ["one that failed later is ensured again", { record: record(failing) }, "ensure"],
  ["one with Always is ensured when the last time is unknown", { record: record(at, {}, always) }, "ensure"],
  ["... and when its period is over", { record: record(at, {}, always), sinceEnsuredMs: 60_000 }, "ensure"],
  ["... and not before", { record: record(at, {}, always), sinceEnsuredMs: 59_999 }, "settled"],
  ["one whose pod has another address leaves the old one", { record: record(registered("old")) }, "deregister"],
  [
    "... even while the pod is not ready",
    { record: record(registered("old")), backend: { kind: "unready", source: "10.0.0.1" } },
    "deregister",
  ],
  [
    "... without a call where another record is registered there",
    { record: record(registered("old")), others: [record(registered("old"), { uid: "x" })] },
    "forgetAddress",
  ],
  [
    "one that waits lets the one before it leave first",
    { record: record(addressed), others: [record(at, { ...dying, uid: "x" })] },
    "DelayedEnsureBackend",
  ],
  [
    "... but not for one that only a finalizer of another client holds",
    { record: record(addressed), others: [record(at, { ...dying, uid: "x", finalizers: ["example.com/other"] })] },
    "ensure",
  ],
  [
    "a registered one does not wait for it",
    { record: record(at), others: [record(at, { ...dying, uid: "x" })] },
    "settled",
  ],
  ["without its driver nothing happens", { record: record(at), driver: { kind: "missing" } }, "DriverNotFound"],
  ["a dying one that never had an address goes", { record: record({}, dying) }, "removeFinalizer"],
  ["a dying one is deregistered", { record: record(at, dying), backend: { kind: "gone" } }, "deregister"],
  ["... although it never heard that it was registered", { record: record(addressed, dying) }, "deregister"],
  [
    "... and drained while its pod ends",
    { record: record(at, dying), backend: { kind: "ending", untilMs: NOW_MS + 1 } },
    "drain",
  ],
  ["... not for longer", { record: record(at, dying), backend: { kind: "ending", untilMs: NOW_MS } }, "deregister"],
  [
    "... nor by a driver that cannot",
    {
      record: record(at, dying),
      backend: { kind: "ending", untilMs: NOW_MS + 1 },
      driver: { kind: "found", canDrain: false },
    },
    "deregister",
  ],
  [
    "a dying one whose address another has registered just goes",
    { record: record(at, dying), others: [other] },
    "removeFinalizer",
  ],
  [
    "... also where that one failed since",
    { record: record(at, dying), others: [record(failing, { uid: "x" })] },
    "removeFinalizer",
  ],
  [
    "... not where that one only means to",
    { record: record(at, dying), others: [record(addressed, { uid: "x" })] },
    "deregister",
  ],
  [
    "... nor where that one is dying too",
    { record: record(at, dying), others: [record(at, { ...dying, uid: "x" })] },
    "deregister",
  ],
  [
    "a dying one without its driver waits",
    { record: record(at, dying), driver: { kind: "missing" } },
    "DriverNotFound",
  ],
  [
    "... unless it is let go",
    { record: record(at, { ...dying, annotations: { "lbcf.tkestack.io/forget": "true" } }) },
    "removeFinalizer",
  ],
  ["... or its load balancer is", { record: record(at, dying), isForgotten: true }, "removeFinalizer"],
  ["letting go means nothing while it lives", { record: record(at), isForgotten: true }, "settled"],
  [
    "one that is gone but for others' finalizers is theirs",
    { record: record(at, { ...dying, finalizers: ["x/y"] }) },
    "settled",
  ],
];

describe("reconcileBackendRecord", () => {
  for (const [what, observed, step] of TABLE) test(what, () => assert.equal(stepOf(observed), step));
});

test("records share an address by driver, load balancer and address, whatever the order of lbInfo", () => {
  const one = record(at, {}, { lbInfo: { a: "1", b: "2" } });
  assert.equal(addressKey(one), addressKey(record(at, { uid: "x" }, { lbInfo: { b: "2", a: "1" } })));
  assert.notEqual(addressKey(one), addressKey(record(at, {}, { lbInfo: { a: "1" } })));
  assert.notEqual(addressKey(one), addressKey(record(at, { namespace: "other" }, { lbInfo: { a: "1", b: "2" } })));
  assert.equal(addressKey(record()), undefined);
});

test("for lbcf-azure the pool and the address count, however they are written", () => {
  const azure = (lbInfo: Record<string, string>, backendAddr: string) =>
    addressKey(record({ backendAddr }, { namespace: backendAddr }, { lbDriver: "lbcf-azure", lbInfo }));
  assert.equal(azure({ pool: "/P", loadBalancer: "/l" }, "fd00::1"), azure({ pool: "/p", more: "x" }, "FD00:0::1"));
  assert.notEqual(azure({ pool: "/p" }, "10.0.0.1"), azure({ pool: "/q" }, "10.0.0.1"));
});

test("a driver of kube-system is the same in every namespace", () => {
  const spec = { lbDriver: "lbcf-wide" };
  assert.equal(addressKey(record(at, {}, spec)), addressKey(record(at, { namespace: "other" }, spec)));
});
