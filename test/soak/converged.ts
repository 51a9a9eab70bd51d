/** Whether everything is as it should be: what is still wrong, as text; nothing once all is right. */
import assert from "node:assert/strict";

import { SILENT_LOG } from "../../src/core/util/log.ts";
import { BACKEND_RECORDS } from "../../src/controller/lbcf/objects/resources.ts";
import { projectNode } from "../../src/controller/projections.ts";
import { desiredAdminState } from "../../src/core/admin-state/reconcile-admin-state.ts";
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { NODES, PODS, SERVICES, type KubeObject } from "../../src/kube/client/resources.ts";
import { withClusterView } from "../../src/main/cluster-view.ts";
import { makePlan } from "../../src/main/make-plan.ts";
import type { AzureResource } from "../crash/crash-bed.ts";
import { eventually } from "../support/eventually.ts";
import type { FaultControl } from "../support/fault-control.ts";
import { POD_LOAD_BALANCER } from "./load.ts";
import { assertSettled } from "../support/settled-plan.ts";
import { errorText } from "../../src/core/util/text.ts";

export interface Cluster {
  readonly kubeconfig: string;
  readonly cloudConfig: string;
  readonly client: KubeClient;
  readonly azure: FaultControl;
}

export interface Standing {
  readonly services: number;
  readonly nodes: number;
  readonly doomed: number;
  readonly pods: number;
}

interface PoolEntry {
  readonly name: string;
  readonly properties: { readonly ipAddress?: string; readonly adminState?: string };
}

interface Service extends KubeObject {
  readonly spec: { readonly type: string };
}

interface Pod extends KubeObject {
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly podIP?: string };
}

export async function whatIsWrong(check: () => Promise<void>, withinMs: number): Promise<string | undefined> {
  try {
    await eventually(check, withinMs);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

/** Services served, pods registered, doomed nodes and their pods Down, and no others. Answers how many there are. */
export async function assertConverged(cluster: Cluster): Promise<Standing> {
  const { client, kubeconfig, cloudConfig } = cluster;
  const view = {
    kubeconfig,
    cloudConfig: { kind: "file", path: cloudConfig },
    clusterName: "kubernetes",
    env: {},
    log: SILENT_LOG,
  } as const;
  const plan = await withClusterView(view, (seen) => makePlan(seen, undefined));
  assertSettled(plan, `still planned: ${JSON.stringify(plan)}`);
  const nodes = (await client.list<KubeObject>(NODES, {})).items.map((node) => projectNode(node));
  const doomed = new Set(
    nodes.filter((node) => desiredAdminState(node) === "Down").map(({ metadata }) => metadata.name),
  );
  const balancers = await loadBalancers(cluster);
  const stateOf = (node: string): string => (doomed.has(node) ? "Down" : "None");
  for (const [balancer, entries] of balancers) {
    if (balancer === POD_LOAD_BALANCER) continue;
    const expected = nodes.map(({ metadata: { name } }) => [name, stateOf(name)]);
    assert.deepEqual(
      statesOf(entries, ({ name }) => name),
      Object.fromEntries(expected),
      `nodes in ${balancer}`,
    );
  }
  const pods = (await client.list<Pod>(PODS, { namespace: "default" })).items;
  const expected = pods.map(({ spec, status }) => [status.podIP ?? "", stateOf(spec.nodeName ?? "")]);
  const registered = statesOf(balancers.get(POD_LOAD_BALANCER) ?? [], ({ properties }) => properties.ipAddress ?? "");
  assert.deepEqual(registered, Object.fromEntries(expected), "registered pods");
  const records = (await client.list(BACKEND_RECORDS, { namespace: "default" })).items;
  assert.equal(records.length, pods.length, "a record for each pod");
  const services = (await client.list<Service>(SERVICES, { namespace: "default" })).items;
  const served = services.filter(({ spec }) => spec.type === "LoadBalancer").length;
  return { services: served, nodes: nodes.length, doomed: doomed.size, pods: pods.length };
}

/** Everything that is stored in Azure, by id. */
export async function everythingIn(azure: FaultControl): Promise<Readonly<Record<string, unknown>>> {
  return Object.fromEntries((await resourcesOf(azure)).map(({ id, state, body }) => [id, { state, body }]));
}

async function loadBalancers({ azure }: Cluster): Promise<ReadonlyMap<string, readonly PoolEntry[]>> {
  const found = (await resourcesOf(azure)).filter(({ id }) => /\/loadBalancers\/[^/]+$/i.test(id));
  return new Map(found.map(({ id, body }) => [id.slice(id.lastIndexOf("/") + 1), entriesOf(body)]));
}

async function resourcesOf(azure: FaultControl): Promise<readonly AzureResource[]> {
  return ((await azure.send("GET", "/state")) as { resources: readonly AzureResource[] }).resources;
}

function entriesOf(body: unknown): readonly PoolEntry[] {
  const { backendAddressPools = [] } = (body as { properties: { backendAddressPools?: readonly Pool[] } }).properties;
  return backendAddressPools.flatMap(({ properties }) => properties.loadBalancerBackendAddresses ?? []);
}

interface Pool {
  readonly properties: { readonly loadBalancerBackendAddresses?: readonly PoolEntry[] };
}

function statesOf(entries: readonly PoolEntry[], key: (entry: PoolEntry) => string): Record<string, string> {
  return Object.fromEntries(entries.map((entry) => [key(entry), entry.properties.adminState ?? "None"]));
}
