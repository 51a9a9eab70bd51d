/** Frontend configurations: a public address, a prefix, or a subnet with a private address. */
import { invalid } from "../../errors.ts";
import { stringOf, type Json } from "../../json.ts";
import { childId, childrenOf, follow, referrers, type Target } from "../../lookups.ts";
import { checkZones, idReference, skuName, storedChild, writtenProperties } from "../fields.ts";
import { publicIpInUse } from "../errors.ts";
import { assignPrivateAddress } from "../private-addresses.ts";
import type { Draft } from "./draft.ts";

const READ_ONLY = new Set([
  "loadBalancingRules",
  "inboundNatRules",
  "outboundRules",
  "inboundNatPools",
  "privateLinkServices",
]);

export function frontendForm(draft: Draft, item: Json, publicIps: Map<string, string>): Json {
  const name = stringOf(item["name"]) ?? "";
  const id = childId(draft.input.id, "frontendIPConfigurations", name);
  const properties = writtenProperties(item, READ_ONLY);
  const before =
    draft.input.existing && childrenOf(draft.input.existing.body, "frontendIPConfigurations").get(name.toLowerCase());
  const target = (field: string, child?: string): Target | undefined =>
    follow(draft.input.state, properties[field], {
      owner: id,
      location: draft.input.location,
      path: `properties.frontendIPConfigurations[].properties.${field}`,
      ...(child !== undefined && { child }),
    });
  const publicIp = target("publicIPAddress");
  const prefix = target("publicIPPrefix");
  const subnet = target("subnet", "subnets");
  const gateway = target("gatewayLoadBalancer", "frontendIPConfigurations");
  checkSides(id, subnet, publicIp ?? prefix);
  checkZones(id, before, item);
  properties["privateIPAllocationMethod"] ??= "Dynamic";
  if (publicIp) {
    checkPublicIp(draft, id, publicIp, publicIps);
    properties["publicIPAddress"] = idReference(publicIp.id);
  }
  if (prefix) properties["publicIPPrefix"] = idReference(prefix.id);
  if (gateway) properties["gatewayLoadBalancer"] = idReference(gateway.id);
  if (subnet) {
    properties["subnet"] = idReference(subnet.id);
    properties["privateIPAddressVersion"] ??= "IPv4";
    const request = { holder: id, owner: draft.input.id, properties, before };
    properties["privateIPAddress"] = assignPrivateAddress(draft.input.state, draft.reservations, subnet, request);
  } else {
    delete properties["privateIPAddress"];
  }
  return storedChild(name, item, properties);
}

function checkSides(id: string, subnet: Target | undefined, publicSide: Target | undefined): void {
  if (subnet && publicSide) {
    throw invalid(
      "FrontendIPConfigHasBothSubnetAndPublicIP",
      `Frontend IP configuration ${id} cannot reference both subnet ${subnet.id} and public IP address ${publicSide.id}.`,
    );
  }
  if (subnet || publicSide) return;
  throw invalid(
    "FrontendIPConfigHasNoSubnetOrPublicIP",
    `Frontend IP configuration ${id} must reference either a Subnet, PublicIPAddress or PublicIPPrefix.`,
  );
}

/** A public address serves one configuration only, and must have the load balancer's SKU. */
function checkPublicIp(draft: Draft, id: string, publicIp: Target, seen: Map<string, string>): void {
  const other = seen.get(publicIp.key);
  if (other !== undefined) {
    throw invalid(
      "PublicIPReferencedByMultipleIPConfigs",
      `Public IP address ${publicIp.id} is referenced by multiple ipconfigs in same resource: ${other}, ${id}.`,
    );
  }
  seen.set(publicIp.key, id);
  checkSku(draft, publicIp);
  for (const holder of referrers(draft.input.state, publicIp.key, "publicIp")) {
    if (holder.from.startsWith(`${draft.input.id}/`)) continue;
    throw publicIpInUse(id, publicIp.id, holder.from);
  }
}

function checkSku(draft: Draft, publicIp: Target): void {
  const sku = skuName(publicIp.resource.body);
  const basic = (name: string): boolean => name === "Basic";
  if (basic(sku) === basic(draft.sku)) return;
  throw invalid(
    basic(draft.sku) ? "PublicIPAndLBSkuDoNotMatch" : "DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed",
    `${draft.sku} sku load balancer ${draft.input.id} cannot reference ${sku} sku publicIP ${publicIp.id}.`,
  );
}
