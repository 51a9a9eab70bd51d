/**
 * One plan of the whole cluster from one state of Azure, for the shadow: reads through a mirror, and shows each decision the
 * cluster as azlb would know it (`core/shadow/remembered.ts`). Without the brake, which the incumbent does not have.
 */
import type { Mirror } from "../../azure/cache/mirror.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import { countsForOthers, needsCleanup, wantsLoadBalancer, type ClassFilter } from "../../core/intent/ownership.ts";
import { serviceKey, type Service } from "../../core/model/kubernetes.ts";
import type { Observed } from "../../core/observed.ts";
import { type ClusterPlan, planCluster } from "../../core/plan/plan-cluster.ts";
import type { Unreadable } from "../../core/plan/plan-report.ts";
import { soundObservations } from "../../core/plan/sound-observations.ts";
import type { ListedKind } from "../../core/resources/azure-step.ts";
import { LISTED_KINDS } from "../../core/resources/kinds.ts";
import { type Listed, listedOf, type ObservedAzure, withListed } from "../../core/resources/observed-azure.ts";
import { asRemembered, type Remembered } from "../../core/shadow/remembered.ts";
import type { Clock } from "../../core/util/clock.ts";
import { errorText } from "../../core/util/text.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import { MachineListing } from "../machine-listing.ts";
import { observeFully } from "../service/observe-fully.ts";
import { Observer } from "../service/observer.ts";

export interface PlannerOptions {
  readonly config: ClusterConfig;
  readonly classFilter: ClassFilter;
  readonly cache: ClusterCache;
  readonly clock: Clock;
}

/** What a plan rests on. */
export interface PlanBase {
  readonly mirror: Mirror;
  readonly remembered: Remembered;
  readonly members: Observed["members"];
}

export interface ShadowPlan extends ClusterPlan {
  readonly before: readonly Observed[];
  readonly unreadable: readonly Unreadable[];
  /** The Services as they were shown to the decisions, those without a load balancer included. */
  readonly services: readonly Service[];
  /** Lists that the plan rests on. */
  readonly groups: ReadGroups;
}

/** Resource groups by kind. */
export type ReadGroups = ReadonlyMap<ListedKind, ReadonlySet<string>>;

export class Planner {
  readonly #options: PlannerOptions;

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /** Reads what the mirror does not have yet. A Service that cannot be looked at, or planned, is left out and told. */
  async plan({ mirror, remembered, members }: PlanBase, signal: AbortSignal): Promise<ShadowPlan> {
    const { config, classFilter, cache, clock } = this.#options;
    const services = asRemembered(cache.services.store.snapshot, remembered);
    const observer = new Observer({ config, classFilter, cache, mirror, machines: new MachineListing(mirror, clock) });
    const otherServices = services.filter((service) => countsForOthers(service, classFilter));
    const overlay = (observed: Observed): Observed => {
      return {
        ...observed,
        otherServices,
        clusterServices: services,
        members: new Map([...members, ...observed.members]),
      };
    };
    const unreadable: Unreadable[] = [];
    const looks = services
      .filter((service) => isManaged(service, classFilter))
      .map(async (service) => {
        try {
          return [await observeFully(observer, service, overlay, signal)];
        } catch (error) {
          signal.throwIfAborted();
          unreadable.push({ service: serviceKey(service), message: errorText(error) });
          return [];
        }
      });
    const observed = (await Promise.all(looks)).flat();
    const { before, failed, ...plan } = planSound(observed);
    return { ...plan, before, services, unreadable: [...unreadable, ...failed], groups: this.#groupsOf(before) };
  }

  /** Azure as the mirror shows it, as far as plans with these lists depend on it. */
  async azure(
    mirror: Mirror,
    groups: ReadGroups,
    signal: AbortSignal,
  ): Promise<Pick<ObservedAzure, "loadBalancers" | "listed" | "securityGroup">> {
    const { config } = this.#options;
    const [loadBalancers, securityGroup] = await Promise.all([
      mirror.loadBalancers(signal),
      config.securityGroupName === "" ? undefined : mirror.securityGroup(signal),
    ]);
    let listed: Listed = {};
    for (const [kind, names] of groups) {
      for (const group of names) listed = withListed(listed, kind, group, await mirror.list(kind, group, signal));
    }
    return { loadBalancers, listed, securityGroup };
  }

  #groupsOf(observed: readonly Observed[]): ReadGroups {
    const home = this.#options.config.resourceGroup.toLowerCase();
    const missing = new Set(observed.flatMap(({ missingGroups = [] }) => [...missingGroups]));
    return new Map(
      LISTED_KINDS.map((kind) => {
        const read = observed.flatMap((one) => [...listedOf(one, kind).keys()]);
        const always = kind === "publicIP" ? [home] : [];
        return [kind, new Set([...always, ...read]).difference(missing)];
      }),
    );
  }
}

function isManaged(service: Service, classFilter: ClassFilter): boolean {
  return wantsLoadBalancer(service, classFilter) || needsCleanup(service, classFilter);
}

function planSound(
  observed: readonly Observed[],
): ClusterPlan & Pick<ShadowPlan, "before"> & { failed: readonly Unreadable[] } {
  try {
    return { ...planCluster(observed), before: observed, failed: [] };
  } catch (error) {
    const { sound, failed } = soundObservations(observed);
    if (failed.length === 0) throw error;
    return { ...planCluster(sound), before: sound, failed };
  }
}
