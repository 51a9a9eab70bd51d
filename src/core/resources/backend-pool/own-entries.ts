/**
 * Which pool entries are the cluster's: an entry is ours if it is named after a current Node or stands in the durable
 * member list; also if it holds a current Node's address or network interface, whatever it is called (pools that Azure
 * migrated from network interfaces to addresses have such names). Anything else was put there by someone and is kept.
 */
import type { BackendAddress, Reference } from "../../model/arm.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import type { Node } from "../../model/kubernetes.ts";

/** Lower-cased names, canonical addresses and lower-cased ipConfiguration ids: what an entry is recognised by. */
export type OwnEntries = ReadonlySet<string>;

/** `known`: the durable member list; `ipConfigurations`: ids that belong to nodes, for pools of network interfaces. */
export function ownEntries(
  nodes: readonly Node[],
  known: readonly string[],
  ipConfigurations: Iterable<string> = [],
): OwnEntries {
  const own = new Set<string>();
  for (const node of nodes) {
    own.add(node.metadata.name.toLowerCase());
    for (const { type, address } of node.status.addresses ?? []) {
      if (type === "InternalIP") own.add(canonicalAddress(address));
    }
  }
  for (const name of known) own.add(name.toLowerCase());
  for (const id of ipConfigurations) own.add(id.toLowerCase());
  return own;
}

export function isOwnEntry(entry: BackendAddress, own: OwnEntries): boolean {
  const { ipAddress, networkInterfaceIPConfiguration } = entry.properties;
  return (
    own.has(entry.name.toLowerCase()) ||
    (ipAddress !== undefined && own.has(canonicalAddress(ipAddress))) ||
    (networkInterfaceIPConfiguration !== undefined && isOwnReference(networkInterfaceIPConfiguration, own))
  );
}

/** For `backendIPConfigurations`, where a pool lists the network interfaces that joined it. */
export function isOwnReference(reference: Reference, own: OwnEntries): boolean {
  return own.has(reference.id.toLowerCase());
}
