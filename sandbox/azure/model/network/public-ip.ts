/** Public IP addresses. The address is assigned at creation and shown once the resource is provisioned. */
import { formatAddress } from "../../../shared/cidr.ts";
import type { Resource } from "../changes.ts";
import { invalid } from "../errors.ts";
import { keyOf } from "../ids.ts";
import { objectOf, propertiesOf, stringOf, type Json } from "../json.ts";
import { follow, referrers, type Target } from "../lookups.ts";
import type { Plan, PutInput, ResourceType } from "../resource-type.ts";
import type { State } from "../state.ts";
import { checkCount } from "./counts.ts";
import { dnsForm } from "./dns-label.ts";
import { checkZones, envelope, idReference, skuName, skuOf, topLevel, writtenProperties } from "./fields.ts";
import { addressInPrefix } from "./public-ip-prefix.ts";

const READ_ONLY = new Set(["ipAddress", "ipConfiguration", "upgradedToV2"]);
const DEFAULTS = { publicIPAddressVersion: "IPv4", idleTimeoutInMinutes: 4, ipTags: [] } as const;

function plan(input: PutInput, body: Json): Plan {
  const sku = skuOf(body, "Basic");
  const basic = sku["name"] === "Basic";
  const properties = { ...DEFAULTS, ...writtenProperties(body, READ_ONLY) } as { [name: string]: unknown };
  properties["publicIPAllocationMethod"] ??= basic ? "Dynamic" : "Static";
  if (!basic) properties["ddosSettings"] ??= { protectionMode: "VirtualNetworkInherited" };
  if (properties["dnsSettings"] !== undefined && properties["dnsSettings"] !== null) {
    properties["dnsSettings"] = dnsForm(input, objectOf(properties["dnsSettings"]));
  } else {
    delete properties["dnsSettings"];
  }
  const prefix = follow(input.state, properties["publicIPPrefix"], {
    owner: input.id,
    location: input.location,
    path: "properties.publicIPPrefix",
  });
  if (prefix) properties["publicIPPrefix"] = idReference(prefix.id);
  const stored = { ...topLevel(body), sku, properties };
  checkAllocation(input, basic, stored);
  checkZones(input.id, input.existing?.body, stored);
  checkCounts(input, stored);
  return { body: stored, assigned: input.existing?.assigned ?? assign(input, properties, prefix), pace: "later" };
}

function checkAllocation(input: PutInput, basic: boolean, body: Json): void {
  const dynamic = propertiesOf(body)["publicIPAllocationMethod"] === "Dynamic";
  if (dynamic && !basic) {
    throw invalid(
      "StandardSkuPublicIPAddressesCannotHaveDynamicAllocation",
      `Standard sku public IP address ${input.id} cannot have dynamic allocation. Use Static.`,
    );
  }
  const before = input.existing;
  if (!before) return;
  const [holder] = referrers(input.state, input.key, "publicIp");
  if (!holder) return;
  if (dynamic && propertiesOf(before.body)["publicIPAllocationMethod"] === "Static") {
    throw invalid(
      "PublicIPAddressInUseCannotUpdateToDynamic",
      `Public IP address ${input.id} is in use by ${holder.from}, and cannot be updated to dynamic allocation.`,
    );
  }
  if (skuName(before.body) !== skuName(body)) {
    throw invalid(
      "PublicIPAddressInUseCannotChangeSku",
      `Public IP address ${input.id} is in use by ${holder.from}; its sku cannot be changed.`,
    );
  }
}

function isStatic(resource: Pick<Resource, "body">): boolean {
  return propertiesOf(resource.body)["publicIPAllocationMethod"] === "Static";
}

function checkCounts(input: PutInput, body: Json): void {
  const { limits } = input.state.options;
  const what = "public IP addresses";
  checkCount(input, { limit: limits.publicIps, code: "PublicIPCountLimitReached", what });
  if (isStatic({ body })) {
    const code = "StaticPublicIPCountLimitReached";
    checkCount(input, {
      limit: limits.staticPublicIps,
      code,
      what: `${what} with static allocation method`,
      counts: isStatic,
    });
  }
  if (skuName(body) !== "Basic") {
    const standard = (resource: Resource): boolean => skuName(resource.body) !== "Basic";
    const code = "StandardSkuPublicIPCountLimitReached";
    checkCount(input, { limit: limits.standardPublicIps, code, what: `${what} with standard sku`, counts: standard });
  }
}

/**
 * Addresses follow the order of creation, through blocks that no network routes: a client that uses one without the data
 * plane reaches no stranger. For documentation, then for benchmarks, then reserved ones; IPv6 for documentation.
 */
const IPV4_BLOCKS: readonly { readonly first: bigint; readonly count: bigint }[] = [
  { first: 0xcb007101n, count: 254n }, // 203.0.113.1 to .254
  { first: 0xc6120000n, count: 1n << 17n }, // 198.18.0.0/15
  { first: 0xfa000000n, count: 1n << 24n }, // 250.0.0.0/8
];
const IPV6_BASE = 0x20010db80001n << 80n; // 2001:db8:1::/48

function ipv4Address(sequence: bigint): bigint {
  let left = sequence;
  for (const { first, count } of IPV4_BLOCKS) {
    if (left < count) return first + left;
    left -= count;
  }
  throw new Error(`there is no address for resource number ${sequence}`);
}

function assign(input: PutInput, properties: Json, prefix: Target | undefined): Json {
  if (prefix) return { ipAddress: addressInPrefix(input.state, prefix) };
  const sequence = BigInt(input.sequence);
  const ipv6 = properties["publicIPAddressVersion"] === "IPv6";
  return { ipAddress: ipv6 ? formatAddress(6, IPV6_BASE + sequence) : formatAddress(4, ipv4Address(sequence)) };
}

function render(state: State, resource: Resource): Json {
  const [holder] = referrers(state, keyOf(resource.id), "publicIp");
  const shows = resource.provisioned && (isStatic(resource) || holder !== undefined);
  return envelope(resource, {
    ...(shows && { ipAddress: resource.assigned["ipAddress"] }),
    ...propertiesOf(resource.body),
    ...(holder && { ipConfiguration: idReference(holder.from) }),
  });
}

export const publicIp: ResourceType = {
  type: "Microsoft.Network/publicIPAddresses",
  operation: "PublicIpAddress",
  nameRule: "network",
  children: [],
  deleteStatus: 202,
  plan,
  references: (resource) => {
    const prefix = stringOf(objectOf(propertiesOf(resource.body)["publicIPPrefix"])["id"]);
    if (prefix === undefined) return [];
    return [{ kind: "publicIpPrefix", from: resource.id, to: keyOf(prefix) }];
  },
  render,
  checkDelete: (state, resource) => {
    const [holder] = referrers(state, keyOf(resource.id), "publicIp");
    if (!holder) return;
    throw invalid(
      "PublicIPAddressCannotBeDeleted",
      `Public IP address ${resource.id} can not be deleted since it is still allocated to resource ${holder.from}.`,
    );
  },
};
