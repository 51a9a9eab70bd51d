/**
 * Nodes that are added, removed, moved, replaced, tainted and announced for eviction. A slot stands for a node's name and
 * its machine in Azure, which is there from the start or is made with the node (`machines.ts`); it stays, so that a node
 * that is added again finds its network interface.
 */
import { topologyNodes, type Topology } from "../../sandbox/azure/seed/topology.ts";
import { SANDBOX_ACCOUNT } from "../../sandbox/azure/identity/account.ts";
import type { ClusterNode } from "../../sandbox/kubernetes/seed.ts";
import type { SimulatedKubernetes } from "../environment/simulated-kubernetes.ts";
import type { NodeAction, Setup } from "../campaign/history.ts";
import { labelsOfSlot } from "../environment/several-load-balancers.ts";
import type { SimulatedMachines } from "./machines.ts";

const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const TAINTS: Readonly<Record<string, object>> = {
  "out-of-service": { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" },
  "spot-eviction": { key: "cloudprovider.azure.microsoft.com/draining", value: "spot-eviction", effect: "NoSchedule" },
  autoscaler: { key: "ToBeDeletedByClusterAutoscaler", value: "1", effect: "NoSchedule" },
};

export class SimulatedNodes {
  readonly #cluster: SimulatedKubernetes;
  readonly #topology: Topology;
  readonly #slots: readonly ClusterNode[];
  /** Names of all nodes that there have been. */
  readonly #registered: Set<string>;
  /** `undefined`: all are there from the start. */
  readonly #machines: SimulatedMachines | undefined;
  #events = 0;

  constructor(
    cluster: SimulatedKubernetes,
    slots: readonly ClusterNode[],
    topology: Topology,
    machines?: SimulatedMachines,
  ) {
    this.#cluster = cluster;
    this.#topology = topology;
    this.#slots = slots;
    this.#machines = machines;
    this.#registered = new Set(cluster.objects("nodes").map(({ metadata }) => metadata.name ?? ""));
  }

  /** Whether there has ever been a node of this name. A scale set makes machines that register later, or never. */
  hasBeen(name: string): boolean {
    return this.#registered.has(name);
  }

  /** Whether a node has, or may have had, this address. */
  wasNode(address: string): boolean {
    return this.#slots.some(
      ({ internalIPs }, slot) =>
        this.#machines?.addressOf(slot) === address ||
        internalIPs.some((ip) => ip === address || movedTo(ip) === address),
    );
  }

  perform(how: NodeAction, slot: number, taint: string): void {
    const at = slot % this.#slots.length;
    const node = this.#slots[at];
    if (node === undefined) return;
    const path = `/api/v1/nodes/${node.name}`;
    switch (how) {
      case "add":
        return this.#add(node, at);
      case "remove":
        return void this.#cluster.send("DELETE", path);
      case "replace":
        this.#cluster.send("DELETE", path);
        return this.#add(node, at);
      case "move":
        return this.#move(node, path);
      case "exclude":
      case "include":
        return void this.#cluster.send("PATCH", path, {
          metadata: { labels: { [EXCLUDE]: how === "exclude" ? "true" : null } },
        });
      case "taint":
      case "untaint":
        return void this.#cluster.send("PATCH", path, { spec: { taints: how === "taint" ? [TAINTS[taint]] : [] } });
      case "preempt":
        return this.#announce(node.name);
    }
  }

  #add({ name, internalIPs: [usual = "", ...others], providerID, labels }: ClusterNode, slot: number): void {
    this.#registered.add(name);
    this.#machines?.ensure(slot);
    const internalIPs = [this.#machines?.addressOf(slot) ?? usual, ...others];
    this.#cluster.send("POST", "/api/v1/nodes", {
      metadata: { name, ...(labels !== undefined && { labels }) },
      spec: { ...(providerID !== undefined && { providerID }) },
      status: { addresses: internalIPs.map((address) => ({ type: "InternalIP", address })) },
    });
  }

  /** Changes the address, as when the machine is recreated. Network interfaces keep theirs. */
  #move({ name, internalIPs }: ClusterNode, path: string): void {
    if (this.#topology.backendPool !== "nodeIP") return;
    const [ipv4 = "", ...rest] = internalIPs;
    const hasOriginal = JSON.stringify(this.#cluster.object("nodes", name) ?? {}).includes(`"${ipv4}"`);
    const moved = hasOriginal ? movedTo(ipv4) : ipv4;
    const addresses = [moved, ...rest].map((address) => ({ type: "InternalIP", address }));
    this.#cluster.send("PATCH", `${path}/status`, { status: { addresses } });
  }

  #announce(name: string): void {
    const now = new Date(this.#cluster.api.nowMs).toISOString().replace(/\.\d+Z$/, "Z");
    this.#cluster.send("POST", "/api/v1/namespaces/default/events", {
      metadata: { name: `${name}.preempt-${++this.#events}`, namespace: "default" },
      involvedObject: { kind: "Node", name, uid: name, apiVersion: "v1" },
      reason: "PreemptScheduled",
      message: "Preempt Scheduled: the machine is going",
      type: "Warning",
      source: { component: "node-problem-detector" },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    });
  }
}

/** In the second subnet, outside the addresses that Azure gives to frontends there. */
function movedTo(ipv4: string): string {
  return ipv4.replace(/^10\.240\.0\./, "10.241.50.");
}

export function nodesOf(topology: Topology, setup: Pick<Setup, "several">): ClusterNode[] {
  return topologyNodes(SANDBOX_ACCOUNT, topology).map(({ name, ip, providerId }, at) => ({
    name,
    internalIPs: [ip, `fd00:10:240:0:1::${at + 4}`], // outside the range that Azure assigns to frontends
    providerID: providerId,
    ...(setup.several === "list" && { labels: labelsOfSlot(at) }),
  }));
}
