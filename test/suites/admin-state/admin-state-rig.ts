/**
 * A served cluster whose nodes can be doomed: what an operator, a node-problem-detector and Azure's own tools would do to
 * them, and what the pools then say.
 */
import assert from "node:assert/strict";

import { NODES, EVENTS, type KubeObject } from "../../../src/kube/client/resources.ts";
import { desiredAdminState, DRAINING_TAINT } from "../../../src/core/admin-state/reconcile-admin-state.ts";
import { projectNode, type CachedNode } from "../../../src/controller/projections.ts";
import type { Taint } from "../../../src/core/model/kubernetes.ts";
import { isFailure } from "../../../src/kube/client/kube-failure.ts";
import { Reflector } from "../../../src/kube/cache/reflector.ts";
import { realClock } from "../../../src/main/real-clock.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { ServiceRig, WITHIN_MS, type RigOptions, type WireBody } from "../../support/service-rig.ts";

export const OUT_OF_SERVICE: Taint = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
};
/** As `azlb drain` writes it. */
export const DRAIN: Taint = { key: "azlb.io/drain", value: "manual", effect: "NoSchedule" };
export const SPOT_EVICTION: Taint = { key: DRAINING_TAINT, value: "spot-eviction", effect: "NoSchedule" };
export const ANNOUNCEMENT = "Preempt Scheduled: Wed, 26 Feb 2025 10:13:13 GMT. DurationInSeconds: -1.  EventId: 7";

type State = "None" | "Up" | "Down";

interface WireEntry {
  readonly name: string;
  readonly properties: {
    readonly ipAddress?: string;
    readonly adminState?: State;
    readonly networkInterfaceIPConfiguration?: { readonly id: string };
  };
}

export interface WirePool {
  readonly name: string;
  readonly properties: { readonly loadBalancerBackendAddresses?: readonly WireEntry[] };
}

export interface AuditEntry {
  readonly sequence: number;
  readonly time: string;
  readonly path: string;
  readonly verb: string | null;
  readonly status: number;
}

export class AdminStateRig {
  readonly services: ServiceRig;
  readonly #watch: TaintWatch;

  private constructor(services: ServiceRig) {
    this.services = services;
    this.#watch = new TaintWatch(services);
  }

  static async open(open: ClusterOpener, options: RigOptions = {}): Promise<AdminStateRig> {
    return new AdminStateRig(await ServiceRig.open(open, options));
  }

  async close(): Promise<void> {
    await this.#watch.close();
    await this.services.close();
  }

  /** Names of the nodes, in order. */
  get nodes(): readonly string[] {
    return this.services.azure.nodes.map(({ name }) => name);
  }

  /** An external and an internal Service, one of each traffic policy; their pools hold all nodes. */
  async serve({ dualStack = false } = {}): Promise<void> {
    if (dualStack) await this.#addIPv6();
    const spec = dualStack ? { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] } : {};
    await this.services.apply({ name: "web", spec: { externalTrafficPolicy: "Local", ...spec } });
    const subnet = dualStack ? { "azure-load-balancer-internal-subnet": "subnet2" } : {};
    const annotations = { "azure-load-balancer-internal": "true", ...subnet };
    await this.services.apply({ name: "inside", annotations, spec });
    await Promise.all([this.services.served("web"), this.services.served("inside")]);
    await this.expect({}, { dualStack });
  }

  async node(name: string): Promise<CachedNode> {
    return projectNode(await this.services.kube.get<KubeObject>(NODES, { name }));
  }

  /** As `kubectl taint` does it: read, change, write under the version that was read. */
  async retaint(name: string, change: (taints: readonly Taint[]) => readonly Taint[]): Promise<void> {
    for (;;) {
      const node = await this.node(name);
      const { uid, resourceVersion } = node.metadata;
      const taints = change(node.spec.taints ?? []);
      try {
        await this.services.kube.patch(NODES, { name }, { merge: { spec: { taints } } }, { uid, resourceVersion });
        return;
      } catch (error) {
        if (!isFailure(error, "conflict")) throw error;
      }
    }
  }

  taint(name: string, taint: Taint): Promise<void> {
    return this.retaint(name, (taints) => [...taints.filter(({ key }) => key !== taint.key), taint]);
  }

  untaint(name: string, ...taints: readonly Taint[]): Promise<void> {
    return this.retaint(name, (all) => all.filter(({ key }) => !taints.some((taint) => taint.key === key)));
  }

  /** The same machine registers again, as a Node with another UID. */
  async recreate(name: string): Promise<void> {
    const { spec, status, metadata } = await this.node(name);
    await this.services.kube.delete(NODES, { name });
    await eventually(async () => {
      const { labels = {} } = metadata;
      await this.services.kube.create(NODES, { metadata: { name, labels }, spec: { providerID: spec.providerID } });
    }, WITHIN_MS);
    await this.services.kube.patch(NODES, { name, subresource: "status" }, { merge: { status } });
  }

  /** As AKS's node-problem-detector writes it: the node's name for its UID. */
  async announce(name: string, change: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    const event = await this.services.kube.create<KubeObject>(EVENTS, {
      metadata: { name: `${name}.${Math.random().toString(16).slice(2)}`, namespace: "default" },
      involvedObject: { kind: "Node", name, uid: name },
      reason: "PreemptScheduled",
      type: "Warning",
      message: ANNOUNCEMENT,
      source: { component: "custom-scheduledevents-consolidated-preempt-plugin-monitor", host: name },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      ...change,
    });
    return event.metadata.uid;
  }

  /** `load balancer/pool` → node → state, of the pools that have members. */
  async states(): Promise<Readonly<Record<string, Readonly<Record<string, State>>>>> {
    const found: Record<string, Record<string, State>> = {};
    for (const body of await this.services.list("loadBalancers")) {
      for (const pool of poolsOf(body)) {
        const entries = pool.properties.loadBalancerBackendAddresses ?? [];
        if (entries.length === 0) continue;
        const named = entries.map((entry) => [this.#nodeOf(entry), entry.properties.adminState ?? "None"] as const);
        found[`${body.name}/${pool.name}`] = Object.fromEntries(named);
      }
    }
    return found;
  }

  /** Waits until every pool holds every node, with these states and `None` for the rest. */
  async expect(
    special: Readonly<Record<string, State>>,
    { dualStack = false, nodes = this.nodes }: { dualStack?: boolean; nodes?: readonly string[] } = {},
  ): Promise<void> {
    const pools = dualStack ? ["kubernetes", "kubernetes-IPv6"] : ["kubernetes"];
    const each = Object.fromEntries(nodes.map((name) => [name, special[name] ?? "None"]));
    const names = ["kubernetes", "kubernetes-internal"].flatMap((lb) => pools.map((pool) => `${lb}/${pool}`));
    const wanted = Object.fromEntries(names.map((name) => [name, each]));
    await eventually(async () => assert.deepEqual(await this.states(), wanted), WITHIN_MS);
  }

  /** How often each pool was written, by `load balancer/pool`. */
  async writes(after = 0): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    for (const { verb, path } of await this.audit(after)) {
      const [, lb, pool] = /loadBalancers\/([^/]+)\/backendAddressPools\/([^/]+)$/i.exec(path) ?? [];
      if (verb === "PUT" && pool !== undefined) counts[`${lb}/${pool}`] = (counts[`${lb}/${pool}`] ?? 0) + 1;
    }
    return counts;
  }

  async audit(after = 0): Promise<readonly AuditEntry[]> {
    const answer = await this.services.azure.control("GET", `/audit?after=${after}`);
    return (answer as { entries: readonly AuditEntry[] }).entries;
  }

  async sequence(): Promise<number> {
    return (await this.audit()).at(-1)?.sequence ?? 0;
  }

  /** How often the node got the taint of an eviction until now, from any client. */
  async timesTainted(name: string): Promise<number> {
    await eventually(async () => {
      const { resourceVersion } = (await this.node(name)).metadata;
      assert.equal(this.#watch.versionOf(name), resourceVersion, "the watch is behind");
    }, WITHIN_MS);
    return this.#watch.timesTainted.get(name) ?? 0;
  }

  /** Events about a Node. */
  async said(name: string): Promise<{ type: string; reason: string; message: string }[]> {
    const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${name}`;
    const { items } = await this.services.kube.list<KubeObject & { type: string; reason: string; message: string }>(
      EVENTS,
      { namespace: "default", fieldSelector },
    );
    return items.map(({ type, reason, message }) => ({ type, reason, message }));
  }

  async heard(name: string, reason: string): Promise<string> {
    let message = "";
    await eventually(async () => {
      const said = await this.said(name);
      const found = said.find((event) => event.reason === reason);
      assert.ok(found !== undefined, `no ${reason} on ${name}, but ${JSON.stringify(said)}`);
      message = found.message;
    }, WITHIN_MS);
    return message;
  }

  async isDoomed(name: string): Promise<boolean> {
    return desiredAdminState(await this.node(name)) === "Down";
  }

  /** So that internal frontends in the second subnet can have both families. */
  async #addIPv6(): Promise<void> {
    const { network, resourceGroup } = this.services.azure;
    const { subnets = [], addressSpace, ...found } = await network.virtualNetworks.get(resourceGroup, "vnet");
    const [first = {}, { addressPrefix = "", ...second } = {}] = subnets;
    await network.virtualNetworks.beginCreateOrUpdateAndWait(resourceGroup, "vnet", {
      ...found,
      addressSpace: { addressPrefixes: [...(addressSpace?.addressPrefixes ?? []), "fd00::/16"] },
      subnets: [first, { ...second, addressPrefixes: [addressPrefix, "fd00:2::/64"] }],
    });
  }

  /** By name, by the network interface's name, or by the instance's number. */
  #nodeOf({ name, properties }: WireEntry): string {
    const configuration = properties.networkInterfaceIPConfiguration?.id ?? "";
    const [, machine = ""] = /\/networkInterfaces\/(.+)-nic\//i.exec(configuration) ?? [];
    const [, instance = ""] = /\/virtualMachines\/(\d+)\//i.exec(configuration) ?? [];
    return machine || (instance === "" ? name : (this.nodes[Number(instance)] ?? name));
  }
}

export function poolsOf(loadBalancer: WireBody): readonly WirePool[] {
  const { backendAddressPools = [] } = loadBalancer["properties"] as { backendAddressPools?: readonly WirePool[] };
  return backendAddressPools;
}

/** Counts how often each node came to be tainted for an eviction, as any watcher of the API sees it. */
class TaintWatch {
  readonly timesTainted = new Map<string, number>();
  readonly #ending = new AbortController();
  readonly #reflector: Reflector<CachedNode>;
  readonly #running: Promise<void>;

  constructor({ kube }: ServiceRig) {
    this.#reflector = new Reflector({
      client: kube,
      clock: realClock,
      random: Math.random,
      resource: NODES,
      project: projectNode,
    });
    this.#reflector.subscribe((change) => {
      const before = change.kind === "updated" && isEvicted(change.old);
      if (change.kind === "deleted" || before || !isEvicted(change.object)) return;
      const { name } = change.object.metadata;
      this.timesTainted.set(name, (this.timesTainted.get(name) ?? 0) + 1);
    });
    this.#running = this.#reflector.run(this.#ending.signal);
  }

  /** How far it has come. */
  versionOf(node: string): string | undefined {
    return this.#reflector.store.get(node)?.metadata.resourceVersion;
  }

  async close(): Promise<void> {
    this.#ending.abort(new Error("the watch is over"));
    await this.#running;
  }
}

function isEvicted({ spec }: CachedNode): boolean {
  return (spec.taints ?? []).some(({ key }) => key === DRAINING_TAINT);
}
