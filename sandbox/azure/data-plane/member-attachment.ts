/** Resolves a pool member in the state: its machine, its subnet, and the security groups in front of it. */
import type { Block } from "../../shared/cidr.ts";
import { keyOf, nameOf, parentKeyOf } from "../model/ids.ts";
import { objectOf, propertiesOf, stringOf, stringsOf, type Json } from "../model/json.ts";
import { childrenOf, referrers } from "../model/lookups.ts";
import { prefixesOf } from "../model/network/private-addresses.ts";
import { ownerKeyOf } from "../model/network/load-balancer/conflicts.ts";
import type { State } from "../model/index.ts";
import type { Attachment } from "./forwarding.ts";
import { blockOf, inboundRules, isInBlocks, type SecurityRule } from "./security-rules.ts";

/** An address with its machine and its network attachment, where known. */
export interface ResolvedAddress {
  readonly ip: string | undefined;
  readonly node: string | undefined;
  readonly attachment: Attachment;
}

/** Resolves an IP configuration of a NIC or scale-set instance. */
export function resolveConfiguration(state: State, configurationId: string): ResolvedAddress {
  const owner = ownerKeyOf(configurationId);
  const address = (state.outgoing.get(owner) ?? []).find(
    (reference) => reference.kind === "address" && reference.from === configurationId,
  );
  return {
    ip: address?.address,
    node: machineName(state, owner),
    attachment: { nic: parentKeyOf(keyOf(configurationId)), subnet: address?.to },
  };
}

/** Resolves an address of a virtual network; no resource needs to hold it. */
export function resolveAddress(state: State, networkId: string | undefined, ip: string): ResolvedAddress {
  const network = networkId === undefined ? undefined : state.resources.get(keyOf(networkId));
  if (network === undefined) return unattached(ip, undefined);
  const subnets = [...childrenOf(network.body, "subnets")].map(([name, subnet]) => ({
    key: `${keyOf(network.id)}/subnets/${name}`,
    subnet,
  }));
  for (const { key } of subnets) {
    const holder = state.addresses.get(key)?.get(ip);
    if (holder?.includes("/ipConfigurations/")) return { ...resolveConfiguration(state, holder), ip };
  }
  return unattached(ip, subnets.find(({ subnet }) => isInBlocks(blocksOf(prefixesOf(subnet)), ip))?.key);
}

function unattached(ip: string, subnet: string | undefined): ResolvedAddress {
  return { ip, node: undefined, attachment: { nic: undefined, subnet } };
}

/** The computer name of the machine that a NIC belongs to; an instance of a scale set is its own. */
function machineName(state: State, ownerKey: string): string | undefined {
  const [machine] = referrers(state, ownerKey, "virtualMachine");
  const body = state.resources.get(machine === undefined ? ownerKey : keyOf(machine.from))?.body ?? {};
  return stringOf(objectOf(propertiesOf(body)["osProfile"])["computerName"]);
}

/** The rules of every security group in front of an attachment, the subnet's before the NIC's. */
export function securityRulesOf(state: State, { subnet, nic }: Attachment): (readonly SecurityRule[])[] {
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

/** A VM's NIC is a resource of its own; a scale-set instance's NIC is part of the instance. */
function nicGroup(state: State, nicKey: string): string | undefined {
  const owner = state.resources.has(nicKey) ? nicKey : parentKeyOf(nicKey);
  const references = state.outgoing.get(owner) ?? [];
  return references.find((item) => item.kind === "securityGroup" && keyOf(item.from) === nicKey)?.to;
}

/** The address space of the attachment's virtual network. */
export function addressSpaceOf(state: State, { subnet }: Attachment): readonly Block[] {
  const network = subnet === undefined ? undefined : state.resources.get(parentKeyOf(subnet));
  return blocksOf(stringsOf(objectOf(propertiesOf(network?.body ?? {})["addressSpace"])["addressPrefixes"]));
}

function blocksOf(prefixes: readonly string[]): Block[] {
  return prefixes.flatMap((prefix) => blockOf(prefix) ?? []);
}

/** Parsed rules, cached per version of a group: a group may have a thousand rules, and every flow evaluates them. */
const readRules = new WeakMap<Json, readonly SecurityRule[]>();

function rulesOf(group: Json): readonly SecurityRule[] {
  let rules = readRules.get(group);
  if (rules === undefined) {
    rules = inboundRules(group);
    readRules.set(group, rules);
  }
  return rules;
}
