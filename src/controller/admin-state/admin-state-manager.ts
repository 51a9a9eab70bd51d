/**
 * Brings the admin state of every pool in line with the taints of the nodes in it. One write per pool for all nodes that
 * wait, on the lane of its load balancer, ahead of everything else there and in the throttle budget. What is written is
 * decided when the write leaves; where the pool as last seen is right by then, nothing is sent.
 * When to do it, and again after a failure, is `admin-state-controller.ts`'s; entries of BackendRecords are
 * `lbcf/azure/backend-admin-states.ts`'s.
 * @design AdminStateManager
 */
import type { GroupCommit } from "../../azure/group-commit/group-commit.ts";
import { WriteKind } from "../../azure/group-commit/write-kind.ts";
import type { ArmFailure } from "../../azure/arm/failures.ts";
import type { Mirror } from "../../azure/cache/mirror.ts";
import type { BackendPool, LoadBalancer } from "../../core/model/arm.ts";
import {
  adminStatePools,
  type AdminStatePool,
  type AdminStateFragment,
  mergeAdminState,
  nodeFinder,
  type NodeFinder,
} from "../../core/admin-state/reconcile-admin-state.ts";
import type { DrainSpans } from "./drain-spans.ts";
import { entriesOfNode } from "../../core/admin-state/drain-taint.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import type { Node } from "../../core/model/kubernetes.ts";
import type { MachineListing } from "../machine-listing.ts";
import type { Compute } from "../../core/backends/compute.ts";
import { ipConfigurationFinder } from "../../core/backends/machines.ts";
import type { ReadonlyStore } from "../../kube/cache/store.ts";

/** The kind of these writes. */
export const ADMIN_STATE = new WriteKind<BackendPool, AdminStateFragment, LoadBalancer>("adminState", mergeAdminState);

export interface AdminStateManagerOptions {
  readonly config: ClusterConfig;
  readonly mirror: Mirror;
  readonly machines: MachineListing;
  readonly commit: GroupCommit;
  readonly taints: NewestTaints;
  readonly spans: DrainSpans;
}

/** Whose state is to be set: one node's, or that of every node where it is wrong; `afresh` reads Azure first. */
export type Whose = { readonly node: Node } | { readonly all: "known" | "afresh" };

/** What came of one pool: as Azure has it now, or why not. */
export interface PoolUpdate {
  readonly place: AdminStatePool;
  readonly outcome: "written" | "unchanged" | ArmFailure;
  /** `null`: gone. */
  readonly loadBalancer: LoadBalancer | null;
}

export class AdminStateManager {
  readonly #options: AdminStateManagerOptions;

  constructor(options: AdminStateManagerOptions) {
    this.#options = options;
  }

  /** `load balancer/pool` of those that hold the node, of pools as they were read before an update. */
  poolsOf({ metadata }: Node, updates: readonly PoolUpdate[]): string[] {
    const places = updates.map(({ place }) => place);
    const entries = entriesOfNode(metadata.name, places, this.#options.taints.nodeOf);
    return [...new Set(entries.map(({ place }) => `${place.loadBalancer.name}/${place.pool.name}`))];
  }

  /** Throws where the pools cannot be read. */
  async update(whose: Whose, signal: AbortSignal): Promise<readonly PoolUpdate[]> {
    const { config, mirror, machines, taints } = this.#options;
    const age = "node" in whose ? "known" : "fresh";
    const [loadBalancers, compute] = await Promise.all([
      mirror.loadBalancers(signal, age),
      config.poolType === "nodeIPConfiguration"
        ? machines.compute("node" in whose ? [whose.node] : [], signal, age)
        : undefined,
    ]);
    if (compute !== undefined) taints.learn(compute);
    return Promise.all(adminStatePools(config, loadBalancers).map((place) => this.#write(place, whose)));
  }

  async #write(place: AdminStatePool, whose: Whose): Promise<PoolUpdate> {
    const { commit, taints, spans } = this.#options;
    const readFirst = "node" in whose ? this.#mayHoldUnseen(place, whose.node) : whose.all === "afresh";
    const span = "node" in whose ? spans.ofPool(whose.node, place) : undefined;
    const write = { id: place.id, kind: ADMIN_STATE, fragment: taints, priority: "drain", readFirst, span } as const;
    const committed = await commit.submit(write);
    span?.set({ "azlb.outcome": committed.kind });
    span?.end(committed.kind === "failed" ? committed.failure.message : undefined);
    if (committed.kind === "failed") return { place, outcome: committed.failure, loadBalancer: null };
    const loadBalancer = "body" in committed ? committed.body : null;
    return { place, outcome: committed.kind === "written" ? "written" : "unchanged", loadBalancer };
  }

  /** Network interfaces join a pool by writes of their own, which the load balancer as last seen does not show. */
  #mayHoldUnseen({ pool }: AdminStatePool, { metadata: { uid } }: Node): boolean {
    const { config, taints } = this.#options;
    if (config.poolType !== "nodeIPConfiguration") return false;
    const entries = pool.properties.loadBalancerBackendAddresses ?? [];
    return !entries.some((entry) => taints.nodeOf(entry)?.metadata.uid === uid);
  }
}

/**
 * Which node a pool entry is of, as the cluster is at this moment. Writes ask when they leave, not when they were
 * decided, so that one which waited long brings no doomed node back and holds no cleared one down.
 */
export class NewestTaints {
  readonly #nodes: ReadonlyStore<Node>;
  #compute: Compute | undefined;
  #made: { readonly nodes: readonly Node[]; readonly compute: Compute | undefined; readonly nodeOf: NodeFinder };

  constructor(nodes: ReadonlyStore<Node>) {
    this.#nodes = nodes;
    this.#made = { nodes: [], compute: undefined, nodeOf: nodeFinder([]) };
  }

  /** The machines behind the nodes, where pools hold network interfaces. */
  learn(compute: Compute): void {
    this.#compute = compute;
  }

  get nodeOf(): NodeFinder {
    const nodes = this.#nodes.snapshot;
    const compute = this.#compute;
    if (this.#made.nodes !== nodes || this.#made.compute !== compute) {
      const byIPConfiguration = compute && ipConfigurationFinder(nodes, compute);
      this.#made = { nodes, compute, nodeOf: nodeFinder(nodes, byIPConfiguration) };
    }
    return this.#made.nodeOf;
  }
}
