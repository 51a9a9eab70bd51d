/** Deployments, ReplicaSets and DaemonSets that make pods, and the budgets that hold evictions back. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { SimulatedCluster } from "../../../testing/model-api.ts";
import type { JsonObject, KubeObject } from "../../contract.ts";
import { part } from "../../resource.ts";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const REPLICA_SETS = "/apis/apps/v1/namespaces/default/replicasets";
const DAEMON_SETS = "/apis/apps/v1/namespaces/default/daemonsets";
const BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const PODS = "/api/v1/namespaces/default/pods";
const MINUTE_MS = 60_000;

function simulated(nodes: number): SimulatedCluster {
  const cluster = new SimulatedCluster({ simulate: true });
  cluster.create("/api/v1/namespaces", { metadata: { name: "kube-node-lease" } });
  for (let index = 0; index < nodes; index++) {
    cluster.create("/api/v1/nodes", {
      metadata: { name: `node-${index}`, labels: { disk: index === 0 ? "ssd" : "hdd" } },
    });
  }
  cluster.settle();
  return cluster;
}

function workload(name: string, spec: JsonObject = {}, podSpec: JsonObject = {}): JsonObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "web:1" }], ...podSpec } };
  return { metadata: { name }, spec: { selector: { matchLabels: labels }, template, ...spec } };
}

const image = (text: string): JsonObject => ({
  spec: { template: { spec: { containers: [{ name: "c", image: text }] } } },
});

const statusOf = (object: KubeObject): JsonObject => part(object, "status");

const conditionOf = (object: KubeObject, type: string): JsonObject =>
  ((statusOf(object)["conditions"] ?? []) as JsonObject[]).find((condition) => condition["type"] === type) ?? {};

const isReady = (pod: KubeObject): boolean => conditionOf(pod, "Ready")["status"] === "True";

const imagesOf = (pods: readonly KubeObject[]): string[] =>
  pods.map((pod) => String((part(pod, "spec")["containers"] as JsonObject[])[0]?.["image"])).toSorted();

function readyPods(cluster: SimulatedCluster): KubeObject[] {
  return cluster.items(PODS).filter((pod) => pod.metadata.deletionTimestamp === undefined && isReady(pod));
}

test("a Deployment has its pods, counts them and says so", () => {
  const cluster = simulated(2);
  cluster.create(DEPLOYMENTS, workload("web", { replicas: 3 }));
  cluster.settle();
  const deployment = cluster.get(`${DEPLOYMENTS}/web`);
  const { conditions: _conditions, ...counts } = statusOf(deployment);
  assert.deepEqual(counts, {
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
  });
  assert.equal(conditionOf(deployment, "Available")["status"], "True");
  assert.equal(conditionOf(deployment, "Progressing")["reason"], "NewReplicaSetAvailable");
  assert.equal(deployment.metadata.annotations?.["deployment.kubernetes.io/revision"], "1");
  assert.equal(readyPods(cluster).length, 3);
});

test("a new image rolls out between its bounds, and the way back is the old ReplicaSet with a new revision", () => {
  const cluster = simulated(3);
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 1 };
  cluster.create(DEPLOYMENTS, workload("web", { replicas: 4, strategy: { type: "RollingUpdate", rollingUpdate } }));
  cluster.settle();
  const seen: number[] = [];
  cluster.api.subscribe(({ collection }) => void (collection === "pods" && seen.push(readyPods(cluster).length)));
  cluster.mergePatch(`${DEPLOYMENTS}/web`, image("web:2"));
  cluster.pass(MINUTE_MS);
  assert.deepEqual(imagesOf(cluster.items(PODS)), ["web:2", "web:2", "web:2", "web:2"]);
  assert.ok(Math.min(...seen) >= 3 && Math.max(...seen) <= 5, `between 3 and 5 pods were ready: ${seen.join(" ")}`);
  cluster.mergePatch(`${DEPLOYMENTS}/web`, image("web:1"));
  cluster.pass(MINUTE_MS);
  const revisions = cluster
    .items(REPLICA_SETS)
    .map((set) => [
      imagesOf([{ ...set, spec: (part(set, "spec")["template"] as JsonObject)["spec"] }])[0],
      set.metadata.annotations?.["deployment.kubernetes.io/revision"],
      part(set, "spec")["replicas"],
    ]);
  assert.deepEqual(
    revisions.toSorted(([left], [right]) => (String(left) < String(right) ? -1 : 1)),
    [
      ["web:1", "3", 4],
      ["web:2", "2", 0],
    ],
  );
});

test("Recreate ends all pods before the first new one", () => {
  const cluster = simulated(1);
  cluster.create(DEPLOYMENTS, workload("web", { replicas: 2, strategy: { type: "Recreate" } }));
  cluster.settle();
  const mixed: string[][] = [];
  cluster.api.subscribe(() => void mixed.push([...new Set(imagesOf(cluster.items(PODS)))]));
  cluster.mergePatch(`${DEPLOYMENTS}/web`, image("web:2"));
  cluster.pass(MINUTE_MS);
  assert.deepEqual(imagesOf(cluster.items(PODS)), ["web:2", "web:2"]);
  assert.ok(mixed.every((images) => images.length < 2));
});

test("a rollout whose pods never get ready stops, and its deadline passes", () => {
  const cluster = simulated(2);
  cluster.create(DEPLOYMENTS, workload("web", { replicas: 4, progressDeadlineSeconds: 60 }));
  cluster.settle();
  const gated = { readinessGates: [{ conditionType: "example.com/never" }] };
  cluster.mergePatch(`${DEPLOYMENTS}/web`, { spec: { template: { spec: gated } } });
  cluster.pass(5 * MINUTE_MS);
  const deployment = cluster.get(`${DEPLOYMENTS}/web`);
  assert.equal(conditionOf(deployment, "Progressing")["reason"], "ProgressDeadlineExceeded");
  assert.equal(readyPods(cluster).length, 3, "a quarter of four may be missing");
  assert.equal(conditionOf(deployment, "Available")["status"], "True");
});

test("scaling changes the number of pods alone; a deleted Deployment takes all with it", () => {
  const cluster = simulated(1);
  cluster.create(DEPLOYMENTS, workload("web", { replicas: 1 }));
  cluster.settle();
  const scale = cluster.get(`${DEPLOYMENTS}/web/scale`);
  assert.deepEqual([scale.kind, statusOf(scale)], ["Scale", { replicas: 1, selector: "app=web" }]);
  cluster.put(`${DEPLOYMENTS}/web/scale`, { ...scale, spec: { replicas: 5 } });
  cluster.pass(MINUTE_MS);
  assert.deepEqual([cluster.items(PODS).length, cluster.items(REPLICA_SETS).length], [5, 1]);
  cluster.mergePatch(`${DEPLOYMENTS}/web/scale`, { spec: { replicas: 2 } });
  cluster.pass(MINUTE_MS);
  assert.equal(cluster.items(PODS).length, 2);
  cluster.delete(`${DEPLOYMENTS}/web`);
  cluster.pass(MINUTE_MS);
  assert.deepEqual([cluster.items(PODS).length, cluster.items(REPLICA_SETS).length], [0, 0]);
});

test("a pod that is deleted is replaced, and one that turns unready is missed", () => {
  const cluster = simulated(1);
  cluster.create(DEPLOYMENTS, workload("web", { replicas: 2 }));
  cluster.settle();
  const [first, second] = cluster.items(PODS).map((pod) => pod.metadata.name ?? "");
  cluster.delete(`${PODS}/${first}`);
  cluster.pass(MINUTE_MS);
  assert.equal(readyPods(cluster).length, 2);
  const conditions = [
    { type: "Ready", status: "False" },
    { type: "ContainersReady", status: "False" },
  ];
  cluster.send(
    "PATCH",
    `${PODS}/${second}/status`,
    { status: { conditions } },
    "application/strategic-merge-patch+json",
  );
  cluster.settle();
  assert.deepEqual(statusOf(cluster.get(`${DEPLOYMENTS}/web`))["unavailableReplicas"], 1);
});

test("revisionHistoryLimit bounds the ReplicaSets that are kept", () => {
  const cluster = simulated(1);
  cluster.create(DEPLOYMENTS, workload("web", { revisionHistoryLimit: 2 }));
  for (const tag of [2, 3, 4, 5]) {
    cluster.pass(MINUTE_MS);
    cluster.mergePatch(`${DEPLOYMENTS}/web`, image(`web:${tag}`));
  }
  cluster.pass(MINUTE_MS);
  assert.equal(cluster.items(REPLICA_SETS).length, 3);
});

test("a DaemonSet has a pod on each node that fits, also on those that come later", () => {
  const cluster = simulated(2);
  cluster.create(DAEMON_SETS, workload("agent", {}, { nodeSelector: { disk: "hdd" } }));
  cluster.create(DAEMON_SETS, workload("everywhere"));
  cluster.create("/api/v1/nodes", { metadata: { name: "node-2", labels: { disk: "hdd" } } });
  cluster.mergePatch("/api/v1/nodes/node-1", { spec: { taints: [{ key: "own", effect: "NoSchedule" }] } });
  cluster.pass(MINUTE_MS);
  const nodes = (app: string): string[] =>
    cluster
      .items(`${PODS}?labelSelector=app%3D${app}`)
      .map((pod) => String(part(pod, "spec")["nodeName"]))
      .toSorted();
  assert.deepEqual(nodes("agent"), ["node-2"]);
  assert.deepEqual(nodes("everywhere"), ["node-0", "node-2"]);
  const { numberReady, desiredNumberScheduled } = statusOf(cluster.get(`${DAEMON_SETS}/everywhere`));
  assert.deepEqual([numberReady, desiredNumberScheduled], [2, 2]);
});

test("a DaemonSet replaces its pods one node at a time", () => {
  const cluster = simulated(3);
  cluster.create(DAEMON_SETS, workload("agent"));
  cluster.settle();
  const seen: number[] = [];
  cluster.api.subscribe(({ collection }) => void (collection === "pods" && seen.push(readyPods(cluster).length)));
  cluster.mergePatch(`${DAEMON_SETS}/agent`, image("web:2"));
  cluster.pass(MINUTE_MS);
  assert.deepEqual(imagesOf(cluster.items(PODS)), ["web:2", "web:2", "web:2"]);
  assert.equal(Math.min(...seen), 2);
  assert.equal(statusOf(cluster.get(`${DAEMON_SETS}/agent`))["updatedNumberScheduled"], 3);
});

test("pods are placed only where they fit and are tolerated", () => {
  const cluster = simulated(2);
  cluster.mergePatch("/api/v1/nodes/node-1", { spec: { taints: [{ key: "own", effect: "NoSchedule" }] } });
  cluster.create(DEPLOYMENTS, workload("plain", { replicas: 2 }));
  cluster.create(
    DEPLOYMENTS,
    workload("own", {}, { nodeSelector: { disk: "hdd" }, tolerations: [{ operator: "Exists" }] }),
  );
  cluster.create(DEPLOYMENTS, workload("nowhere", {}, { nodeSelector: { disk: "tape" } }));
  cluster.pass(MINUTE_MS);
  const nodes = (app: string): unknown[] =>
    cluster.items(`${PODS}?labelSelector=app%3D${app}`).map((pod) => part(pod, "spec")["nodeName"]);
  assert.deepEqual([nodes("plain"), nodes("own"), nodes("nowhere")], [["node-0", "node-0"], ["node-1"], [undefined]]);
});

test("a budget lets as many pods be evicted as it allows, and no more until they are back", () => {
  const cluster = simulated(1);
  cluster.create(DEPLOYMENTS, workload("web", { replicas: 2 }));
  cluster.create(BUDGETS, {
    metadata: { name: "web" },
    spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
  });
  cluster.settle();
  assert.equal(statusOf(cluster.get(`${BUDGETS}/web`))["disruptionsAllowed"], 1);
  const [first, second] = cluster.items(PODS).map((pod) => pod.metadata.name ?? "");
  const eviction = { apiVersion: "policy/v1", kind: "Eviction" };
  cluster.create(`${PODS}/${first}/eviction`, { ...eviction, metadata: { name: first } });
  const refusal = cluster.refusal("POST", `${PODS}/${second}/eviction`, { ...eviction, metadata: { name: second } });
  assert.deepEqual([refusal.code, refusal["reason"]], [429, "TooManyRequests"]);
  cluster.pass(MINUTE_MS);
  cluster.create(`${PODS}/${second}/eviction`, { ...eviction, metadata: { name: second } });
});
