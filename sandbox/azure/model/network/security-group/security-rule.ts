/** One security rule: its normal form and validation. */
import { firstOverlap, parseAddress, parseBlock } from "../../../../shared/cidr.ts";
import { invalid } from "../../errors.ts";
import { numberOf, stringOf, stringsOf, type Json } from "../../json.ts";
import { storedChild, writtenProperties } from "../fields.ts";
import { isServiceTag } from "./service-tags.ts";

const PROTOCOLS = new Set(["tcp", "udp", "icmp", "esp", "ah", "*"]);
/** Tags that only a Deny rule may name. */
const DENY_ONLY = new Set(["azureplatformdns", "azureplatformimds", "azureplatformlkm"]);
const SIDES = ["source", "destination"] as const;

export function securityRuleForm(id: string, name: string, item: Json): Json {
  const properties: { [field: string]: unknown } = writtenProperties(item);
  for (const side of SIDES) {
    properties[`${side}PortRanges`] ??= [];
    properties[`${side}AddressPrefixes`] ??= [];
  }
  const priority = numberOf(properties["priority"]);
  if (priority === undefined || !Number.isInteger(priority) || priority < 100 || priority > 4096) {
    throw invalid(
      "SecurityRuleInvalidPriority",
      `Security rule ${id} has invalid Priority. Value provided: ${String(properties["priority"])} Allowed range 100-4096.`,
    );
  }
  checkWord(id, "protocol", properties["protocol"], PROTOCOLS);
  checkWord(id, "access", properties["access"], new Set(["allow", "deny"]));
  checkWord(id, "direction", properties["direction"], new Set(["inbound", "outbound"]));
  for (const side of SIDES) {
    checkAddresses(id, side, properties);
    checkPorts(id, side, properties);
  }
  return storedChild(name, item, properties);
}

function checkWord(id: string, field: string, value: unknown, allowed: ReadonlySet<string>): void {
  if (typeof value === "string" && allowed.has(value.toLowerCase())) return;
  throw invalid(
    "SecurityRuleInvalidProperty",
    `Security rule ${id} has invalid ${field} '${String(value)}'. Allowed: ${[...allowed].join(", ")}.`,
  );
}

type Side = (typeof SIDES)[number];

/** All values of a field in singular or plural form; the two are mutually exclusive. */
export function valuesOf(properties: Json, side: Side, field: "PortRange" | "AddressPrefix"): readonly string[] {
  const single = stringOf(properties[`${side}${field}`]);
  const many = stringsOf(properties[`${side}${field}${field === "PortRange" ? "s" : "es"}`]);
  return single === undefined || single === "" ? many : [single, ...many];
}

function checkAddresses(id: string, side: Side, properties: Json): void {
  const values = valuesOf(properties, side, "AddressPrefix");
  const groups = properties[`${side}ApplicationSecurityGroups`];
  if (values.length === 0 && !(Array.isArray(groups) && groups.length > 0)) {
    throw invalid(
      "SecurityRuleParameterNotSpecified",
      `Required security rule parameter is missing for security rule with Id ${id}. Security rule must specify ${side}AddressPrefix or ${side}AddressPrefixes.`,
    );
  }
  for (const value of values) {
    if (!isAddress(value)) throw badAddress(id, value);
    if (values.length > 1 && (value === "*" || isServiceTag(value))) {
      throw invalid(
        "SecurityRuleParameterContainsUnsupportedValue",
        `Security rule parameter ${side}AddressPrefixes for rule with Id ${id} cannot specify existing VIRTUALNETWORK, INTERNET, AZURELOADBALANCER, '*' or system tags. Unsupported value used: ${value}.`,
      );
    }
    if (DENY_ONLY.has(value.toLowerCase()) && String(properties["access"]).toLowerCase() === "allow") {
      throw invalid(
        "SecurityRuleInvalidAccessType",
        `Security rule ${id} has invalid access type Allow for ${value}. Only Deny is permitted.`,
      );
    }
  }
  checkOverlap(id, side, values);
}

/** An address, an aligned CIDR block, a service tag or `*`; Azure accepts a bare number too. */
function isAddress(value: string): boolean {
  if (value === "*" || isServiceTag(value) || /^\d+$/.test(value)) return true;
  if (value.includes("/")) return parseBlock(value)?.aligned ?? false;
  return parseAddress(value) !== undefined;
}

function badAddress(id: string, value: string): Error {
  return invalid(
    "SecurityRuleInvalidAddressPrefix",
    `Security rule has invalid Address prefix. Value provided: ${value}. Rule: ${id}.`,
  );
}

function checkOverlap(id: string, side: Side, values: readonly string[]): void {
  if (values.length < 2) return;
  const blocks = values.map((value) =>
    parseBlock(value.includes("/") ? value : `${value}/${value.includes(":") ? 128 : 32}`),
  );
  const known = blocks.filter((block) => block !== undefined);
  const overlap = firstOverlap(known);
  if (!overlap) return;
  throw invalid(
    "OverlappingSubnetsNotPermittedInSecurityRule",
    `Overlapping subnets ${values[overlap[0]]} and ${values[overlap[1]]} are not permitted in ${side}AddressPrefixes of security rule ${id}.`,
  );
}

function checkPorts(id: string, side: Side, properties: Json): void {
  const values = valuesOf(properties, side, "PortRange");
  if (values.length === 0) {
    throw invalid(
      "SecurityRuleParameterNotSpecified",
      `Required security rule parameter is missing for security rule with Id ${id}. Security rule must specify ${side}PortRange or ${side}PortRanges.`,
    );
  }
  for (const value of values) {
    if (!isPortRange(value) || (value === "*" && values.length > 1)) {
      throw invalid(
        "SecurityRuleInvalidPortRange",
        `Security rule has invalid Port range. Value provided: ${value}. Value should be an integer OR integer range with '-' delimiter. Valid range 0-65535.`,
      );
    }
  }
}

function isPortRange(value: string): boolean {
  if (value === "*") return true;
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(value);
  if (!match) return false;
  const [low, high] = [Number(match[1]), Number(match[2] ?? match[1])];
  return low <= high && high <= 65_535;
}
