/** Normal forms of load-balancing, NAT and outbound rules and of NAT pools: defaults, canonical references, validation. */
import { invalid } from "../../errors.ts";
import { numberOf, stringOf, type Json } from "../../json.ts";
import { childId } from "../../lookups.ts";
import { idReference, storedChild, writtenProperties } from "../fields.ts";
import { innerId, itemsOf, type Collection, type Draft } from "./draft.ts";

const SHARED_DEFAULTS = {
  enableFloatingIP: false,
  idleTimeoutInMinutes: 4,
  enableDestinationServiceEndpoint: false,
  enableTcpReset: false,
  allowBackendPortConflict: false,
} as const;
const RULE_DEFAULTS = { ...SHARED_DEFAULTS, loadDistribution: "Default", disableOutboundSnat: false } as const;
const NAT_DEFAULTS = { frontendPort: 0, ...SHARED_DEFAULTS } as const;
const OUTBOUND_DEFAULTS = { allocatedOutboundPorts: 0, enableTcpReset: false, idleTimeoutInMinutes: 4 } as const;
const NAT_READ_ONLY = new Set(["backendIPConfiguration"]);
const IDLE_MINUTES = { min: 4, max: 100 } as const;

type Fields = { [name: string]: unknown };

function withDefaults(properties: Fields, defaults: Json): Fields {
  for (const name in defaults) properties[name] ??= defaults[name];
  return properties;
}

function refer(draft: Draft, properties: Fields, field: string, collection: Collection, owner: string): void {
  const id = innerId(draft, properties[field], collection, owner);
  if (id === undefined) delete properties[field];
  else properties[field] = idReference(id);
}

export function ruleForm(draft: Draft, item: Json): Json {
  const name = stringOf(item["name"]) ?? "";
  const id = childId(draft.input.id, "loadBalancingRules", name);
  const properties = withDefaults(writtenProperties(item), RULE_DEFAULTS);
  refer(draft, properties, "frontendIPConfiguration", "frontendIPConfigurations", id);
  refer(draft, properties, "probe", "probes", id);
  const pools = poolsOf(draft, properties, id);
  if (pools.length > 0) {
    properties["backendAddressPool"] = pools[0];
    properties["backendAddressPools"] = pools;
  } else {
    delete properties["backendAddressPool"];
    delete properties["backendAddressPools"];
  }
  requireFrontend(properties, id);
  checkPort(id, "frontendPort", properties["frontendPort"], 0, 65_534);
  checkPort(id, "backendPort", properties["backendPort"], 0, 65_535);
  checkAnyPort(id, properties);
  checkIdle(id, properties);
  return storedChild(name, item, properties);
}

/** The pools of a rule in singular or plural form; the plural field wins. */
function poolsOf(draft: Draft, properties: Fields, owner: string): Json[] {
  const plural = itemsOf(
    properties["backendAddressPools"],
    "properties.loadBalancingRules[].properties.backendAddressPools",
  );
  const values = plural.length > 0 ? plural : [properties["backendAddressPool"]];
  const ids = values.map((value) => innerId(draft, value, "backendAddressPools", owner));
  return ids.filter((id) => id !== undefined).map(idReference);
}

export function natRuleForm(draft: Draft, item: Json): Json {
  const name = stringOf(item["name"]) ?? "";
  const id = childId(draft.input.id, "inboundNatRules", name);
  const properties = withDefaults(writtenProperties(item, NAT_READ_ONLY), NAT_DEFAULTS);
  refer(draft, properties, "frontendIPConfiguration", "frontendIPConfigurations", id);
  refer(draft, properties, "backendAddressPool", "backendAddressPools", id);
  properties["protocol"] ??= "Tcp";
  requireFrontend(properties, id);
  checkPort(id, "frontendPort", properties["frontendPort"], 0, 65_534);
  checkPort(id, "backendPort", properties["backendPort"], 1, 65_535);
  checkIdle(id, properties);
  return storedChild(name, item, properties);
}

export function natPoolForm(draft: Draft, item: Json): Json {
  const name = stringOf(item["name"]) ?? "";
  const id = childId(draft.input.id, "inboundNatPools", name);
  const properties = withDefaults(writtenProperties(item), SHARED_DEFAULTS);
  refer(draft, properties, "frontendIPConfiguration", "frontendIPConfigurations", id);
  requireFrontend(properties, id);
  return storedChild(name, item, properties);
}

export function outboundRuleForm(draft: Draft, item: Json): Json {
  const name = stringOf(item["name"]) ?? "";
  const id = childId(draft.input.id, "outboundRules", name);
  const properties = withDefaults(writtenProperties(item), OUTBOUND_DEFAULTS);
  const frontends = itemsOf(
    properties["frontendIPConfigurations"],
    "properties.outboundRules[].properties.frontendIPConfigurations",
  );
  properties["frontendIPConfigurations"] = frontends.map((value) =>
    idReference(innerId(draft, value, "frontendIPConfigurations", id) ?? ""),
  );
  refer(draft, properties, "backendAddressPool", "backendAddressPools", id);
  checkIdle(id, properties);
  return storedChild(name, item, properties);
}

function requireFrontend(properties: Fields, id: string): void {
  if (properties["frontendIPConfiguration"] !== undefined) return;
  throw invalid(
    "LoadBalancingRuleMissingFrontendIPConfiguration",
    `Rule ${id} must reference a frontend IP configuration.`,
  );
}

function checkPort(id: string, field: string, value: unknown, min: number, max: number): void {
  const port = numberOf(value);
  if (port !== undefined && Number.isInteger(port) && port >= min && port <= max) return;
  throw invalid(
    "InvalidRulePort",
    `Rule ${id} has ${field} ${String(value)}. It must be a number from ${min} to ${max}.`,
  );
}

/** Port 0 means any port: both ports, protocol All. All with a port is every protocol on that port. */
function checkAnyPort(id: string, properties: Fields): void {
  const zeros = [properties["frontendPort"], properties["backendPort"]].filter((port) => port === 0).length;
  if (zeros === 0 || (zeros === 2 && properties["protocol"] === "All")) return;
  throw invalid("InvalidRulePort", `Rule ${id}: port 0 stands for all ports, and needs both ports 0 and protocol All.`);
}

function checkIdle(id: string, properties: Fields): void {
  const minutes = numberOf(properties["idleTimeoutInMinutes"]);
  if (minutes !== undefined && minutes >= IDLE_MINUTES.min && minutes <= IDLE_MINUTES.max) return;
  throw invalid(
    "InvalidIdleTimeout",
    `Rule ${id} has idleTimeoutInMinutes ${String(properties["idleTimeoutInMinutes"])}. It must be between ${IDLE_MINUTES.min} and ${IDLE_MINUTES.max}.`,
  );
}
