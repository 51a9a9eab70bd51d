/** Refuses subnets outside the address space, overlapping subnets, and changes to subnets in use. */
import { contains, firstOverlap, formatAddress, parseBlock, type Block } from "../../../../shared/cidr.ts";
import type { Resource } from "../../changes.ts";
import { invalid } from "../../errors.ts";
import { keyOf } from "../../ids.ts";
import { objectsOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { childId, childrenOf, referrers } from "../../lookups.ts";
import type { PutInput } from "../../resource-type.ts";
import type { State } from "../../state.ts";
import { prefixesOf } from "../private-addresses.ts";

export function subnetsOf(body: Json): readonly Json[] {
  return objectsOf(propertiesOf(body)["subnets"]);
}

export function readBlock(id: string, prefix: string): Block {
  const block = parseBlock(prefix);
  if (!block) {
    throw invalid(
      "InvalidAddressPrefixFormat",
      `Address prefix ${prefix} of resource ${id} is not formatted correctly. It should follow CIDR notation, for example 10.0.0.0/24.`,
    );
  }
  if (block.aligned) return block;
  throw invalid(
    "InvalidCIDRNotation",
    `The address prefix ${prefix} in resource ${id} has an invalid CIDR notation. For the given prefix length, the address ` +
      `prefix should be ${formatAddress(block.family, block.first)}/${block.length}.`,
  );
}

export function checkSubnets(input: PutInput, space: readonly Block[], subnets: readonly Json[]): void {
  const blocks: Block[] = [];
  const names: string[] = [];
  for (const subnet of subnets) {
    const name = stringOf(subnet["name"]) ?? "";
    const prefixes = prefixesOf(subnet);
    const id = childId(input.id, "subnets", name);
    if (prefixes.length === 0)
      throw invalid(
        "SubnetMissingRequiredProperty",
        `Subnet ${id} is missing required property 'addressPrefix' or 'addressPrefixes'.`,
      );
    for (const prefix of prefixes) {
      const block = readBlock(id, prefix);
      checkWithin(input.id, name, space, block);
      blocks.push(block);
      names.push(name);
    }
  }
  const overlap = firstOverlap(blocks);
  if (!overlap) return;
  throw invalid(
    "NetcfgSubnetRangesOverlap",
    `Subnet '${names[overlap[1]]}' is not valid because its IP address range overlaps with that of an existing subnet in virtual network '${input.id.split("/").at(-1)}'.`,
  );
}

function checkWithin(id: string, name: string, space: readonly Block[], block: Block): void {
  const isWithin = (whole: Block): boolean =>
    contains(whole, { family: block.family, value: block.first }) &&
    contains(whole, { family: block.family, value: block.last });
  if (space.some(isWithin)) return;
  throw invalid("NetcfgInvalidSubnet", `Subnet '${name}' is not valid in virtual network '${id.split("/").at(-1)}'.`);
}

/** A subnet in use can neither be removed nor change its range; one with a private link service keeps its policy. */
export function checkChanged(state: State, before: Resource, after: Json): void {
  const kept = childrenOf(after, "subnets");
  for (const subnet of subnetsOf(before.body)) {
    const name = stringOf(subnet["name"]) ?? "";
    const next = kept.get(name.toLowerCase());
    if (!next) checkUnused(state, before, name);
    else if (prefixesOf(subnet).join() !== prefixesOf(next).join()) checkRangeUnused(state, before, name);
    if (next) checkPolicy(state, before, name, next);
  }
}

function checkRangeUnused(state: State, network: Resource, name: string): void {
  const id = childId(network.id, "subnets", name);
  const [user] = referrers(state, keyOf(id), "address");
  if (user)
    throw invalid(
      "InUsePrefixCannotBeDeleted",
      `IpPrefix of subnet ${id} is in use by ${user.from} and cannot be changed.`,
    );
}

function checkPolicy(state: State, network: Resource, name: string, subnet: Json): void {
  if (propertiesOf(subnet)["privateLinkServiceNetworkPolicies"] === "Disabled") return;
  const id = childId(network.id, "subnets", name);
  const [service] = referrers(state, keyOf(id), "privateLinkSubnet");
  if (!service) return;
  throw invalid(
    "PrivateLinkServiceNetworkPoliciesCannotBeEnabledOnPrivateLinkServiceSubnet",
    `Private link service network policies cannot be enabled on private link service subnet ${id}, used by ${service.from}.`,
  );
}

export function checkUnused(state: State, network: Resource, name: string): void {
  const id = childId(network.id, "subnets", name);
  const [user] = state.incoming.get(keyOf(id))?.values() ?? [];
  if (!user) return;
  throw invalid(
    "InUseSubnetCannotBeDeleted",
    `Subnet ${name} is in use by ${user.from} and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet.`,
  );
}
