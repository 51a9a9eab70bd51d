/** Parses the IP members of a pool: valid addresses, one virtual network, canonical references. */
import { parseAddress } from "../../../../shared/cidr.ts";
import type { Resource } from "../../changes.ts";
import { invalid, unreadable } from "../../errors.ts";
import { isObject, propertiesOf, stringOf, type Json } from "../../json.ts";
import { keyOf } from "../../ids.ts";
import { childId, follow, referrers } from "../../lookups.ts";
import type { State } from "../../state.ts";
import { idReference, storedChild, writtenProperties } from "../fields.ts";
import { duplicateName, itemsOf } from "./draft.ts";
import { nameIn, stored } from "./shape.ts";
import { settleAdminState, type PoolWrite } from "./pool-write.ts";

const READ_ONLY = new Set(["inboundNatRulesPortMapping"]);

/** `poolNetwork` is the virtual network that the pool itself names. */
export function ipMembers(
  write: PoolWrite,
  poolId: string,
  items: readonly Json[],
  poolNetwork: string | undefined,
): Json[] {
  if (items.length > 0 && write.sku === "Basic") {
    throw invalid(
      "IPBasedBackendAddressPoolNotSupportedForBasicSku",
      `Basic sku load balancer cannot have IP addresses in backend pool ${poolId}.`,
    );
  }
  if (items.length > 0 && write.input.existing !== undefined)
    checkNoPrivateLink(write.input.state, write.input.existing, poolId);
  const seen = new Set<string>();
  const networks = new Set<string>(poolNetwork === undefined ? [] : [poolNetwork]);
  const canonical = new Map<string, Json>();
  const survivors = membersByName(write);
  const members = items.map((item) => ipMember(write, poolId, item, { seen, networks, canonical, survivors }));
  if (networks.size > 1) {
    throw invalid(
      "BackendAddressesMustBeInSameVirtualNetwork",
      `All IP addresses of backend pool ${poolId} must be in one virtual network; found ${[...networks].join(", ")}.`,
    );
  }
  if (items.length > 0 && networks.size === 0 && write.tier !== "Global") {
    throw invalid(
      "BackendAddressPoolMissingVirtualNetwork",
      `Backend pool ${poolId} has IP addresses but names no virtual network.`,
    );
  }
  return members;
}

/** A load balancer that a private link service stands on takes no IP members. */
export function checkNoPrivateLink(state: State, loadBalancer: Resource, poolId: string): void {
  for (const frontend of stored(loadBalancer.body, "frontendIPConfigurations")) {
    const key = keyOf(childId(loadBalancer.id, "frontendIPConfigurations", nameIn(frontend)));
    const [service] = referrers(state, key, "privateLink");
    if (service === undefined) continue;
    throw invalid(
      "PrivateLinkServiceNotSupportedWithIPBasedBackendPool",
      `Backend pool ${poolId} cannot hold IP addresses, since its load balancer is used by private link service ${service.from}.`,
    );
  }
}

function membersByName(write: PoolWrite): ReadonlyMap<string, Json> {
  if (!write.input.state.options.adminStateSurvives.ipMembers) return new Map();
  const before = itemsOf(propertiesOf(write.before ?? {})["loadBalancerBackendAddresses"], "");
  return new Map(before.map((member) => [(stringOf(member["name"]) ?? "").toLowerCase(), propertiesOf(member)]));
}

interface MemberContext {
  readonly seen: Set<string>;
  readonly networks: Set<string>;
  /** Reference as written → as returned, so that a thousand members look up one virtual network once. */
  readonly canonical: Map<string, Json>;
  readonly survivors: ReadonlyMap<string, Json>;
}

function ipMember(write: PoolWrite, poolId: string, item: Json, context: MemberContext): Json {
  const name = stringOf(item["name"]) ?? "";
  if (name === "")
    throw unreadable(
      "InvalidJson",
      "Required property 'name' not found. Path 'properties.loadBalancerBackendAddresses'.",
    );
  const key = name.toLowerCase();
  if (context.seen.has(key)) throw duplicateName(poolId, name);
  context.seen.add(key);
  const properties = writtenProperties(item, READ_ONLY);
  settleAdminState(write, properties, properties, context.survivors.get(key) ?? {});
  for (const field of MEMBER_REFERENCES) canonicalise(write, poolId, properties, field, context);
  const address = stringOf(properties["ipAddress"]);
  if (
    properties["loadBalancerFrontendIPConfiguration"] === undefined &&
    (address === undefined || !parseAddress(address))
  ) {
    throw invalid(
      "InvalidIPAddressFormat",
      `IP address ${String(properties["ipAddress"])} of backend address ${name} in pool ${poolId} is not a valid address.`,
    );
  }
  return storedChild(name, item, properties);
}

const MEMBER_REFERENCES = [
  { name: "virtualNetwork", child: undefined },
  { name: "subnet", child: "subnets" },
  { name: "loadBalancerFrontendIPConfiguration", child: "frontendIPConfigurations" },
] as const;

function canonicalise(
  write: PoolWrite,
  poolId: string,
  properties: { [name: string]: unknown },
  field: (typeof MEMBER_REFERENCES)[number],
  context: MemberContext,
): void {
  const value = properties[field.name];
  if (value === undefined || value === null) {
    delete properties[field.name];
    return;
  }
  const written = isObject(value) ? stringOf(value["id"]) : undefined;
  const cacheKey = `${field.name}|${written}`;
  let known = context.canonical.get(cacheKey);
  if (!known) {
    const { state, location } = write.input;
    const elsewhere =
      field.name === "loadBalancerFrontendIPConfiguration" ? anyLocation(state.resources, written) : undefined;
    const rule = { owner: poolId, location: elsewhere ?? location, path: field.name };
    const target = follow(state, value, field.child === undefined ? rule : { ...rule, child: field.child });
    known = idReference(target?.id ?? "");
    context.canonical.set(cacheKey, known);
    if (field.name === "virtualNetwork" && target) context.networks.add(target.id);
    if (field.name === "subnet" && target) context.networks.add(target.resource.id);
  }
  properties[field.name] = known;
}

/** The members of a global load balancer may be in any region. */
function anyLocation(resources: State["resources"], id: string | undefined): string | undefined {
  const key = id?.toLowerCase().replace(/\/frontendipconfigurations\/[^/]*$/, "");
  return key === undefined ? undefined : resources.get(key)?.location;
}
