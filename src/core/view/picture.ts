/**
 * Everything that the views read: what the controller holds in memory at one moment. Nothing is read from Azure or the API
 * server for it, so a part that the controller has not read yet is absent, and views say so.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { ClassFilter } from "../intent/ownership.ts";
import type { LoadBalancer, PublicIP, SecurityGroup } from "../model/arm.ts";
import type { EndpointSlice, Node, Service } from "../model/kubernetes.ts";
import type { NodeFinder } from "../admin-state/reconcile-admin-state.ts";
import type { Standing } from "./standing.ts";

export interface Picture {
  readonly config: ClusterConfig;
  readonly classFilter: ClassFilter;
  /** Those that the controller serves or cleans up. */
  readonly services: readonly Service[];
  /** By key, also what it does not serve. */
  readonly findAny: (key: string) => Service | undefined;
  readonly nodes: readonly Node[];
  /** Of the load balancers' resource group, foreign ones too. */
  readonly loadBalancers: readonly LoadBalancer[];
  readonly publicIPs: readonly PublicIP[];
  readonly securityGroup: SecurityGroup | undefined;
  /** Absent: the controller does not watch them. */
  readonly endpointSlices?: readonly EndpointSlice[];
  /** By key. */
  readonly standings: ReadonlyMap<string, Standing>;
  readonly nodeOf: NodeFinder;
  /** Why the controller writes nothing, for no Service. */
  readonly unready: string | undefined;
  /** What holds it up, or threatens its work, for all Services; absent: nothing. */
  readonly notices?: readonly string[];
}
