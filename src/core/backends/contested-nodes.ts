/**
 * Nodes that say they have the same address or the same machine. Each stands in a pool once, so that the taints of one
 * Node decide about it and no two take turns.
 *
 *   two Nodes have the same | in the pool is
 *   ------------------------|------------------------------------------------------------------------------------
 *   InternalIP              | the one whose entry is there already (`merge-backend-pool.ts`), else the oldest
 *   machine (providerID)    | the oldest: a providerID cannot be changed
 *
 * So no Node takes over the entry of another by what it says about itself. Nodes in deletion don't count.
 */
import type { Family } from "../model/arm.ts";
import { ageOf, type Node } from "../model/kubernetes.ts";
import { canonicalAddress } from "../util/cidr.ts";
import { memo } from "../util/memo.ts";
import { nodeAddress } from "./eligible-nodes.ts";
import { machineOf } from "./machines.ts";

/** By address, canonically spelt: the Nodes that have it, oldest first, where there are several. */
export const contestedAddresses = memo((nodes: readonly Node[]) => contested(nodes, addressesOf));

const contestedMachines = memo((nodes: readonly Node[]) => contested(nodes, machinesOf));

/** Without those whose machine an older Node has. */
export const nodesOfMachines = memo((nodes: readonly Node[]): readonly Node[] => {
  const younger = new Set([...contestedMachines(nodes).values()].flatMap((sharers) => sharers.slice(1)));
  return younger.size === 0 ? nodes : nodes.filter((node) => !younger.has(node));
});

export interface NodeConflict {
  readonly node: Node;
  /** What it has in common with which others, and the fix. */
  readonly message: string;
}

/** One for each Node that shares what it has with another. */
export function nodeConflicts(nodes: readonly Node[]): NodeConflict[] {
  const about = (what: string, rule: string) => (sharers: readonly Node[], value: string) =>
    sharers.map((node) => {
      const others = sharers.filter((other) => other !== node).map(({ metadata }) => metadata.name);
      const message = `${what} ${value} is also that of node ${others.join(", ")}: ${rule}. Correct or delete the wrong Node`;
      return { node, message };
    });
  const addresses = about("InternalIP", "load balancers have it once, for the node that they had it for first");
  const machines = about("providerID", "load balancers have the machine once, for the oldest of these nodes");
  return [
    ...[...contestedAddresses(nodes)].flatMap(([address, sharers]) => addresses(sharers, address)),
    ...[...contestedMachines(nodes)].flatMap(([id, sharers]) => machines(sharers, id)),
  ];
}

const FAMILIES: readonly Family[] = ["IPv4", "IPv6"];

function addressesOf(node: Node): string[] {
  return FAMILIES.flatMap((family) => nodeAddress(node, family) ?? []).map(canonicalAddress);
}

function machinesOf(node: Node): string[] {
  return [machineOf(node)?.id.toLowerCase() ?? []].flat();
}

function contested(
  nodes: readonly Node[],
  valuesOf: (node: Node) => readonly string[],
): ReadonlyMap<string, readonly Node[]> {
  const byValue = new Map<string, Node[]>();
  for (const node of nodes.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
    for (const value of valuesOf(node)) {
      const sharers = byValue.get(value);
      if (sharers === undefined) byValue.set(value, [node]);
      else sharers.push(node);
    }
  }
  const several = [...byValue].filter(([, sharers]) => sharers.length > 1);
  return new Map(several.map(([value, sharers]) => [value, sharers.sort(byAge)]));
}

function byAge(one: Node, other: Node): number {
  return ageOf(one) < ageOf(other) ? -1 : 1;
}
