/**
 * NIC configurations of scale sets. The scale set's model references subnets, pools and security groups; each instance has
 * its own copy with an address for every configuration, and shows it as read-only NICs.
 */
import { formatAddress } from "../../../shared/cidr.ts";
import type { Resource } from "../changes.ts";
import { etagOf } from "../etags.ts";
import { derivedGuid } from "../guid.ts";
import { keyOf, nameOf } from "../ids.ts";
import { numberOf, objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../json.ts";
import { follow, findChild } from "../lookups.ts";
import { idReference } from "../network/fields.ts";
import { itemsOf } from "../network/load-balancer/draft.ts";
import { configurationReferences } from "../network/network-interface/membership.ts";
import { dnsSettings, macAddress, NIC_DEFAULTS } from "../network/network-interface/network-interface.ts";
import { assignPrivateAddress, type Reservations } from "../network/private-addresses.ts";
import type { Reference } from "../references.ts";
import type { PutInput } from "../resource-type.ts";
import type { State } from "../state.ts";

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
  readonly scope: string;
}

/** Every IP configuration of a profile, with the NIC configuration that it is in. */
function configurationsOf(profile: Json): Configured[] {
  return objectsOf(profile["networkInterfaceConfigurations"]).flatMap((nic) =>
    objectsOf(propertiesOf(nic)["ipConfigurations"]).map((ip) => ({ nic, ip, scope: `${nameIn(nic)}/${nameIn(ip)}` })),
  );
}

function nameIn(value: Json): string {
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
  for (const { ip, scope: at } of configurationsOf(profile)) {
    const subnet = findChild(scope.state, stringOf(objectOf(propertiesOf(ip)["subnet"])["id"]) ?? "", "subnets");
    if (!subnet) continue;
    const properties = propertiesOf(ip);
    const kept = known[at] === undefined ? undefined : { properties: { ...properties, privateIPAddress: known[at] } };
    const holder = `${scope.id}/${at}`;
    addresses[at] = assignPrivateAddress(scope.state, reservations, subnet, {
      holder,
      owner: scope.id,
      properties,
      before: kept,
    });
  }
  return addresses;
}

/** A NIC configuration of an instance in the form of a NIC. */
interface InstanceNic {
  readonly id: string;
  readonly name: string;
  readonly properties: Json;
  readonly ipConfigurations: readonly { readonly id: string; readonly stored: Json }[];
}

export function nicsOf(instance: Resource): InstanceNic[] {
  const addresses = objectOf(instance.assigned["addresses"]);
  return objectsOf(profileOf(instance)["networkInterfaceConfigurations"]).map((nic) => {
    const name = nameIn(nic);
    const id = `${instance.id}/networkInterfaces/${name}`;
    const ipConfigurations = objectsOf(propertiesOf(nic)["ipConfigurations"]).map((ip, index) => ({
      id: `${id}/ipConfigurations/${nameIn(ip)}`,
      stored: ipOnNic(ip, addresses[`${name}/${nameIn(ip)}`], index === 0),
    }));
    return { id, name, properties: propertiesOf(nic), ipConfigurations };
  });
}

export function profileOf(instance: Resource): Json {
  return objectOf(propertiesOf(instance.body)["networkProfileConfiguration"]);
}

function ipOnNic(ip: Json, address: unknown, first: boolean): Json {
  const { publicIPAddressConfiguration: _, ...properties } = propertiesOf(ip);
  return {
    name: nameIn(ip),
    properties: { privateIPAddress: address, privateIPAllocationMethod: "Dynamic", primary: first, ...properties },
  };
}

/** The references of an instance's NICs. */
export function instanceReferences(instance: Resource): Reference[] {
  return nicsOf(instance).flatMap((nic) => {
    const group = stringOf(objectOf(nic.properties["networkSecurityGroup"])["id"]);
    const held: Reference[] = group === undefined ? [] : [{ kind: "securityGroup", from: nic.id, to: keyOf(group) }];
    return [...held, ...nic.ipConfigurations.flatMap(({ id, stored }) => configurationReferences(id, stored))];
  });
}

/** These views use an old api-version, which differs in two fields. */
const { defaultOutboundConnectivityEnabled: _, ...OLD_NIC_DEFAULTS } = NIC_DEFAULTS;
const INSTANCE_NIC_DEFAULTS = { ...OLD_NIC_DEFAULTS, enableFpga: false } as const;

function nicEtag(instance: Resource, name: string): string {
  return etagOf({ type: "Microsoft.Network", guid: `${instance.guid}/${name}`, revision: instance.revision });
}

/** The NICs of an instance on the wire. */
export function renderNics(instance: Resource): Json[] {
  return nicsOf(instance).map((nic) => {
    const etag = nicEtag(instance, nic.name);
    const { ipConfigurations: _, dnsSettings: dns, ...properties } = nic.properties;
    const ipConfigurations = nic.ipConfigurations.map(({ id, stored }) => ({
      name: stored["name"],
      id,
      etag,
      properties: { provisioningState: instance.state, ...propertiesOf(stored) },
    }));
    return {
      name: nic.name,
      id: nic.id,
      etag,
      properties: {
        provisioningState: instance.state,
        resourceGuid: derivedGuid(`${instance.guid}/${nic.name}`),
        ipConfigurations,
        ...INSTANCE_NIC_DEFAULTS,
        ...properties,
        dnsSettings: dnsSettings(objectOf(dns), { ipConfigurations }),
        macAddress: macAddress(`${instance.guid}/${nic.name}`),
        virtualMachine: { id: instance.id },
      },
      location: instance.location,
      kind: "Regular",
    };
  });
}

/** Addresses follow the order of creation, sixteen to an instance. */
const PUBLIC_BASE = 13n << 24n;

/** The public addresses of an instance on the wire. */
export function renderPublicIps(_state: State, instance: Resource): Json[] {
  const found: Json[] = [];
  for (const { nic, ip } of configurationsOf(profileOf(instance))) {
    const configuration = objectOf(propertiesOf(ip)["publicIPAddressConfiguration"]);
    if (configuration["name"] === undefined) continue;
    const owner = `${instance.id}/networkInterfaces/${nameIn(nic)}/ipConfigurations/${nameIn(ip)}`;
    found.push(renderPublicIp(instance, configuration, owner, found.length));
  }
  return found;
}

function renderPublicIp(instance: Resource, configuration: Json, owner: string, index: number): Json {
  const properties = propertiesOf(configuration);
  const name = nameIn(configuration);
  const label = stringOf(objectOf(properties["dnsSettings"])["domainNameLabel"]);
  const domainNameLabel = `vm${nameOf(instance.id)}.${label}`;
  return {
    name,
    id: `${owner}/publicIPAddresses/${name}`,
    etag: nicEtag(instance, name),
    properties: {
      provisioningState: instance.state,
      resourceGuid: derivedGuid(`${instance.guid}/${owner}/${name}`),
      ipAddress: formatAddress(4, PUBLIC_BASE + BigInt(instance.sequence * 16 + index)),
      publicIPAddressVersion: properties["publicIPAddressVersion"] ?? "IPv4",
      publicIPAllocationMethod: "Static",
      idleTimeoutInMinutes: numberOf(properties["idleTimeoutInMinutes"]) ?? 4,
      ...(label !== undefined && {
        dnsSettings: { domainNameLabel, fqdn: `${domainNameLabel}.${instance.location}.cloudapp.azure.com` },
      }),
      ipTags: properties["ipTags"] ?? [],
      ipConfiguration: { id: owner },
    },
    sku: { name: "Standard" },
  };
}
