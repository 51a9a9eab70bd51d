/** Public IP prefixes: blocks of addresses for public IPs and frontends. */
import { formatAddress, parseBlock } from "../../../shared/cidr.ts";
import type { Resource } from "../changes.ts";
import { invalid } from "../errors.ts";
import { keyOf } from "../ids.ts";
import { numberOf, propertiesOf, stringOf, type Json } from "../json.ts";
import { referrers, type Target } from "../lookups.ts";
import type { Plan, PutInput, ResourceType } from "../resource-type.ts";
import type { State } from "../state.ts";
import { checkZones, envelope, idReference, skuOf, topLevel, writtenProperties } from "./fields.ts";

const READ_ONLY = new Set(["ipPrefix", "publicIPAddresses", "loadBalancerFrontendIpConfiguration"]);
/** Blocks that no network routes: 240.0.0.0/5 is reserved, 2001:db8:2::/48 is for documentation. */
const IPV4_BASE = 0xf0000000n;
const IPV6_BASE = 0x20010db80002n << 80n;
/** Distance between prefixes: the largest prefix that limits allow. */
const STRIDE_BITS = 8n;

function plan(input: PutInput, body: Json): Plan {
  const sku = skuOf(body, "Standard");
  const properties: { [name: string]: unknown } = {
    publicIPAddressVersion: "IPv4",
    ipTags: [],
    ...writtenProperties(body, READ_ONLY),
  };
  const stored = { ...topLevel(body), sku, properties };
  checkZones(input.id, input.existing?.body, stored);
  const length = lengthOf(input, properties);
  return { body: stored, assigned: input.existing?.assigned ?? assign(input, properties, length), pace: "later" };
}

function lengthOf(input: PutInput, properties: Json): number {
  const ipv6 = properties["publicIPAddressVersion"] === "IPv6";
  const { limits } = input.state.options;
  const length = numberOf(properties["prefixLength"]);
  const [shortest, longest] = ipv6 ? [limits.shortestPublicPrefixIpv6, 127] : [limits.shortestPublicPrefixIpv4, 31];
  if (length === undefined || length < shortest || length > longest) {
    throw invalid(
      "PublicIpPrefixLengthNotAllowed",
      `Public IP prefix ${input.id} has prefixLength ${String(properties["prefixLength"])}. It must be from ${shortest} to ${longest}.`,
    );
  }
  const before = input.existing && numberOf(propertiesOf(input.existing.body)["prefixLength"]);
  if (before !== undefined && before !== length) {
    throw invalid(
      "PublicIpPrefixLengthCannotBeChanged",
      `Public IP prefix ${input.id} has prefixLength ${before}, which cannot be changed.`,
    );
  }
  return length;
}

function assign(input: PutInput, properties: Json, length: number): Json {
  const offset = BigInt(input.sequence) << STRIDE_BITS;
  const ipv6 = properties["publicIPAddressVersion"] === "IPv6";
  return {
    ipPrefix: `${ipv6 ? formatAddress(6, IPV6_BASE + offset) : formatAddress(4, IPV4_BASE + offset)}/${length}`,
  };
}

/** The first address of a prefix that no public IP has. */
export function addressInPrefix(state: State, prefix: Target): string {
  const block = parseBlock(stringOf(prefix.resource.assigned["ipPrefix"]) ?? "");
  if (!block) throw new Error(`${prefix.id} has no prefix`);
  const users = referrers(state, prefix.key, "publicIpPrefix");
  const taken = new Set(users.map((user) => state.resources.get(keyOf(user.from))?.assigned["ipAddress"]));
  for (let value = block.first; value <= block.last; value++) {
    const address = formatAddress(block.family, value);
    if (!taken.has(address)) return address;
  }
  throw invalid("PublicIpPrefixOutOfIpAddresses", `Public IP prefix ${prefix.id} has no free address left.`);
}

function render(state: State, resource: Resource): Json {
  const key = keyOf(resource.id);
  const addresses = referrers(state, key, "publicIpPrefix").map((user) => idReference(user.from));
  const [frontend] = referrers(state, key, "frontendPrefix");
  return envelope(resource, {
    ...(resource.provisioned && { ipPrefix: resource.assigned["ipPrefix"] }),
    ...propertiesOf(resource.body),
    ...(addresses.length > 0 && { publicIPAddresses: addresses }),
    ...(frontend && { loadBalancerFrontendIpConfiguration: idReference(frontend.from) }),
  });
}

export const publicIpPrefix: ResourceType = {
  type: "Microsoft.Network/publicIPPrefixes",
  operation: "PublicIpPrefix",
  nameRule: "network",
  children: [],
  deleteStatus: 202,
  plan,
  references: () => [],
  render,
  checkDelete: (state, resource) => {
    const key = keyOf(resource.id);
    const [user] = [...referrers(state, key, "publicIpPrefix"), ...referrers(state, key, "frontendPrefix")];
    if (!user) return;
    throw invalid(
      "InUsePublicIpPrefixCannotBeDeleted",
      `Public IP prefix ${resource.id} is in use by ${user.from} and cannot be deleted.`,
    );
  },
};
