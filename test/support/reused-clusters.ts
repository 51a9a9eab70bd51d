/**
 * Clusters that are emptied and used again: a real API server takes seconds of processor time to start, and some suites
 * want a fresh cluster for each of dozens of cases. Everything that those suites make is deleted: Services, endpoints,
 * Nodes, Pods, ConfigMaps, Leases, Events, namespaces. What the API server has made for itself stays.
 */
import assert from "node:assert/strict";
import { after } from "node:test";

import type { Cluster, ClusterOpener } from "./cluster.ts";

/** In this order: what is deleted later may be needed to let go of what goes first. */
const COLLECTIONS = [
  "/api/v1/services",
  "/apis/discovery.k8s.io/v1/endpointslices",
  "/api/v1/endpoints",
  "/api/v1/pods",
  "/api/v1/nodes",
  "/api/v1/configmaps",
  "/apis/coordination.k8s.io/v1/leases",
  "/api/v1/events",
  "/api/v1/namespaces",
];
/** Of the API server itself: its Service with what follows from it, its identity, its namespaces, its trust. */
const ITS_OWN =
  /^(\w+ default\/kubernetes|\w+ kube-system\/(apiserver-.*|extension-apiserver-authentication)|namespaces \/(default|kube-.*))$/;

interface Listed {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly finalizers?: readonly string[] };
}

/** To be called at the top of a test file; the clusters are closed after its last test. */
export function reusedClusters(open: ClusterOpener): ClusterOpener {
  const free: Cluster[] = [];
  after(async () => {
    await Promise.all(free.map((cluster) => cluster.close()));
  });
  return async () => {
    const cluster = free.pop() ?? (await open());
    const close = async (): Promise<void> => {
      await empty(cluster);
      free.push(cluster);
    };
    return { ...cluster, close };
  };
}

async function empty(cluster: Cluster): Promise<void> {
  for (const collection of COLLECTIONS) {
    const { body } = await cluster.request("GET", collection);
    for (const object of (body as unknown as { items: readonly Listed[] }).items)
      await remove(cluster, collection, object);
  }
}

async function remove(cluster: Cluster, collection: string, { metadata }: Listed): Promise<void> {
  const { namespace, name, finalizers = [] } = metadata;
  const plural = collection.split("/").at(-1) ?? "";
  if (ITS_OWN.test(`${plural} ${namespace ?? ""}/${name}`)) return;
  const folder = namespace === undefined ? collection : collection.replace(plural, `namespaces/${namespace}/${plural}`);
  const path = `${folder}/${name}`;
  if (finalizers.length > 0) await expectGone(cluster.request("PATCH", path, MERGE_NO_FINALIZERS));
  await expectGone(cluster.request("DELETE", path, { body: { gracePeriodSeconds: 0 } }));
  // no controller empties a namespace here: it is empty already
  if (plural === "namespaces")
    await expectGone(
      cluster.request("PUT", `${path}/finalize`, { body: { metadata: { name }, spec: { finalizers: [] } } }),
    );
}

const MERGE_NO_FINALIZERS = {
  body: { metadata: { finalizers: null } },
  headers: { "content-type": "application/merge-patch+json" },
};

async function expectGone(reply: ReturnType<Cluster["request"]>): Promise<void> {
  const { code, text } = await reply;
  assert.ok(code < 300 || code === 404, `${code} ${text}`);
}
