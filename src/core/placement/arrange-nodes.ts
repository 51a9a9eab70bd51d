/**
 * Which of several load balancers each node belongs to. Only load balancers that exist count; a load balancer and its
 * internal counterpart have the same nodes.
 *
 *   1. the load balancer whose primary VM set the node is in
 *   2. else one whose node selector matches; if none does, one without a node selector
 *      - of several, the one that the node is in
 *      - else the one with the fewest nodes, the first of equals
 *
 * So a node moves when a load balancer that claims it comes or goes, or when its labels change; never to even out.
 */
import type { LoadBalancerConfig } from "../config/cluster-config.ts";
import { matchesSelector } from "../util/label-selector.ts";

export interface ArrangedNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `undefined`: in none, or not known. */
  readonly vmSet: string | undefined;
  /** External names, in lower case, of the load balancers whose pools hold it. */
  readonly isOn: ReadonlySet<string>;
}

/**
 * By node, the external name of its load balancer, in lower case; a node that belongs to none is missing.
 * `existing`: those of the load balancers that exist, external or internal.
 */
export function arrangeNodes(
  existing: readonly LoadBalancerConfig[],
  nodes: readonly ArrangedNode[],
): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const undecided: { readonly node: ArrangedNode; readonly eligible: readonly string[] }[] = [];
  for (const node of nodes) {
    const eligible = eligibleFor(existing, node).map(({ name }) => name.toLowerCase());
    const place = eligible.length === 1 ? eligible[0] : eligible.find((name) => node.isOn.has(name));
    if (place !== undefined) places.set(node.name, place);
    else if (eligible.length > 0) undecided.push({ node, eligible });
  }
  const counts = new Map<string, number>();
  for (const place of places.values()) counts.set(place, (counts.get(place) ?? 0) + 1);
  for (const { node, eligible } of undecided.sort((one, other) => (one.node.name < other.node.name ? -1 : 1))) {
    const count = (name: string): number => counts.get(name) ?? 0;
    const place = eligible.reduce((least, name) => (count(name) < count(least) ? name : least));
    places.set(node.name, place);
    counts.set(place, count(place) + 1);
  }
  return places;
}

function eligibleFor(existing: readonly LoadBalancerConfig[], { labels, vmSet }: ArrangedNode): LoadBalancerConfig[] {
  const primary = existing.filter(({ primaryVmSet }) => primaryVmSet.toLowerCase() === vmSet?.toLowerCase());
  if (primary.length > 0) return primary;
  const selecting = existing.filter(
    ({ nodeSelector }) => isSelective(nodeSelector) && matchesSelector(nodeSelector, labels),
  );
  return selecting.length > 0 ? selecting : existing.filter(({ nodeSelector }) => !isSelective(nodeSelector));
}

/** An empty node selector is none. */
function isSelective(
  selector: LoadBalancerConfig["nodeSelector"],
): selector is NonNullable<LoadBalancerConfig["nodeSelector"]> {
  return selector !== undefined && selector.requirements.length > 0;
}
