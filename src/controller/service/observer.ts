/**
 * Fills in what one decision may look at: the cluster from the caches, Azure from the mirror. A part that cannot be
 * read fails the look; it is never shown as empty.
 */
import { ArmError } from "../../azure/arm/failures.ts";
import type { Mirror } from "../../azure/cache/mirror.ts";
import type { PublicIP, Subnet } from "../../core/model/arm.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import type { Service } from "../../core/model/kubernetes.ts";
import type { Look } from "../../core/steps.ts";
import { countsForOthers, type ClassFilter } from "../../core/service/ownership.ts";
import type { Observed } from "../../core/observed.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import type { MemberList } from "../pools/member-list.ts";
import { Snapshot } from "../snapshot.ts";

export interface ObserverOptions {
  readonly config: ClusterConfig;
  readonly classFilter: ClassFilter;
  readonly cache: ClusterCache;
  readonly mirror: Mirror;
}

export class Observer {
  readonly #options: ObserverOptions;
  readonly #services: Snapshot<Service>;
  readonly #nodes: Snapshot<Observed["nodes"][number]>;
  readonly #members: Snapshot<MemberList>;

  constructor(options: ObserverOptions) {
    this.#options = options;
    const { cache, classFilter } = options;
    this.#services = new Snapshot(cache.services, (service) => countsForOthers(service, classFilter));
    this.#nodes = new Snapshot(cache.nodes);
    this.#members = new Snapshot(cache.memberLists);
  }

  async observe(service: Service, looks: readonly Look[], signal: AbortSignal): Promise<Observed> {
    const { config, mirror } = this.#options;
    const [shared, publicIPs, subnets, securityGroup] = await Promise.all([
      this.observePools(signal),
      this.#publicIPs(looks, signal),
      this.#subnets(looks, signal),
      config.securityGroupName === "" ? null : mirror.securityGroup(signal),
    ]);
    const otherServices = this.#services.values;
    return { ...shared, service, otherServices, publicIPs, ...subnets, securityGroup };
  }

  get nodeNames(): readonly string[] {
    return this.#nodes.values.map(({ metadata }) => metadata.name);
  }

  /** Look at Azure itself next time. */
  refresh(): void {
    this.#options.mirror.expire();
  }

  /** What pools depend on, whoever's they are. Machines are looked at only where they decide something. */
  async observePools(
    signal: AbortSignal,
  ): Promise<Omit<Observed, "service" | "otherServices" | "publicIPs" | "subnets" | "subnetNames" | "securityGroup">> {
    const { config, classFilter, mirror } = this.#options;
    const needsMachines = config.poolType === "nodeIPConfiguration" || config.sku === "basic";
    const [loadBalancers, zones, compute] = await Promise.all([
      mirror.loadBalancers(signal),
      mirror.zones(signal),
      needsMachines ? mirror.compute(signal) : undefined,
    ]);
    return {
      config,
      classFilter,
      nodes: this.#nodes.values,
      loadBalancers,
      zones,
      members: this.#members.derive((lists) => new Map(lists.map((list) => [list.loadBalancerId, list.members]))),
      ...(compute !== undefined && { compute }),
    };
  }

  async #publicIPs(looks: readonly Look[], signal: AbortSignal): Promise<Observed["publicIPs"]> {
    const found = new Map<string, readonly PublicIP[]>();
    for (const look of looks) {
      if (look.kind !== "publicIPs") continue;
      found.set(look.resourceGroup.toLowerCase(), await this.#options.mirror.publicIPs(look.resourceGroup, signal));
    }
    return found;
  }

  async #subnets(looks: readonly Look[], signal: AbortSignal): Promise<Pick<Observed, "subnets" | "subnetNames">> {
    const { mirror } = this.#options;
    const subnets = new Map<string, Subnet | null>();
    for (const look of looks) {
      if (look.kind === "subnet") subnets.set(look.name, await mirror.subnet(look.name, signal));
    }
    if (![...subnets.values()].includes(null)) return { subnets };
    try {
      return { subnets, subnetNames: await mirror.subnetNames(signal) };
    } catch (error) {
      if (error instanceof ArmError) return { subnets }; // the refusal is as true without them
      throw error;
    }
  }
}
