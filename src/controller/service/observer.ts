/**
 * Fills in what one decision may look at: the cluster from the caches, Azure from the mirror. A part that cannot be
 * read fails the look; it is never shown as empty.
 */
import { ArmError, isGroupMissing } from "../../azure/arm/failures.ts";
import type { Mirror } from "../../azure/cache/mirror.ts";
import type { PoolBrake } from "../../core/brake/pool-brake.ts";
import type { SecurityGroup, Subnet } from "../../core/model/arm.ts";
import type { Bodies, Kind, ListedKind } from "../../core/resources/azure-step.ts";
import { type Listed, withListed } from "../../core/resources/observed-azure.ts";
import type { PoolsInput } from "../../core/resources/managed-pools.ts";
import { type ClusterConfig, keyText } from "../../core/config/cluster-config.ts";
import type { NamespaceLabels, Service } from "../../core/model/kubernetes.ts";
import type { KubeObject } from "../../kube/client/resources.ts";
import { needsCompute } from "../../core/backends/eligible-nodes.ts";
import type { ReadRequest } from "../../core/steps.ts";
import { countsForOthers, type ClassFilter } from "../../core/intent/ownership.ts";
import type { Observed } from "../../core/observed.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import type { MachineListing } from "../machine-listing.ts";
import type { MemberList } from "../pools/member-list.ts";
import { memo } from "../../core/util/memo.ts";

export interface ObserverOptions {
  readonly config: ClusterConfig;
  readonly classFilter: ClassFilter;
  readonly cache: ClusterCache;
  readonly mirror: Mirror;
  readonly machines: MachineListing;
  /** Absent: no member of a pool is withheld. */
  readonly brake?: { readonly pools: PoolBrake; notePools?(input: PoolsInput): void };
}

const membersByLoadBalancer = memo(
  (lists: readonly MemberList[]): Observed["members"] =>
    new Map(lists.map((list) => [list.loadBalancerId, list.members])),
);

const labelsByNamespace = memo(
  (namespaces: readonly KubeObject[]): NamespaceLabels =>
    new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels ?? {}])),
);

type Shared = Pick<
  Observed,
  | "config"
  | "classFilter"
  | "otherServices"
  | "clusterServices"
  | "nodes"
  | "loadBalancers"
  | "zones"
  | "members"
  | "endpointSlices"
  | "namespaces"
  | "brake"
>;

export class Observer {
  readonly #options: ObserverOptions;
  /** Remembered by the snapshot, so that it is the same array until a Service changes. */
  readonly #counting: (services: readonly Service[]) => readonly Service[];

  constructor(options: ObserverOptions) {
    this.#options = options;
    const { classFilter } = options;
    this.#counting = memo((services) => services.filter((service) => countsForOthers(service, classFilter)));
  }

  /** What every decision about a Service sees, and what the core asked for besides. */
  async observe(service: Service, needs: readonly ReadRequest[], signal: AbortSignal): Promise<Observed> {
    const [shared, compute, listed, subnets, securityGroup] = await Promise.all([
      this.#shared(signal),
      needs.some(({ kind }) => kind === "compute") ? this.#compute(signal) : {},
      this.#listed(needs, signal),
      this.#subnets(needs, signal),
      this.#securityGroup(signal),
    ]);
    return { ...shared, ...compute, service, ...listed, ...subnets, securityGroup };
  }

  /** What pools depend on, of whichever Service they are. */
  async observePools(signal: AbortSignal): Promise<PoolsInput> {
    const [shared, compute] = await Promise.all([
      this.#shared(signal),
      needsCompute(this.#options.config, this.#options.cache.nodes.store.snapshot) ? this.#compute(signal) : {},
    ]);
    const input = { ...shared, ...compute };
    this.#options.brake?.notePools?.(input);
    return input;
  }

  /** When a machine that the pools wait for is worth another listing; `undefined` where none is missing. */
  awaitedMs({ nodes, compute }: Pick<PoolsInput, "nodes" | "compute">): number | undefined {
    return compute && this.#options.machines.awaitedMs(nodes, compute);
  }

  get nodeNames(): readonly string[] {
    return this.#options.cache.nodes.store.snapshot.map(({ metadata }) => metadata.name);
  }

  /** Look at Azure itself next time, for this kind or for all. */
  refresh(kind?: Kind): void {
    this.#options.mirror.expire(kind);
  }

  async #shared(signal: AbortSignal): Promise<Shared> {
    const { config, classFilter, cache, mirror, brake } = this.#options;
    const [zones, loadBalancers] = await Promise.all([mirror.zones(signal), mirror.loadBalancers(signal)]);
    const { endpointSlices, namespaces } = cache;
    return {
      config,
      classFilter,
      otherServices: this.#counting(cache.services.store.snapshot),
      clusterServices: cache.services.store.snapshot,
      ...(endpointSlices && { endpointSlices: endpointSlices.store.snapshot }),
      ...(namespaces && { namespaces: labelsByNamespace(namespaces.store.snapshot) }),
      nodes: cache.nodes.store.snapshot,
      loadBalancers,
      zones,
      members: membersByLoadBalancer(cache.memberLists.store.snapshot),
      ...(brake && { brake: brake.pools }),
    };
  }

  async #compute(signal: AbortSignal): Promise<Pick<Observed, "compute">> {
    const { cache, machines } = this.#options;
    return { compute: await machines.compute(cache.nodes.store.snapshot, signal) };
  }

  async #listed(
    needs: readonly ReadRequest[],
    signal: AbortSignal,
  ): Promise<Pick<Observed, "listed" | "missingGroups">> {
    let listed: Listed = {};
    const missingGroups = new Set<string>();
    for (const need of needs) {
      if (need.kind !== "list") continue;
      const group = need.resourceGroup.toLowerCase();
      const found = await this.#list(need.of, group, signal);
      listed = withListed(listed, need.of, group, found ?? []);
      if (found === undefined) missingGroups.add(group);
    }
    return { listed, missingGroups };
  }

  /**
   * `undefined`: the group does not exist. That is asked for twice, since what is in no group is forgotten. The config's
   * own group is never missing: the config would be wrong, and the resources elsewhere.
   */
  async #list<K extends ListedKind>(
    kind: K,
    group: string,
    signal: AbortSignal,
  ): Promise<readonly Bodies[K][] | undefined> {
    const { config, mirror } = this.#options;
    const isOptional = group !== config.resourceGroup.toLowerCase();
    const read = (): Promise<readonly Bodies[K][] | undefined> =>
      mirror.list(kind, group, signal).catch((error: unknown) => {
        if (isOptional && isGroupMissing(error)) return undefined;
        throw error;
      });
    return (await read()) ?? read();
  }

  async #subnets(
    needs: readonly ReadRequest[],
    signal: AbortSignal,
  ): Promise<Pick<Observed, "subnets" | "subnetNames" | "missingNetwork">> {
    const { mirror } = this.#options;
    const subnets = new Map<string, Subnet | undefined>();
    for (const need of needs) {
      if (need.kind !== "subnet") continue;
      const subnet = await mirror.subnet(need.name, signal).catch(undefinedIfGroupMissing);
      subnets.set(need.name, subnet);
    }
    if (![...subnets.values()].includes(undefined)) return { subnets };
    try {
      return { subnets, subnetNames: await mirror.subnetNames(signal) };
    } catch (error) {
      if (!(error instanceof ArmError)) throw error;
      if (error.failure.kind !== "notFound") return { subnets }; // the refusal is as true without them
      return { subnets, missingNetwork: isGroupMissing(error) ? "resourceGroup" : "network" };
    }
  }

  /** Its resource group is never missing: the config would be wrong, and the rules elsewhere. */
  async #securityGroup(signal: AbortSignal): Promise<SecurityGroup | undefined> {
    const { config, mirror } = this.#options;
    if (config.securityGroupName === "") return undefined;
    try {
      return await mirror.securityGroup(signal);
    } catch (error) {
      if (!(error instanceof ArmError) || !isGroupMissing(error)) throw error;
      const key = keyText("securityGroupResourceGroup", config);
      const problem = `resource group "${config.securityGroupResourceGroup}" does not exist: correct this key`;
      throw new ArmError(error.failure, `${key}: ${problem}`, { cause: error });
    }
  }
}

function undefinedIfGroupMissing(error: unknown): undefined {
  if (!isGroupMissing(error)) throw error;
}
