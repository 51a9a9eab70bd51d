/** What one decision may know of Azure's resources. A part that could not be read is never shown as empty. */
import type { Compute } from "../backends/compute.ts";
import type { LoadBalancer, PublicIP, SecurityGroup, Subnet } from "../model/arm.ts";

export interface ObservedAzure {
  /** All load balancers of the load balancer's resource group. */
  readonly loadBalancers: readonly LoadBalancer[];
  /** By lower-cased resource group; a group that is missing has not been read yet. */
  readonly publicIPs: ReadonlyMap<string, readonly PublicIP[]>;
  /** Those of the groups in `publicIPs` that do not exist, in lower case. Absent: none. */
  readonly missingGroups?: ReadonlySet<string>;
  /** By name; `undefined` is "read, and it isn't there", a name that is missing has not been read yet. */
  readonly subnets: ReadonlyMap<string, Subnet | undefined>;
  /** The security group of the config, which is always read; `undefined`: it isn't there. */
  readonly securityGroup: SecurityGroup | undefined;
  /** The machines behind the nodes; read only where `needsCompute` says so. */
  readonly compute?: Compute;
}
