/**
 * Backend pools. IP members are written on the pool; NIC members are written on NICs and scale sets and only
 * appear here, so a stored pool holds its IP members, and for NIC members no more than what can be set on
 * them from this side: `adminState` and fields we do not know.
 *
 *   write of the pool          | IP members   | NIC members
 *   ---------------------------|--------------|---------------------------------------------------
 *   LB PUT                     | replaced     | untouched; what it says of a present member is kept
 *   pool PUT                   | replaced     | all must be there, unchanged but for adminState
 */
import { parseAddress } from "../../addresses.ts";
import { invalid, unreadable } from "../../errors.ts";
import { derivedGuid } from "../../guid.ts";
import { keyOf, nameOf } from "../../ids.ts";
import { isObject, objectOf, objectsOf, propertiesOf, stringOf, without, type Json } from "../../json.ts";
import { childId, childrenOf, follow, referenceId, referrers } from "../../lookups.ts";
import type { Reference } from "../../references.ts";
import type { PutInput } from "../../resource-type.ts";
import { only, storedChild, writtenProperties } from "../fields.ts";
import { duplicateName, itemsOf } from "./draft.ts";

/** Where a stored pool keeps what was set on its NIC members: key of the NIC configuration → properties. */
export const NIC_SETTINGS = "$nicMembers";

const POOL_READ_ONLY = new Set([
  "backendIPConfigurations",
  "loadBalancingRules",
  "inboundNatRules",
  "outboundRules",
  "outboundRule",
]);
const MEMBER_READ_ONLY = new Set(["inboundNatRulesPortMapping"]);
const NIC_MEMBER_READ_ONLY = new Set([
  "provisioningState",
  "inboundNatRulesPortMapping",
  "networkInterfaceIPConfiguration",
  "ipAddress",
]);
const ADMIN_STATES = new Set(["None", "Up", "Down"]);
const LAST_VERSION_WITH_DRAIN = "2022-09-01";

export interface PoolWrite {
  readonly input: PutInput;
  readonly sku: string;
  readonly tier: string;
  readonly item: Json;
  /** The pool as stored now. */
  readonly before: Json | undefined;
  /** Whether the pool itself is PUT, rather than the load balancer around it. */
  readonly alone: boolean;
}

/** Name under which a NIC configuration appears among a pool's members. */
export function nicMemberName(poolKey: string, configurationKey: string): string {
  return derivedGuid(`${poolKey}|${configurationKey}`);
}

export function poolForm(write: PoolWrite): Json {
  const { input, item } = write;
  const name = stringOf(item["name"]) ?? "";
  const id = childId(input.id, "backendAddressPools", name);
  const properties = writtenProperties(item, POOL_READ_ONLY);
  const items = itemsOf(properties["loadBalancerBackendAddresses"], "properties.loadBalancerBackendAddresses");
  const present = new Map(
    referrers(input.state, keyOf(id), "poolMember").map((member) => [keyOf(member.from), member.from]),
  );
  const names = new Map([...present.keys()].map((key) => [nicMemberName(keyOf(id), key), key]));
  const sorted = sortMembers(id, items, names);
  checkKinds(id, sorted, present);
  if (write.alone) checkNicMembersUnchanged(id, sorted.nic, present);
  const network = followNetwork(write, id, properties);
  const settings = nicSettings(write, sorted.nic, present);
  properties["loadBalancerBackendAddresses"] = ipMembers(write, id, sorted.ip, network);
  checkSize(write, id, sorted.ip.length + present.size);
  const stored = storedChild(name, without(item, new Set([NIC_SETTINGS])), properties);
  return settings.size === 0 ? stored : { ...stored, [NIC_SETTINGS]: Object.fromEntries(settings) };
}

interface SortedMembers {
  readonly ip: readonly Json[];
  /** Key of the NIC configuration → the member as written. */
  readonly nic: ReadonlyMap<string, Json>;
}

/** Which written members are NIC configurations: those that say so, and those that carry such a member's name. */
function sortMembers(poolId: string, items: readonly Json[], names: ReadonlyMap<string, string>): SortedMembers {
  const ip: Json[] = [];
  const nic = new Map<string, Json>();
  for (const item of items) {
    const reference = referenceId(
      propertiesOf(item)["networkInterfaceIPConfiguration"],
      "networkInterfaceIPConfiguration",
    );
    const key = reference === undefined ? names.get(stringOf(item["name"]) ?? "") : keyOf(reference);
    if (key === undefined) {
      // Clients drop the NIC reference, which is read-only to them: no address either means one more NIC is meant.
      const isStranger = names.size > 0 && propertiesOf(item)["ipAddress"] === undefined;
      if (isStranger) nic.set(stringOf(item["name"]) ?? "", item);
      else ip.push(item);
      continue;
    }
    if (nic.has(key)) {
      throw invalid(
        "DuplicateIpConfigurationReferenceOnBackendAddressPool",
        `Backend address pool ${poolId} references IP configuration ${reference ?? key} more than once.`,
      );
    }
    nic.set(key, item);
  }
  return { ip, nic };
}

function checkKinds(poolId: string, members: SortedMembers, present: ReadonlyMap<string, string>): void {
  if (members.ip.length === 0 || (members.nic.size === 0 && present.size === 0)) return;
  throw invalid(
    "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool",
    `Mixing backend ipconfigurations and IPAddresses in backend pool ${poolId} is not allowed.`,
  );
}

/** A pool PUT cannot add, change or drop NIC members: that is done on the NIC. */
function checkNicMembersUnchanged(
  poolId: string,
  written: ReadonlyMap<string, Json>,
  present: ReadonlyMap<string, string>,
): void {
  const poolKey = keyOf(poolId);
  const same =
    written.size === present.size &&
    [...written].every(([key, item]) => present.has(key) && stringOf(item["name"]) === nicMemberName(poolKey, key));
  if (same) return;
  throw invalid(
    "ModificationOfNICIpConfigBackendPoolNotSupported",
    `Modifying backend addresses of backend pool ${poolId} that hold NIC IP configurations is not supported. ` +
      "Update the network interface instead.",
  );
}

/** What is set on NIC members after this write; a pool PUT replaces it, an LB PUT adds to it. */
function nicSettings(
  write: PoolWrite,
  written: ReadonlyMap<string, Json>,
  present: ReadonlyMap<string, string>,
): Map<string, Json> {
  const before = objectOf(write.before?.[NIC_SETTINGS]);
  const survives = !write.alone && write.input.state.options.adminStateSurvives.nicMembers;
  const settings = new Map<string, Json>();
  for (const key of present.keys()) {
    const item = written.get(key);
    const old = objectOf(before[key]);
    const next = item ? without(propertiesOf(item), NIC_MEMBER_READ_ONLY) : { ...old };
    settleAdminState(write, next, propertiesOf(item ?? {}), survives ? old : {});
    if (Object.keys(next).length > 0) settings.set(key, next);
  }
  return settings;
}

/** `None` is not echoed; what a write leaves out stays or goes as the options say. */
function settleAdminState(
  write: PoolWrite,
  properties: { [name: string]: unknown },
  written: Json,
  survivor: Json,
): void {
  const given = written["adminState"];
  const next = given ?? survivor["adminState"];
  if (given !== undefined && given !== null) checkAdminState(write, given);
  if (next === undefined || next === null || next === "None") delete properties["adminState"];
  else properties["adminState"] = next;
}

function checkAdminState(write: PoolWrite, value: unknown): void {
  if (typeof value === "string" && ADMIN_STATES.has(value)) return;
  const version = write.input.request.query["api-version"] ?? "";
  if (value === "Drain" && version <= LAST_VERSION_WITH_DRAIN) return;
  throw unreadable(
    "InvalidJson",
    `Error converting value "${String(value)}" to an admin state. It must be None, Up or Down.`,
  );
}

/** The virtual network of the pool, if it is given there; its reference is made canonical. */
function followNetwork(write: PoolWrite, id: string, properties: { [name: string]: unknown }): string | undefined {
  const { state, location } = write.input;
  const network = follow(state, properties["virtualNetwork"], {
    owner: id,
    location,
    path: "properties.virtualNetwork",
  });
  if (network) properties["virtualNetwork"] = only(network.id);
  return network?.id;
}

function ipMembers(write: PoolWrite, poolId: string, items: readonly Json[], poolNetwork: string | undefined): Json[] {
  if (items.length > 0 && write.sku === "Basic") {
    throw invalid(
      "IPBasedBackendAddressPoolNotSupportedForBasicSku",
      `Basic sku load balancer cannot have IP addresses in backend pool ${poolId}.`,
    );
  }
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
  const properties = writtenProperties(item, MEMBER_READ_ONLY);
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
    known = only(target?.id ?? "");
    context.canonical.set(cacheKey, known);
    if (field.name === "virtualNetwork" && target) context.networks.add(target.id);
    if (field.name === "subnet" && target) context.networks.add(target.resource.id);
  }
  properties[field.name] = known;
}

/** A global load balancer's members are regional ones, wherever they are. */
function anyLocation(resources: PutInput["state"]["resources"], id: string | undefined): string | undefined {
  const key = id?.toLowerCase().replace(/\/frontendipconfigurations\/[^/]*$/, "");
  return key === undefined ? undefined : resources.get(key)?.location;
}

function checkSize(write: PoolWrite, id: string, size: number): void {
  const limits = write.input.state.options.limits;
  const limit =
    write.sku === "Basic" ? limits.basicPoolSize : write.tier === "Global" ? limits.globalPoolSize : limits.poolSize;
  if (size <= limit) return;
  throw invalid(
    "BackendAddressPoolSizeLimitReached",
    `Backend pool ${id} has ${size} members. It cannot have more than ${limit}.`,
  );
}

/** The body without what was set on a NIC member that has left. */
export function releaseMember(body: Json, reference: Reference): Json {
  if (reference.kind !== "poolMember") return body;
  const pool = childrenOf(body, "backendAddressPools").get(nameOf(reference.to));
  const settings = objectOf(pool?.[NIC_SETTINGS]);
  const key = keyOf(reference.from);
  if (!pool || !(key in settings)) return body;
  const { [NIC_SETTINGS]: _, ...bare } = pool;
  const left = without(settings, new Set([key]));
  const next = Object.keys(left).length === 0 ? bare : { ...bare, [NIC_SETTINGS]: left };
  const pools = objectsOf(propertiesOf(body)["backendAddressPools"]).map((item) => (item === pool ? next : item));
  return { ...body, properties: { ...propertiesOf(body), backendAddressPools: pools } };
}
