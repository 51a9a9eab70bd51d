/**
 * All that one decision may look at. The shell fills it in; a part that could not be read is never shown as empty:
 * the shell fails instead, since a failed lookup must not look like "nothing there".
 */
import type { ClusterConfig } from "./config/cluster-config.ts";
import type { Node, Service } from "./model/kubernetes.ts";
import type { ObservedAzure } from "./resources/observed-azure.ts";
import type { ClassFilter } from "./service/ownership.ts";

export interface Observed extends ObservedAzure {
  readonly config: ClusterConfig;
  /** The class of Services that we serve; absent: those without a class. */
  readonly classFilter?: ClassFilter;
  /** The Service as the cache has it. */
  readonly service: Service;
  /** Every Service that counts where Services meet, itself perhaps included: who else claims an address. */
  readonly otherServices: readonly Service[];
  readonly nodes: readonly Node[];
  /** All subnets of the VNet by name: read only where one is not there, for what is said about that, and if it can be. */
  readonly subnetNames?: readonly string[];
  /** Zones of the region, empty where it has none. */
  readonly zones: readonly string[];
  /** Pool entries that we put there, by load balancer id in lower case: the durable member list. */
  readonly members: ReadonlyMap<string, readonly string[]>;
}
