/**
 * Who should stand in the cluster's pools of addresses. Made once for a set of nodes, however many Services ask:
 * the answer is remembered for as long as the list of nodes lives.
 */
import type { Family } from "../../model/arm.ts";
import { desiredAdminState } from "../../admin-state/desired-admin-state.ts";
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

/** Two families of a few load balancers; more would be answers that nobody asks for again. */
const MOST_REMEMBERED = 15;
const remembered = new WeakMap<
  readonly Node[],
  { input: BackendPoolInput; family: Family; made: BackendPoolFragment }[]
>();

export function desiredBackendPool(input: BackendPoolInput, family: Family): BackendPoolFragment {
  const answers = remembered.get(input.nodes) ?? [];
  const same = answers.find(
    (one) => one.family === family && one.input.known === input.known && one.input.config === input.config,
  );
  if (same !== undefined) return same.made;
  const made = makeMembership(input, family);
  remembered.set(input.nodes, [...answers.slice(-MOST_REMEMBERED), { input, family, made }]);
  return made;
}

const addresses = new WeakMap<BackendPoolFragment, readonly string[]>();

export function addressesOfMembers(fragment: BackendPoolFragment): readonly string[] {
  const known = addresses.get(fragment) ?? fragment.members.map(({ ipAddress }) => ipAddress);
  addresses.set(fragment, known);
  return known;
}

function makeMembership({ config, nodes, known }: BackendPoolInput, family: Family): BackendPoolFragment {
  return {
    pool: poolName(config.clusterName, family),
    family,
    members: nodes.flatMap((node) => memberOf(node, config, family)).sort(byName),
    own: ownEntries(nodes, known),
    virtualNetworkId: virtualNetworkId(config),
  };
}

function memberOf(node: Node, config: ClusterConfig, family: Family): MemberIntent[] {
  const ipAddress = isEligible(node, config) ? nodeAddress(node, family) : undefined;
  if (ipAddress === undefined) return [];
  const adminState = config.enableAdminState && config.sku === "standard" ? desiredAdminState(node) : undefined;
  return [{ name: node.metadata.name, ipAddress, adminState }];
}

function byName(one: MemberIntent, other: MemberIntent): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}
