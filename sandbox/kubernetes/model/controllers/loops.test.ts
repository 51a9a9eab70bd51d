/** What runs beside the API server: garbage collection, namespaces, definitions, events. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { SimulatedCluster } from "../../testing/model-api.ts";
import type { KubeObject } from "../contract.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

function ownedBy(owner: KubeObject, more: object = {}): object {
  const { name, uid } = owner.metadata;
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, ...more };
}

function names(cluster: SimulatedCluster, url = MAPS): (string | undefined)[] {
  cluster.settle();
  return cluster.items(url).map((item) => item.metadata.name);
}

test("a dependent goes with its last owner, and its own dependents with it", () => {
  const cluster = new SimulatedCluster();
  const [first, second] = ["first", "second"].map((name) => cluster.create(MAPS, { metadata: { name } })) as [
    KubeObject,
    KubeObject,
  ];
  const ownerReferences = [ownedBy(first), ownedBy(second)];
  const child = cluster.create(MAPS, { metadata: { name: "child", ownerReferences } });
  cluster.create(MAPS, { metadata: { name: "grandchild", ownerReferences: [ownedBy(child)] } });
  cluster.delete(`${MAPS}/first`);
  assert.deepEqual(names(cluster), ["child", "grandchild", "second"]);
  cluster.delete(`${MAPS}/second`);
  assert.deepEqual(names(cluster), []);
});

test("an object whose owner never was, or is another one by now, is garbage", () => {
  const cluster = new SimulatedCluster();
  const old = cluster.create(MAPS, { metadata: { name: "owner" } });
  cluster.delete(`${MAPS}/owner`);
  cluster.create(MAPS, { metadata: { name: "owner" } });
  cluster.create(MAPS, { metadata: { name: "child", ownerReferences: [ownedBy(old)] } });
  assert.deepEqual(names(cluster), ["owner"]);
});

test("foreground deletion holds the owner until the dependents that block are gone", () => {
  const cluster = new SimulatedCluster();
  const owner = cluster.create(MAPS, { metadata: { name: "owner" } });
  const held = { finalizers: ["azlb.io/held"], ownerReferences: [ownedBy(owner, { blockOwnerDeletion: true })] };
  cluster.create(MAPS, { metadata: { name: "child", ...held } });
  cluster.delete(`${MAPS}/owner`, { propagationPolicy: "Foreground" });
  assert.deepEqual(names(cluster), ["child", "owner"]);
  assert.ok(cluster.get(`${MAPS}/child`).metadata.deletionTimestamp);
  cluster.mergePatch(`${MAPS}/child`, { metadata: { finalizers: null } });
  assert.deepEqual(names(cluster), []);
});

test("orphans stay, without a reference to what is gone", () => {
  const cluster = new SimulatedCluster();
  const owner = cluster.create(MAPS, { metadata: { name: "owner" } });
  cluster.create(MAPS, { metadata: { name: "child", ownerReferences: [ownedBy(owner)] } });
  cluster.delete(`${MAPS}/owner`, { propagationPolicy: "Orphan" });
  assert.deepEqual(names(cluster), ["child"]);
  assert.equal(cluster.get(`${MAPS}/child`).metadata.ownerReferences, undefined);
});

test("a namespace goes when it is empty, and what holds out holds it", () => {
  const cluster = new SimulatedCluster();
  cluster.create("/api/v1/namespaces", { metadata: { name: "n" } });
  const maps = "/api/v1/namespaces/n/configmaps";
  cluster.create(maps, { metadata: { name: "plain" } });
  cluster.create(maps, { metadata: { name: "held", finalizers: ["azlb.io/held"] } });
  cluster.delete("/api/v1/namespaces/n");
  assert.deepEqual(names(cluster, maps), ["held"]);
  assert.equal(cluster.refusal("POST", maps, { metadata: { name: "new" } }).code, 403);
  cluster.mergePatch(`${maps}/held`, { metadata: { finalizers: null } });
  cluster.settle();
  assert.equal(cluster.refusal("GET", "/api/v1/namespaces/n").code, 404);
  assert.equal(cluster.refusal("POST", maps, { metadata: { name: "new" } }).code, 404);
});

test("a definition goes after its objects", () => {
  const cluster = new SimulatedCluster();
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
  cluster.create(definitions, {
    metadata: { name: "things.example.com" },
    spec: { group: "example.com", scope: "Cluster", names: { plural: "things", kind: "Thing" }, versions: [version] },
  });
  const things = "/apis/example.com/v1/things";
  const kind = { apiVersion: "example.com/v1", kind: "Thing" };
  cluster.create(things, { ...kind, metadata: { name: "plain" } });
  cluster.create(things, { ...kind, metadata: { name: "held", finalizers: ["hold"] } });
  cluster.delete(`${definitions}/things.example.com`);
  assert.deepEqual(names(cluster, things), ["held"]);
  cluster.mergePatch(`${things}/held`, { metadata: { finalizers: null } });
  cluster.settle();
  assert.deepEqual(names(cluster, definitions), []);
  assert.equal(cluster.request("GET", things).kind, "answer");
  assert.equal((cluster.request("GET", things) as { status: number }).status, 404);
});

test("an event lives for an hour after it last happened", () => {
  const cluster = new SimulatedCluster();
  const events = "/api/v1/namespaces/default/events";
  const involvedObject = { kind: "Node", name: "n" };
  cluster.create(events, { metadata: { name: "once" }, involvedObject });
  cluster.create(events, { metadata: { name: "again" }, involvedObject });
  cluster.pass(45 * 60_000);
  const lastTimestamp = new Date(cluster.nowMs).toISOString().replace(/\.\d+/, "");
  cluster.mergePatch(`${events}/again`, { count: 2, lastTimestamp });
  cluster.pass(20 * 60_000);
  assert.deepEqual(names(cluster, events), ["again"]);
  cluster.pass(50 * 60_000);
  assert.deepEqual(names(cluster, events), []);
});
