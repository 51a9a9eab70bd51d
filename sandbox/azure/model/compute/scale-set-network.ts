/**
 * The network profile of a scale set's model: its normal form, its references, and the addresses of an instance's
 * configurations. `instance-nics.ts` renders the NICs of an instance.
 */
import type { Resource } from "../changes.ts";
import { keyOf } from "../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../json.ts";
import { follow, findChild } from "../lookups.ts";
import { idReference } from "../network/fields.ts";
import { itemsOf } from "../network/load-balancer/draft.ts";
import { assignPrivateAddress, type Reservations } from "../network/private-addresses.ts";
import type { Reference } from "../references.ts";
import type { PutInput } from "../resource-type.ts";

const NIC_CONFIGURATION_DEFAULTS = {
  primary: true,
  enableAcceleratedNetworking: false,
  disableTcpStateTracking: false,
  enableIPForwarding: false,
} as const;

type ReferenceScope = Pick<PutInput, "state" | "location" | "id">;

/** A network profile with defaults filled in and references made canonical. */
export function networkProfileForm(scope: ReferenceScope, profile: Json): Json {
  const configurations = itemsOf(profile["networkInterfaceConfigurations"], "networkInterfaceConfigurations");
  const probe = follow(scope.state, profile["healthProbe"], rule(scope, "healthProbe", "probes"));
  return {
    ...profile,
    ...(probe && { healthProbe: idReference(probe.id) }),
    networkInterfaceConfigurations: configurations.map((nic) => nicConfigurationForm(scope, nic)),
  };
}

function rule(scope: ReferenceScope, path: string, child?: string) {
  return { owner: scope.id, location: scope.location, path, anyState: true, ...(child !== undefined && { child }) };
}

function nicConfigurationForm(scope: ReferenceScope, nic: Json): Json {
  const properties: { [name: string]: unknown } = {
    ...NIC_CONFIGURATION_DEFAULTS,
    dnsSettings: { dnsServers: [] },
    ...propertiesOf(nic),
  };
  const group = follow(scope.state, properties["networkSecurityGroup"], rule(scope, "networkSecurityGroup"));
  if (group) properties["networkSecurityGroup"] = idReference(group.id);
  const items = itemsOf(properties["ipConfigurations"], "ipConfigurations");
  properties["ipConfigurations"] = items.map((item) => ipForm(scope, item));
  return { ...nic, properties };
}

function ipForm(scope: ReferenceScope, item: Json): Json {
  const properties: { [name: string]: unknown } = { privateIPAddressVersion: "IPv4", ...propertiesOf(item) };
  const subnet = follow(scope.state, properties["subnet"], { ...rule(scope, "subnet", "subnets"), anyState: false });
  if (subnet) properties["subnet"] = idReference(subnet.id);
  for (const [field, collection] of MEMBERSHIPS) {
    const targets = itemsOf(properties[field], field).flatMap(
      (value) => follow(scope.state, value, rule(scope, field, collection)) ?? [],
    );
    if (targets.length > 0) properties[field] = targets.map((target) => idReference(target.id));
    else delete properties[field];
  }
  return { ...item, properties };
}

const MEMBERSHIPS = [
  ["loadBalancerBackendAddressPools", "backendAddressPools"],
  ["loadBalancerInboundNatPools", "inboundNatPools"],
] as const;

interface Configured {
  readonly nic: Json;
  readonly ip: Json;
  /** `nic/ip`, the key of its address. */
  readonly path: string;
}

/** Every IP configuration of a profile, with the NIC configuration that it is in. */
export function configurationsOf(profile: Json): Configured[] {
  return objectsOf(profile["networkInterfaceConfigurations"]).flatMap((nic) =>
    objectsOf(propertiesOf(nic)["ipConfigurations"]).map((ip) => ({ nic, ip, path: `${nameIn(nic)}/${nameIn(ip)}` })),
  );
}

export function nameIn(value: Json): string {
  return stringOf(value["name"]) ?? "";
}

/** The references of a scale set's model. */
export function modelReferences(scaleSetId: string, profile: Json): Reference[] {
  const targets = new Set<string>();
  const add = (value: unknown): void => {
    const id = stringOf(objectOf(value)["id"]);
    if (id !== undefined) targets.add(keyOf(id));
  };
  for (const { nic, ip } of configurationsOf(profile)) {
    add(propertiesOf(nic)["networkSecurityGroup"]);
    add(propertiesOf(ip)["subnet"]);
    for (const pool of objectsOf(propertiesOf(ip)["loadBalancerBackendAddressPools"])) add(pool);
    for (const pool of objectsOf(propertiesOf(ip)["loadBalancerInboundNatPools"])) add(pool);
  }
  const held = [...targets].map((to): Reference => ({ kind: "scaleSetModel", from: scaleSetId, to }));
  const probe = stringOf(objectOf(profile["healthProbe"])["id"]);
  return probe === undefined ? held : [...held, { kind: "healthProbe", from: scaleSetId, to: keyOf(probe) }];
}

/** The addresses of an instance by `nic/ip`; existing ones are kept. */
export function assignAddresses(
  scope: ReferenceScope,
  profile: Json,
  before: Resource | undefined,
  reservations: Reservations,
): Json {
  const known = objectOf(before?.assigned["addresses"]);
  const addresses: { [name: string]: unknown } = {};
  for (const { ip, path } of configurationsOf(profile)) {
    const subnet = findChild(scope.state, stringOf(objectOf(propertiesOf(ip)["subnet"])["id"]) ?? "", "subnets");
    if (!subnet) continue;
    const properties = propertiesOf(ip);
    const kept =
      known[path] === undefined ? undefined : { properties: { ...properties, privateIPAddress: known[path] } };
    const holder = `${scope.id}/${path}`;
    addresses[path] = assignPrivateAddress(scope.state, reservations, subnet, {
      holder,
      owner: scope.id,
      properties,
      before: kept,
    });
  }
  return addresses;
}
