/**
 * The NICs of a scale-set instance. They are read-only views of the instance's copy of the network profile, with an
 * address for every configuration.
 */
import { formatAddress } from "../../../shared/cidr.ts";
import type { Resource } from "../changes.ts";
import { etagOf } from "../etags.ts";
import { derivedGuid } from "../guid.ts";
import { keyOf, nameOf } from "../ids.ts";
import { numberOf, objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../json.ts";
import { configurationReferences } from "../network/network-interface/membership.ts";
import { dnsSettings, macAddress, NIC_DEFAULTS } from "../network/network-interface/network-interface.ts";
import type { Reference } from "../references.ts";
import type { State } from "../state.ts";
import { configurationsOf, nameIn } from "./scale-set-network.ts";

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

/** Addresses are assigned in order of creation, sixteen per instance. */
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
