import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../kube/client/resources.ts";
import { projectEndpointSlice, projectNode, projectService } from "./projections.ts";

const METADATA = { name: "web", namespace: "default", uid: "u", resourceVersion: "1" };

function object(fields: object): KubeObject {
  return { metadata: METADATA, ...fields };
}

for (const [field, fields] of Object.entries({
  "metadata.annotations": { metadata: { ...METADATA, annotations: [1] } },
  "metadata.labels": { metadata: { ...METADATA, labels: "a" } },
  "metadata.finalizers": { metadata: { ...METADATA, finalizers: "mine" } },
  spec: { spec: null },
  status: { spec: {}, status: 7 },
})) {
  test(`a Service or Node whose ${field} cannot be read is not one without`, () => {
    const wrong = { name: "MisshapenError", message: new RegExp(`^${field} must be`) };
    assert.throws(() => projectService(object(fields)), wrong);
    assert.throws(() => projectNode(object(fields)), wrong);
  });
}

test("lists that are none, or hold nothing, are refused by name", () => {
  assert.throws(() => projectService(object({ spec: { ports: "80" } })), /spec\.ports must be a list, not a string/);
  assert.throws(() => projectService(object({ spec: { ports: [null] } })), /spec\.ports must not hold null/);
  assert.throws(() => projectNode(object({ status: { addresses: 3 } })), /status\.addresses must be a list/);
  assert.throws(() => projectNode(object({ spec: { taints: {} } })), /spec\.taints must be a list/);
});

test("what is absent, and a list that is null, stays absent", () => {
  assert.deepEqual(projectNode(object({ status: { addresses: null } })).status, {});
  assert.deepEqual(projectService(object({})).spec, { type: "ClusterIP", ports: [] });
});

test("an EndpointSlice that cannot be read is not one without endpoints, nor one of another Service or family", () => {
  const slice = (fields: object): KubeObject => object({ addressType: "IPv4", endpoints: [], ...fields });
  for (const [wrong, fields] of [
    [/^metadata\.labels must be an object/, { metadata: { ...METADATA, labels: "labelled" } }],
    [/^addressType must be IPv4, IPv6 or FQDN, not "IPv5"/, { addressType: "IPv5" }],
    [/^endpoints must be a list/, { endpoints: "none" }],
    [/^endpoints\[\]\.conditions must be an object/, { endpoints: [{ conditions: 7 }] }],
    [/^endpoints\[\]\.nodeName must be a text, not a number/, { endpoints: [{ nodeName: 7 }] }],
  ] as const) {
    assert.throws(() => projectEndpointSlice(slice(fields)), { name: "MisshapenError", message: wrong });
  }
  assert.deepEqual(projectEndpointSlice(slice({ endpoints: null })).nodeNames, []);
});
