/**
 * Which nodes should be in the cluster's pools of addresses. Made once for a set of nodes, however many Services ask:
 * the answer is remembered for as long as the list of nodes lives.
 */
import { memo, memoAll } from "../../util/memo.ts";
import type { Family } from "../../model/arm.ts";
import { desiredAdminState } from "../../admin-state/reconcile-admin-state.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { virtualNetworkId } from "../../model/ids.ts";
import type { Node } from "../../model/kubernetes.ts";
import { poolName } from "../../model/names.ts";
import { isEligible, nodeAddress } from "../../backends/eligible-nodes.ts";
import type { MemberIntent, BackendPoolFragment } from "./fragment.ts";
import { ownEntries } from "./own-entries.ts";

export interface BackendPoolInput {
  readonly config: ClusterConfig;
  readonly nodes: readonly Node[];
  /** The durable member list of the load balancer. */
  readonly known: readonly string[];
}

export function desiredBackendPool({ config, nodes, known }: BackendPoolInput, family: Family): BackendPoolFragment {
  return DESIRED[family](config, nodes, known);
}

/** Once for all Services of a load balancer. */
const DESIRED = { IPv4: desiredOf("IPv4"), IPv6: desiredOf("IPv6") };

function desiredOf(family: Family) {
  return memoAll((config: ClusterConfig, nodes: readonly Node[], known: readonly string[]): BackendPoolFragment => ({
    pool: poolName(config.clusterName, family),
    family,
    members: nodes.flatMap((node) => memberOf(node, config, family)).sort(byName),
    own: ownEntries(nodes, known),
    virtualNetworkId: virtualNetworkId(config),
  }));
}

export const addressesOfMembers = memo((fragment: BackendPoolFragment): readonly string[] =>
  fragment.members.map(({ ipAddress }) => ipAddress),
);

function memberOf(node: Node, config: ClusterConfig, family: Family): MemberIntent[] {
  const ipAddress = isEligible(node, config) ? nodeAddress(node, family) : undefined;
  if (ipAddress === undefined) return [];
  const adminState = config.enableAdminState && config.sku === "standard" ? desiredAdminState(node) : undefined;
  return [{ name: node.metadata.name, ipAddress, adminState }];
}

function byName(one: MemberIntent, other: MemberIntent): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}
