/** Finds out where a pool member is: which machine has the address, in which subnet, behind which security groups. */
import type { Block } from "../model/addresses.ts";
import { keyOf, nameOf, parentKeyOf } from "../model/ids.ts";
import { objectOf, propertiesOf, stringOf, stringsOf, type Json } from "../model/json.ts";
import { childrenOf, referrers } from "../model/lookups.ts";
import { prefixesOf } from "../model/network/private-addresses.ts";
import { ownerKeyOf } from "../model/network/load-balancer/conflicts.ts";
import type { State } from "../model/index.ts";
import type { Place } from "./forwarding.ts";
import { blockOf, inboundRules, isInBlocks, type SecurityRule } from "./nsg-verdict.ts";

/** A place, with the address and the machine that are there. */
export interface Located {
  readonly ip: string | undefined;
  readonly node: string | undefined;
  readonly place: Place;
}

/** Where an IP configuration of a NIC or scale-set instance is. */
export function placeOfConfiguration(state: State, configurationId: string): Located {
  const owner = ownerKeyOf(configurationId);
  const address = (state.outgoing.get(owner) ?? []).find(
    (reference) => reference.kind === "address" && reference.from === configurationId,
  );
  return {
    ip: address?.address,
    node: machineName(state, owner),
    place: { nic: parentKeyOf(keyOf(configurationId)), subnet: address?.to },
  };
}

/** Where an address of a virtual network is; it need not belong to anything that Azure knows. */
export function placeOfAddress(state: State, networkId: string | undefined, ip: string): Located {
  const network = networkId === undefined ? undefined : state.resources.get(keyOf(networkId));
  if (network === undefined) return nowhere(ip, undefined);
  const subnets = [...childrenOf(network.body, "subnets")].map(([name, subnet]) => ({
    key: `${keyOf(network.id)}/subnets/${name}`,
    subnet,
  }));
  for (const { key } of subnets) {
    const holder = state.addresses.get(key)?.get(ip);
    if (holder?.includes("/ipConfigurations/")) return { ...placeOfConfiguration(state, holder), ip };
  }
  return nowhere(ip, subnets.find(({ subnet }) => isInBlocks(blocksOf(prefixesOf(subnet)), ip))?.key);
}

function nowhere(ip: string, subnet: string | undefined): Located {
  return { ip, node: undefined, place: { nic: undefined, subnet } };
}

/** The computer name of the machine that a NIC belongs to; an instance of a scale set is its own. */
function machineName(state: State, ownerKey: string): string | undefined {
  const [machine] = referrers(state, ownerKey, "virtualMachine");
  const body = state.resources.get(machine === undefined ? ownerKey : keyOf(machine.from))?.body ?? {};
  return stringOf(objectOf(propertiesOf(body)["osProfile"])["computerName"]);
}

/** The rules of every security group on the way to a place, the subnet's before the NIC's. */
export function groupsAt(state: State, { subnet, nic }: Place): (readonly SecurityRule[])[] {
  const ids = [subnet === undefined ? undefined : subnetGroup(state, subnet), nic && nicGroup(state, nic)];
  return ids.flatMap((id) => {
    const group = id === undefined ? undefined : state.resources.get(keyOf(id));
    return group === undefined ? [] : [rulesOf(group.body)];
  });
}

function subnetGroup(state: State, subnetKey: string): string | undefined {
  const network = state.resources.get(parentKeyOf(subnetKey));
  const subnet = network && childrenOf(network.body, "subnets").get(nameOf(subnetKey));
  return subnet && stringOf(objectOf(propertiesOf(subnet)["networkSecurityGroup"])["id"]);
}

/** The NIC of a machine of its own is a resource, that of a scale-set instance part of the instance. */
function nicGroup(state: State, nicKey: string): string | undefined {
  const owner = state.resources.has(nicKey) ? nicKey : parentKeyOf(nicKey);
  const references = state.outgoing.get(owner) ?? [];
  return references.find((item) => item.kind === "securityGroup" && keyOf(item.from) === nicKey)?.to;
}

/** The address space of the network that a place is in. */
export function networkAt(state: State, { subnet }: Place): readonly Block[] {
  const network = subnet === undefined ? undefined : state.resources.get(parentKeyOf(subnet));
  return blocksOf(stringsOf(objectOf(propertiesOf(network?.body ?? {})["addressSpace"])["addressPrefixes"]));
}

function blocksOf(prefixes: readonly string[]): Block[] {
  return prefixes.flatMap((prefix) => blockOf(prefix) ?? []);
}

/** Read once per version of a group: a flow asks a thousand rules at most, and reads none of them anew. */
const readRules = new WeakMap<Json, readonly SecurityRule[]>();

function rulesOf(group: Json): readonly SecurityRule[] {
  let rules = readRules.get(group);
  if (rules === undefined) {
    rules = inboundRules(group);
    readRules.set(group, rules);
  }
  return rules;
}
