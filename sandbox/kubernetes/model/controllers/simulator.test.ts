/** Nodes and pods that come alive, and the EndpointSlices that follow them. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { SimulatedCluster } from "../../testing/model-api.ts";
import type { JsonObject, KubeObject } from "../contract.ts";
import { part } from "../resource.ts";

const PODS = "/api/v1/namespaces/default/pods";
const SERVICES = "/api/v1/namespaces/default/services";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

function simulated(nodes: number, dualStack = false): SimulatedCluster {
  const cluster = new SimulatedCluster({ simulate: true, dualStack });
  cluster.create("/api/v1/namespaces", { metadata: { name: "kube-node-lease" } });
  for (let index = 0; index < nodes; index++) {
    const addresses = [{ type: "InternalIP", address: `10.240.0.${index + 4}` }];
    cluster.create("/api/v1/nodes", { metadata: { name: `node-${index}` }, status: { addresses } });
  }
  cluster.settle();
  return cluster;
}

function pod(name: string, labels: object = { app: "web" }): object {
  const ports = [{ name: "http", containerPort: 8080 }];
  return { metadata: { name, labels }, spec: { containers: [{ name: "c", image: "i", ports }] } };
}

const readiness = (node: KubeObject): unknown =>
  (part(node, "status")["conditions"] as JsonObject[]).find((condition) => condition["type"] === "Ready")?.["status"];

const addresses = (cluster: SimulatedCluster): unknown[] =>
  cluster
    .items(SLICES)
    .flatMap((slice) =>
      ((slice["endpoints"] ?? []) as JsonObject[])
        .filter((endpoint) => (endpoint["conditions"] as JsonObject)["ready"] === true)
        .flatMap((endpoint) => endpoint["addresses"]),
    );

test("a new node becomes Ready, loses its taint and keeps its lease fresh", () => {
  const cluster = simulated(1);
  const node = cluster.get("/api/v1/nodes/node-0");
  assert.equal(readiness(node), "True");
  assert.equal(part(node, "spec")["taints"], undefined);
  const renewed = (): unknown =>
    part(cluster.get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-0"), "spec")["renewTime"];
  const before = renewed();
  cluster.pass(60_000);
  assert.notEqual(renewed(), before);
});

test("a node that a test made NotReady stays so, tainted, and its lease goes stale", () => {
  const cluster = simulated(1);
  const status = { status: { conditions: [{ type: "Ready", status: "False" }] } };
  cluster.send("PATCH", "/api/v1/nodes/node-0/status", status, "application/strategic-merge-patch+json");
  cluster.pass(1);
  const lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-0";
  const before = cluster.get(lease).metadata.resourceVersion;
  cluster.pass(600_000);
  const node = cluster.get("/api/v1/nodes/node-0");
  assert.equal(readiness(node), "False");
  assert.deepEqual(part(node, "spec")["taints"], [
    { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
    { key: "node.kubernetes.io/not-ready", effect: "NoExecute" },
  ]);
  assert.equal(cluster.get(lease).metadata.resourceVersion, before);
});

test("pods spread over the schedulable nodes, run, and have addresses of their own", () => {
  const cluster = simulated(3);
  cluster.mergePatch("/api/v1/nodes/node-1", { spec: { unschedulable: true } });
  for (const name of ["a", "b", "c", "d"]) cluster.create(PODS, pod(name));
  cluster.settle();
  const pods = cluster.items(PODS);
  assert.deepEqual(
    pods.map((item) => part(item, "spec")["nodeName"]),
    ["node-0", "node-2", "node-0", "node-2"],
  );
  assert.equal(new Set(pods.map((item) => part(item, "status")["podIP"])).size, 4);
  assert.ok(pods.every((item) => part(item, "status")["phase"] === "Running"));
});

test("a pod waits for a node, and a deleted one is gone a second later", () => {
  const cluster = simulated(0);
  cluster.create(PODS, pod("a"));
  cluster.settle();
  assert.equal(part(cluster.get(`${PODS}/a`), "spec")["nodeName"], undefined);
  cluster.create("/api/v1/nodes", { metadata: { name: "late" } });
  cluster.settle();
  assert.equal(part(cluster.get(`${PODS}/a`), "status")["phase"], "Running");
  cluster.delete(`${PODS}/a`);
  cluster.pass(500);
  assert.ok(cluster.get(`${PODS}/a`).metadata.deletionTimestamp);
  cluster.pass(600);
  assert.deepEqual(cluster.items(PODS), []);
});

const gated = (name: string, ...gates: string[]): object => {
  const { spec, ...rest } = pod(name) as { spec: object };
  return { ...rest, spec: { ...spec, readinessGates: gates.map((conditionType) => ({ conditionType })) } };
};

test("a pod is Ready once other controllers have met its readiness gates, and no longer", () => {
  const cluster = simulated(1);
  const condition = (type: string): JsonObject | undefined =>
    (part(cluster.get(`${PODS}/a`), "status")["conditions"] as JsonObject[]).find((item) => item["type"] === type);
  const set = (type: string, status: string): void => {
    const patch = { status: { conditions: [{ type, status }] } };
    cluster.send("PATCH", `${PODS}/a/status`, patch, "application/strategic-merge-patch+json");
    cluster.settle();
  };
  cluster.create(PODS, gated("a", "example.com/one", "example.com/two"));
  cluster.settle();
  assert.equal(part(cluster.get(`${PODS}/a`), "status")["phase"], "Running");
  assert.equal(condition("ContainersReady")?.["status"], "True");
  assert.equal(condition("Ready")?.["status"], "False");
  assert.equal(condition("Ready")?.["reason"], "ReadinessGatesNotReady");
  set("example.com/one", "True");
  assert.equal(condition("Ready")?.["status"], "False");
  set("example.com/two", "False");
  assert.equal(
    condition("Ready")?.["message"],
    'the status of pod readiness gate "example.com/two" is not "True", but False',
  );
  set("example.com/two", "True");
  assert.equal(condition("Ready")?.["status"], "True");
  assert.equal(condition("Ready")?.["reason"], undefined);
  set("example.com/one", "False");
  assert.equal(condition("Ready")?.["status"], "False");
  set("example.com/one", "True");
  set("Ready", "False");
  cluster.pass(60_000);
  assert.equal(condition("Ready")?.["status"], "False", "what a test patched stays");
});

test("a gate that was met before the pod ran stays met", () => {
  const cluster = simulated(0);
  cluster.create(PODS, gated("a", "example.com/one"));
  const patch = { status: { conditions: [{ type: "example.com/one", status: "True" }] } };
  cluster.send("PATCH", `${PODS}/a/status`, patch, "application/strategic-merge-patch+json");
  cluster.create("/api/v1/nodes", { metadata: { name: "late" } });
  cluster.settle();
  assert.equal(readiness(cluster.get(`${PODS}/a`)), "True");
});

test("a Service's slices hold the ready pods that it selects, by the port's name, and go with it", () => {
  const cluster = simulated(1);
  const spec = { selector: { app: "web" }, ports: [{ name: "web", port: 80, targetPort: "http" }] };
  cluster.create(SERVICES, { metadata: { name: "web" }, spec });
  cluster.settle();
  assert.deepEqual(addresses(cluster), []);
  for (const name of ["a", "b"]) cluster.create(PODS, pod(name));
  cluster.create(PODS, pod("other", { app: "other" }));
  cluster.settle();
  const [slice] = cluster.items(SLICES);
  assert.deepEqual(slice?.["ports"], [{ name: "web", protocol: "TCP", port: 8080 }]);
  assert.equal(addresses(cluster).length, 2);
  const notReady = { status: { conditions: [{ type: "Ready", status: "False" }] } };
  cluster.send("PATCH", `${PODS}/a/status`, notReady, "application/strategic-merge-patch+json");
  cluster.settle();
  assert.equal(addresses(cluster).length, 1);
  cluster.delete(`${PODS}/b`);
  cluster.pass(2_000);
  assert.deepEqual(addresses(cluster), []);
  cluster.delete(`${SERVICES}/web`);
  cluster.settle();
  assert.deepEqual(cluster.items(SLICES), []);
});

test("two families have a slice each", () => {
  const cluster = simulated(1, true);
  const spec = { selector: { app: "web" }, ports: [{ port: 80 }], ipFamilyPolicy: "RequireDualStack" };
  cluster.create(SERVICES, { metadata: { name: "web" }, spec });
  cluster.create(PODS, pod("a"));
  cluster.settle();
  assert.deepEqual(new Set(cluster.items(SLICES).map((slice) => slice["addressType"])), new Set(["IPv4", "IPv6"]));
  assert.equal(addresses(cluster).length, 2);
});
