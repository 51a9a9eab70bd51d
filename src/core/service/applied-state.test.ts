import assert from "node:assert/strict";
import { test } from "node:test";
import { aPort, aService, CONFIG, type ServiceShape } from "../../../test/support/core-fixtures.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { isApplied, specFingerprint } from "./applied-state.ts";

const fingerprint = (shape: ServiceShape): string => specFingerprint(aService(shape));
const plain = fingerprint({});

const changes: readonly (readonly [string, ServiceShape])[] = [
  ["another UID", { uid: "x" }],
  ["another port", { spec: { ports: [aPort(81)] } }],
  ["another node port", { spec: { ports: [aPort(80, { nodePort: 31_000 })] } }],
  ["another name of a port", { spec: { ports: [aPort(80, { name: "x" })] } }],
  ["another target", { spec: { ports: [aPort(80, { targetPort: "x" })] } }],
  ["another type", { spec: { type: "ClusterIP" } }],
  ["source ranges", { spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } }],
  ["an address", { spec: { loadBalancerIP: "20.0.0.1" } }],
  ["the policy", { spec: { externalTrafficPolicy: "Local" } }],
  ["the health check", { spec: { healthCheckNodePort: 31_000 } }],
  ["affinity", { spec: { sessionAffinity: "ClientIP" } }],
  ["families", { spec: { ipFamilies: ["IPv4", "IPv6"] } }],
  ["any annotation", { annotations: { "example.com/x": "y" } }],
  ["the drift policy", { annotations: { "azlb.io/drift-policy": "enforce" } }],
];
for (const [what, shape] of changes) {
  test(`${what} is a change`, () => assert.notEqual(fingerprint(shape), plain));
}

const none: readonly (readonly [string, ServiceShape])[] = [
  ["status", { ingress: ["20.0.0.1"] }],
  ["what kubectl notes", { annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}" } }],
  ["what we note ourselves", { annotations: { "azlb.io/applied": "x", "azlb.io/class": "y" } }],
  ["whether node ports are allocated", { spec: { allocateLoadBalancerNodePorts: false } }],
  [
    "defaults written out",
    { spec: { ipFamilies: ["IPv4"], sessionAffinity: "None", externalTrafficPolicy: "Cluster" } },
  ],
];
for (const [what, shape] of none) {
  test(`${what} is none`, () => assert.equal(fingerprint(shape), plain));
}

test("the order of annotations does not matter, that of ports does", () => {
  const reversed = { annotations: { "x/b": "2", "x/a": "1" } };
  assert.equal(fingerprint({ annotations: { "x/a": "1", "x/b": "2" } }), fingerprint(reversed));
  const [one, two] = [aPort(80), aPort(443)];
  assert.notEqual(fingerprint({ spec: { ports: [one, two] } }), fingerprint({ spec: { ports: [two, one] } }));
});

/** Of version 0.1, with the config of the fixtures. If it must change, every Service counts as changed after an upgrade. */
const APPLIED_BY_0_1 = "0b171c721f3b3ab3e03315cfe6f3906c";
const applied = aService({ annotations: { "azlb.io/applied": APPLIED_BY_0_1 } });

const sameConfigs: readonly (readonly [string, Partial<ClusterConfig>])[] = [
  ["as it was", {}],
  ["read from another file", { source: "/etc/kubernetes/azure.json" }],
  ["with other limits", { loadBalancerLimits: { ...CONFIG.loadBalancerLimits, rules: 5_000 } }],
  ["with other taints that drain", { adminStateTaints: ["example.com/drain"] }],
];
for (const [what, change] of sameConfigs) {
  test(`a Service stays applied under a config ${what}`, () => {
    assert.equal(isApplied(applied, { ...CONFIG, ...change }), true);
  });
}

test("nor does a key of the config that a version adds mark Services as changed, unless it is set", () => {
  const { fleetMax: _, addressSharing: __, ...older } = CONFIG;
  assert.equal(isApplied(applied, older as ClusterConfig), true);
  assert.equal(isApplied(applied, { ...CONFIG, fleetMax: 3 }), false);
  assert.equal(isApplied(applied, { ...CONFIG, resourceGroup: "other" }), false);
});
