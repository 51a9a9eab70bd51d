/** The virtual network type, and the form of its subnets. `subnet-checks.ts` validates their ranges and their removal. */
import { contains, parseAddress } from "../../../../shared/cidr.ts";
import type { Resource } from "../../changes.ts";
import { invalid } from "../../errors.ts";
import { etagOf } from "../../etags.ts";
import { keyOf } from "../../ids.ts";
import { objectOf, propertiesOf, stringOf, stringsOf, type Json } from "../../json.ts";
import { childId, childrenOf, follow, referrers } from "../../lookups.ts";
import { checkName } from "../../names.ts";
import type { Plan, PutInput, ResourceType } from "../../resource-type.ts";
import type { State } from "../../state.ts";
import { checkCount } from "../counts.ts";
import { envelope, idReference, renderChild, storedChild, topLevel, writtenProperties } from "../fields.ts";
import { duplicateName, itemsOf } from "../load-balancer/draft.ts";
import { blocksOf, isUsable, Reservations } from "../private-addresses.ts";
import { subnetsOf, readBlock, checkSubnets, checkChanged, checkUnused } from "./subnet-checks.ts";

const SUBNET_READ_ONLY = new Set([
  "ipConfigurations",
  "ipConfigurationProfiles",
  "privateEndpoints",
  "purpose",
  "resourceNavigationLinks",
]);
const SUBNET_DEFAULTS = {
  delegations: [],
  privateEndpointNetworkPolicies: "Disabled",
  privateLinkServiceNetworkPolicies: "Enabled",
} as const;
const NETWORK_DEFAULTS = {
  privateEndpointVNetPolicies: "Disabled",
  virtualNetworkPeerings: [],
  enableDdosProtection: false,
} as const;

function form(input: PutInput, body: Json): Json {
  const properties: { [name: string]: unknown } = { ...NETWORK_DEFAULTS, ...writtenProperties(body) };
  const seen = new Set<string>();
  properties["subnets"] = itemsOf(properties["subnets"], "properties.subnets").map((item) => {
    const name = stringOf(item["name"]) ?? "";
    checkName("network", name);
    if (seen.has(name.toLowerCase())) throw duplicateName(input.id, name);
    seen.add(name.toLowerCase());
    return subnetForm(input, name, item);
  });
  return { ...topLevel(body), properties };
}

function subnetForm(input: PutInput, name: string, item: Json): Json {
  const id = childId(input.id, "subnets", name);
  const properties: { [field: string]: unknown } = { ...SUBNET_DEFAULTS, ...writtenProperties(item, SUBNET_READ_ONLY) };
  const rule = { owner: id, location: input.location, path: "properties.networkSecurityGroup" };
  const group = follow(input.state, properties["networkSecurityGroup"], rule);
  if (group) properties["networkSecurityGroup"] = idReference(group.id);
  else delete properties["networkSecurityGroup"];
  return storedChild(name, item, properties);
}

function planOf(input: PutInput, body: Json): Plan {
  const { limits } = input.state.options;
  checkCount(input, {
    limit: limits.virtualNetworks,
    code: "VirtualNetworkCountLimitReached",
    what: "virtual networks",
  });
  const space = stringsOf(objectOf(propertiesOf(body)["addressSpace"])["addressPrefixes"]);
  const blocks = space.map((prefix) => readBlock(input.id, prefix));
  const subnets = subnetsOf(body);
  if (subnets.length > limits.subnetsPerVirtualNetwork) {
    throw invalid(
      "SubnetCountLimitReached",
      `Virtual network ${input.id} has ${subnets.length} subnets. It cannot have more than ${limits.subnetsPerVirtualNetwork}.`,
    );
  }
  checkSubnets(input, blocks, subnets);
  if (input.existing) checkChanged(input.state, input.existing, body);
  return { body, assigned: {}, pace: "later" };
}

/** Whether an address is free; if not, suggests free ones. */
function availability(state: State, network: Resource, address: string): Json {
  const parsed = parseAddress(address);
  for (const [name, subnet] of childrenOf(network.body, "subnets")) {
    const key = `${keyOf(network.id)}/subnets/${name}`;
    const block = blocksOf(subnet).find((candidate) => parsed && contains(candidate, parsed));
    if (!block) continue;
    const target = { id: key, key, resource: network, child: subnet };
    const reservations = new Reservations();
    const free = Array.from({ length: SUGGESTIONS }, () => reservations.firstFree(state, target, block));
    const available = isUsable(block, address) && !state.addresses.get(key)?.has(address);
    return {
      available,
      ...(!available && { availableIPAddresses: free.filter((item) => item !== undefined) }),
      isPlatformReserved: false,
    };
  }
  throw invalid(
    "PrivateIPAddressNotInAnySubnet",
    `Private IP address ${address} does not belong to any subnet of ${network.id}.`,
  );
}

const SUGGESTIONS = 5;

function render(state: State, resource: Resource): Json {
  const etag = etagOf(resource);
  const { subnets: _, ...properties } = propertiesOf(resource.body);
  const subnets = subnetsOf(resource.body).map((subnet) => {
    const key = keyOf(childId(resource.id, "subnets", stringOf(subnet["name"]) ?? ""));
    const users = referrers(state, key, "address").map((user) => idReference(user.from));
    return renderChild(resource, etag, "subnets", subnet, users.length > 0 ? { ipConfigurations: users } : {});
  });
  return envelope(resource, { ...properties, subnets });
}

export const virtualNetwork: ResourceType = {
  type: "Microsoft.Network/virtualNetworks",
  operation: "VirtualNetwork",
  nameRule: "virtualNetwork",
  children: [
    {
      collection: "subnets",
      operation: "Subnet",
      nameRule: "network",
      put: (input) => subnetForm(input, input.name, input.body),
    },
  ],
  deleteStatus: 202,
  plan: (input, body) => planOf(input, form(input, body)),
  planChild: planOf,
  references: (resource) =>
    subnetsOf(resource.body).flatMap((subnet) => {
      const group = stringOf(objectOf(propertiesOf(subnet)["networkSecurityGroup"])["id"]);
      if (group === undefined) return [];
      return [
        {
          kind: "securityGroup" as const,
          from: childId(resource.id, "subnets", stringOf(subnet["name"]) ?? ""),
          to: keyOf(group),
        },
      ];
    }),
  render,
  view: (state, resource, path, request) =>
    path.length === 1 && path[0]?.toLowerCase() === "checkipaddressavailability"
      ? { one: availability(state, resource, request.query["ipAddress"] ?? "") }
      : undefined,
  checkDelete: (state, resource) => {
    for (const subnet of subnetsOf(resource.body)) checkUnused(state, resource, stringOf(subnet["name"]) ?? "");
    const [user] = state.incoming.get(keyOf(resource.id))?.values() ?? [];
    if (user)
      throw invalid(
        "InUseVirtualNetworkCannotBeDeleted",
        `Virtual network ${resource.id} is in use by ${user.from} and cannot be deleted.`,
      );
  },
};
