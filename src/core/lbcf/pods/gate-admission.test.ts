import assert from "node:assert/strict";
import { test } from "node:test";

import { readBackendGroup } from "../groups/read-backend-group.ts";
import { admitted, gatePatch, readPodAdmission } from "./gate-admission.ts";

const GATE = { conditionType: "lbcf.tkestack.io/registered" };
const OTHER = { conditionType: "example.com/other" };

const groupOf = (pods: object, metadata: object = {}) =>
  readBackendGroup({ metadata: { name: "web", namespace: "shop", ...metadata }, spec: { pods } });
const BY_LABEL = groupOf({ byLabel: { selector: { app: "web" }, except: ["left-out"] } });
const BY_NAME = groupOf({ byName: ["web-0"] });
const STATIC = readBackendGroup({ metadata: { name: "fixed", namespace: "shop" }, spec: { static: ["10.0.0.1"] } });
const GONE = groupOf({ byLabel: { selector: { app: "web" } } }, { deletionTimestamp: "2026-01-01T00:00:00Z" });

const podOf = (metadata: object, spec: object = {}) => ({ metadata, spec });
const WEB = podOf({ generateName: "web-", labels: { app: "web" } });

test("a pod that a group selects gets the gate, beside those that it has", () => {
  const alone = [{ op: "add", path: "/spec/readinessGates", value: [GATE] }];
  assert.deepEqual(gatePatch(WEB, [STATIC, BY_LABEL]), alone);
  assert.deepEqual(gatePatch(podOf({ name: "web-0" }), [BY_NAME]), alone);
  assert.deepEqual(gatePatch(podOf(WEB.metadata, { readinessGates: [] }), [BY_LABEL]), alone);
  const beside = [{ op: "add", path: "/spec/readinessGates/-", value: GATE }];
  assert.deepEqual(gatePatch(podOf(WEB.metadata, { readinessGates: [OTHER] }), [BY_LABEL]), beside);
});

test("no other pod is changed", () => {
  assert.equal(gatePatch(WEB, []), undefined);
  assert.equal(gatePatch(WEB, [GONE, STATIC, BY_NAME]), undefined);
  assert.equal(gatePatch(podOf({ name: "left-out", labels: { app: "web" } }), [BY_LABEL]), undefined);
  assert.equal(gatePatch(podOf({}), [BY_LABEL, BY_NAME]), undefined);
  assert.equal(gatePatch(podOf(WEB.metadata, { readinessGates: [OTHER, GATE] }), [BY_LABEL]), undefined);
  assert.equal(gatePatch({}, [BY_LABEL]), undefined);
});

test("only reviews of new pods are read", () => {
  const request = { uid: "u", kind: { kind: "Pod" }, operation: "CREATE", namespace: "shop", object: WEB };
  assert.deepEqual(readPodAdmission({ request }), { uid: "u", namespace: "shop", pod: WEB });
  for (const wrong of [{ uid: "" }, { kind: { kind: "Node" } }, { operation: "UPDATE" }, { object: null }]) {
    assert.equal(readPodAdmission({ request: { ...request, ...wrong } }), undefined);
  }
  for (const wrong of [undefined, null, "x", 5, [], { request: 5 }]) assert.equal(readPodAdmission(wrong), undefined);
});

test("the answer admits the pod, with the patch as the API server wants it", () => {
  const response = { uid: "u", allowed: true };
  const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };
  assert.deepEqual(admitted("u", undefined, String), { ...review, response });
  const patched = { ...response, patchType: "JSONPatch", patch: "[1]" };
  assert.deepEqual(
    admitted("u", [{ op: "test" }], () => "[1]"),
    { ...review, response: patched },
  );
});
