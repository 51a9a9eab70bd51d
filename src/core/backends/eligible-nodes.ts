/**
 * Which nodes belong in the pools. Readiness does not count: health probes cover it. Nor do the taints that drain a
 * node: it stays in the pool, with its admin state Down.
 *
 *   kept out                                                      | pools of addresses | pools of interfaces
 *   --------------------------------------------------------------|--------------------|-------------------------------
 *   being deleted                                                 | yes                | yes
 *   label exclude-from-external-load-balancers, unless it is false| yes                | yes
 *   taint ToBeDeletedByClusterAutoscaler                          | yes                | yes
 *   label kubernetes.azure.com/managed=false                      | yes                | yes
 *   control plane                                                 | yes                | Standard and excludeMasterFromStandardLB
 *   label kubernetes.azure.com/resource-group of another group    | no                 | yes
 *   no InternalIP of the family                                   | yes                | (its interface decides)
 */
import type { Family } from "../model/arm.ts";
import { canonicalAddress, familyOf } from "../util/cidr.ts";
import { memo } from "../util/memo.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Node } from "../model/kubernetes.ts";
import { machineOf } from "./machines.ts";

const EXCLUDE_LABEL = "node.kubernetes.io/exclude-from-external-load-balancers";
const AUTOSCALER_TAINT = "ToBeDeletedByClusterAutoscaler";
const MANAGED_LABEL = "kubernetes.azure.com/managed";
const GROUP_LABEL = "kubernetes.azure.com/resource-group";
const CONTROL_PLANE_LABELS = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];
/** The spellings of false in Kubernetes; any other value excludes the node. */
const FALSE = new Set(["0", "f", "F", "false", "False", "FALSE"]);

type PoolConfig = Pick<ClusterConfig, "poolType" | "sku" | "excludeMasterFromStandardLB" | "resourceGroup">;
type ComputeConfig = Pick<ClusterConfig, "poolType" | "sku" | "loadBalancers" | "migratesPools">;

/** Whether decisions need to read the machines: their network interfaces, or the VM set of a node. */
export function needsCompute(
  { poolType, sku, loadBalancers, migratesPools }: ComputeConfig,
  nodes: readonly Node[],
): boolean {
  if (poolType === "nodeIPConfiguration" || sku === "basic" || migratesPools) return true;
  return loadBalancers.length > 0 && hasVirtualMachines(nodes);
}

const hasVirtualMachines = memo((nodes: readonly Node[]): boolean =>
  nodes.some((node) => machineOf(node)?.kind === "virtualMachine"),
);

export function isEligible(node: Node, config: PoolConfig): boolean {
  const labels = node.metadata.labels ?? {};
  return (
    node.metadata.deletionTimestamp === undefined &&
    !isExcluded(labels[EXCLUDE_LABEL]) &&
    !(node.spec.taints ?? []).some(({ key }) => key === AUTOSCALER_TAINT) &&
    labels[MANAGED_LABEL]?.toLowerCase() !== "false" &&
    !(keepsControlPlaneOut(config) && isControlPlane(node)) &&
    (config.poolType === "nodeIP" || isInGroup(labels[GROUP_LABEL], config.resourceGroup))
  );
}

function isExcluded(label: string | undefined): boolean {
  return label !== undefined && !FALSE.has(label);
}

export function isControlPlane(node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  return CONTROL_PLANE_LABELS.some((label) => label in labels) || labels["kubernetes.io/role"] === "master";
}

function keepsControlPlaneOut({ poolType, sku, excludeMasterFromStandardLB }: PoolConfig): boolean {
  return poolType === "nodeIP" || (sku === "standard" && excludeMasterFromStandardLB);
}

function isInGroup(label: string | undefined, resourceGroup: string): boolean {
  return label === undefined || label.toLowerCase() === resourceGroup.toLowerCase();
}

/** Why the pool of a family has no member, and the fix, for an event. */
export function whyNoMembers(nodes: readonly Node[], config: PoolConfig, family: Family): string {
  if (nodes.length === 0) return "the cluster has no nodes; add some";
  const eligible = nodes.filter((node) => isEligible(node, config));
  if (eligible.length > 0) {
    return `no node that may serve has an InternalIP of that family; give them one, or leave ${family} out of spec.ipFamilies`;
  }
  return (
    "all nodes are kept out of load balancers; add others, or look at their labels " +
    `(${EXCLUDE_LABEL}, ${MANAGED_LABEL}, node-role.kubernetes.io/control-plane) and taints (${AUTOSCALER_TAINT})`
  );
}

/** The node's first InternalIP of the family. */
export function nodeAddress(node: Node, family: Family): string | undefined {
  const internal = (node.status.addresses ?? []).filter(({ type }) => type === "InternalIP");
  return internal.find(({ address }) => familyOf(address) === family)?.address;
}

/** Every address of every node, canonically spelt, with the node that has it. */
export const nodeAddresses = memo(
  (nodes: readonly Node[]): ReadonlyMap<string, Node> =>
    new Map(
      nodes.flatMap((node) =>
        (node.status.addresses ?? [])
          .filter(({ address }) => familyOf(address) !== undefined)
          .map(({ address }) => [canonicalAddress(address), node] as const),
      ),
    ),
);
