/**
 * Everything that one decision reads. The caller fills it in, and fails where a part cannot be read: a failed lookup must
 * not look like "nothing there".
 */
import type { PoolBrake } from "./brake/pool-brake.ts";
import type { ClusterConfig } from "./config/cluster-config.ts";
import type { EndpointSlice, NamespaceLabels, Node, Service } from "./model/kubernetes.ts";
import type { ObservedAzure } from "./resources/observed-azure.ts";
import type { ClassFilter } from "./intent/ownership.ts";

export interface Observed extends ObservedAzure {
  readonly config: ClusterConfig;
  /** The class of Services to serve; absent: those without a class. */
  readonly classFilter?: ClassFilter;
  /** The Service as the cache has it. */
  readonly service: Service;
  /** Every Service that may claim an address or port, possibly including this one. */
  readonly otherServices: readonly Service[];
  /** Every Service of the cluster, whatever its type and class; absent: there are no more than the others. */
  readonly clusterServices?: readonly Service[];
  readonly nodes: readonly Node[];
  /** Names of all subnets of the VNet, for the message about a missing one; absent unless one is missing and they can be read. */
  readonly subnetNames?: readonly string[];
  /** A subnet is missing because its VNet is, or the resource group of the VNet; absent: it is not. */
  readonly missingNetwork?: "network" | "resourceGroup";
  /** Zones of the region, empty where it has none. */
  readonly zones: readonly string[];
  /** Pool entries that the controller added, by load balancer id in lower case: the durable member list. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  /** Absent: no member of a pool is withheld. */
  readonly brake?: PoolBrake;
  /** All of them, where pools depend on them: see `watchesEndpoints`. */
  readonly endpointSlices?: readonly EndpointSlice[];
  /** All of them, where placement depends on their labels: see `watchesNamespaces`. */
  readonly namespaces?: NamespaceLabels;
}
