/**
 * The IP configurations of a NIC resource or of a scale-set instance's NIC: an address in a subnet, optionally a public
 * address, and membership in backend pools and NAT rules.
 */
import { invalid } from "../../errors.ts";
import { nameOf } from "../../ids.ts";
import { propertiesOf, stringOf, type Json } from "../../json.ts";
import { follow, referrers, type Target } from "../../lookups.ts";
import { checkName } from "../../names.ts";
import type { State } from "../../state.ts";
import { idReference, storedChild, writtenProperties } from "../fields.ts";
import { duplicateName, itemsOf } from "../load-balancer/draft.ts";
import { publicIpInUse } from "../errors.ts";
import { assignPrivateAddress, type Reservations } from "../private-addresses.ts";

export interface NicWrite {
  readonly state: State;
  /** Canonical id of the NIC. */
  readonly id: string;
  readonly location: string;
  readonly reservations: Reservations;
  /** Lower-case name → the configuration before the write. */
  readonly before: ReadonlyMap<string, Json>;
}

const READ_ONLY = new Set(["privateLinkConnectionProperties"]);

export function ipConfigurationForms(write: NicWrite, value: unknown): Json[] {
  const items = itemsOf(value, "properties.ipConfigurations");
  if (items.length === 0) {
    throw invalid(
      "NetworkInterfaceMustHaveAtLeastOneIPConfiguration",
      `Network interface ${write.id} must have one or more IP configurations.`,
    );
  }
  const limit = write.state.options.limits.ipConfigurationsPerNic;
  if (items.length > limit) {
    throw invalid(
      "IPConfigurationCountLimitReached",
      `Network interface ${write.id} has ${items.length} IP configurations. It cannot have more than ${limit}.`,
    );
  }
  const seen = new Set<string>();
  const forms = items.map((item, index) => {
    const name = stringOf(item["name"]) ?? "";
    checkName("network", name);
    if (seen.has(name.toLowerCase())) throw duplicateName(write.id, name);
    seen.add(name.toLowerCase());
    return ipConfigurationForm(write, name, item, index === 0);
  });
  checkOneSubnet(write, forms);
  return forms;
}

function ipConfigurationForm(write: NicWrite, name: string, item: Json, first: boolean): Json {
  const id = `${write.id}/ipConfigurations/${name}`;
  const properties = writtenProperties(item, READ_ONLY);
  properties["privateIPAllocationMethod"] ??= "Dynamic";
  properties["primary"] ??= first;
  properties["privateIPAddressVersion"] ??= "IPv4";
  const subnet = target(write, id, properties["subnet"], "subnet", "subnets");
  if (!subnet)
    throw invalid("NetworkInterfaceIPConfigurationHasNoSubnet", `IP configuration ${id} must reference a subnet.`);
  properties["subnet"] = idReference(subnet.id);
  const before = write.before.get(name.toLowerCase());
  properties["privateIPAddress"] = assignPrivateAddress(write.state, write.reservations, subnet, {
    holder: id,
    owner: write.id,
    properties,
    before,
  });
  const publicIp = target(write, id, properties["publicIPAddress"], "publicIPAddress");
  if (publicIp) properties["publicIPAddress"] = idReference(publicIp.id);
  else delete properties["publicIPAddress"];
  if (publicIp) checkPublicIp(write, id, publicIp);
  memberships(write, id, properties, "loadBalancerBackendAddressPools", "backendAddressPools");
  memberships(write, id, properties, "loadBalancerInboundNatRules", "inboundNatRules");
  return storedChild(name, item, properties);
}

function target(write: NicWrite, id: string, value: unknown, path: string, child?: string): Target | undefined {
  const rule = { owner: id, location: write.location, path: `properties.ipConfigurations[].properties.${path}` };
  return follow(write.state, value, child === undefined ? rule : { ...rule, child });
}

/** References a load balancer in any provisioning state; its lock is checked only if the membership changes. */
function memberships(
  write: NicWrite,
  id: string,
  properties: { [name: string]: unknown },
  field: string,
  collection: string,
): void {
  const targets = itemsOf(properties[field], `properties.ipConfigurations[].properties.${field}`).flatMap((value) => {
    const rule = { owner: id, location: write.location, path: field, child: collection, anyState: true };
    return follow(write.state, value, rule) ?? [];
  });
  if (targets.length === 0) {
    delete properties[field];
    return;
  }
  const keys = new Set(targets.map((item) => item.key));
  if (keys.size < targets.length) {
    throw invalid(
      "DuplicateIpConfigurationReferenceOnBackendAddressPool",
      `IP configuration ${id} is referenced more than once by ${targets[0]?.id}.`,
    );
  }
  properties[field] = targets.map((item) => idReference(item.id));
}

function checkPublicIp(write: NicWrite, id: string, publicIp: Target): void {
  for (const holder of referrers(write.state, publicIp.key, "publicIp")) {
    if (holder.from.startsWith(`${write.id}/`)) continue;
    throw publicIpInUse(id, publicIp.id, holder.from);
  }
}

function checkOneSubnet(write: NicWrite, forms: readonly Json[]): void {
  const subnets = new Set(forms.map((form) => stringOf((propertiesOf(form)["subnet"] as Json)["id"]) ?? ""));
  if (subnets.size < 2) return;
  throw invalid(
    "IpConfigurationsOnSameNicCannotUseDifferentSubnets",
    `IP configurations on network interface ${nameOf(write.id)} cannot use different subnets: ${[...subnets].join(", ")}.`,
  );
}
