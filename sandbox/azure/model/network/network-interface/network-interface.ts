/** Network interfaces. A write is synchronous unless it joins or leaves a pool or NAT rule. */
import type { Resource } from "../../changes.ts";
import { invalid } from "../../errors.ts";
import { etagOf } from "../../etags.ts";
import { derivedGuid } from "../../guid.ts";
import { keyOf } from "../../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, stringsOf, type Json } from "../../json.ts";
import { childrenOf, follow, referrers } from "../../lookups.ts";
import type { Reference } from "../../references.ts";
import type { Plan, PutInput, ResourceType } from "../../resource-type.ts";
import type { State } from "../../state.ts";
import { checkCount } from "../counts.ts";
import { envelope, idReference, renderChild, topLevel, writtenProperties } from "../fields.ts";
import { Reservations } from "../private-addresses.ts";
import { ipConfigurationForms } from "./ip-configurations.ts";
import { availabilitySetOf, changedLoadBalancers, checkMembership, configurationReferences } from "./membership.ts";

const READ_ONLY = new Set([
  "virtualMachine",
  "macAddress",
  "primary",
  "hostedWorkloads",
  "privateEndpoint",
  "privateLinkService",
]);
export const NIC_DEFAULTS = {
  enableAcceleratedNetworking: false,
  vnetEncryptionSupported: false,
  enableIPForwarding: false,
  disableTcpStateTracking: false,
  hostedWorkloads: [],
  tapConfigurations: [],
  nicType: "Standard",
  allowPort25Out: true,
  defaultOutboundConnectivityEnabled: false,
  auxiliaryMode: "None",
  auxiliarySku: "None",
} as const;

/** The normal form of a NIC's body. */
export function nicForm(input: PutInput, body: Json, reservations: Reservations): Json {
  const properties: { [name: string]: unknown } = { ...NIC_DEFAULTS, ...writtenProperties(body, READ_ONLY) };
  const { state, id, location } = input;
  const group = follow(state, properties["networkSecurityGroup"], {
    owner: id,
    location,
    path: "properties.networkSecurityGroup",
  });
  if (group) properties["networkSecurityGroup"] = idReference(group.id);
  else delete properties["networkSecurityGroup"];
  const before = childrenOf(input.existing?.body ?? {}, "ipConfigurations");
  properties["ipConfigurations"] = ipConfigurationForms(
    { state, id, location, reservations, before },
    properties["ipConfigurations"],
  );
  properties["dnsSettings"] = dnsSettings(objectOf(properties["dnsSettings"]), properties);
  return { kind: "Regular", ...topLevel(body), properties };
}

/** The internal suffix is that of the virtual network. */
export function dnsSettings(written: Json, properties: Json): Json {
  const [first] = objectsOf(properties["ipConfigurations"]);
  const subnet = stringOf(objectOf(propertiesOf(first ?? {})["subnet"])["id"]) ?? "";
  const network = keyOf(subnet).split("/subnets/")[0] ?? "";
  const hash = derivedGuid(network).replaceAll("-", "").slice(0, 26);
  const servers = stringsOf(written["dnsServers"]);
  return {
    ...written,
    dnsServers: servers,
    appliedDnsServers: servers,
    internalDomainNameSuffix: `${hash}.bx.internal.cloudapp.net`,
  };
}

function plan(input: PutInput, body: Json): Plan {
  const { limits } = input.state.options;
  checkCount(input, {
    limit: limits.networkInterfaces,
    code: "NetworkInterfaceCountLimitReached",
    what: "network interfaces",
  });
  const stored = nicForm(input, body, new Reservations());
  const locks = checkedMembership(input, stored);
  return { body: stored, assigned: {}, pace: locks.length > 0 ? "later" : "headerless", locks };
}

/** Keys of the load balancers that a NIC joins or leaves; refuses invalid membership. */
export function checkedMembership(input: Pick<PutInput, "state" | "id" | "key">, stored: Json): string[] {
  const membership = {
    state: input.state,
    nicId: input.id,
    after: referencesOf(input.id, stored),
    before: input.state.outgoing.get(input.key) ?? [],
    availabilitySet: availabilitySetOf(input.state, input.key),
  };
  checkMembership(membership);
  return changedLoadBalancers(membership);
}

function referencesOf(id: string, body: Json): Reference[] {
  const properties = propertiesOf(body);
  const group = stringOf(objectOf(properties["networkSecurityGroup"])["id"]);
  const found: Reference[] = group === undefined ? [] : [{ kind: "securityGroup", from: id, to: keyOf(group) }];
  for (const configuration of objectsOf(properties["ipConfigurations"])) {
    found.push(
      ...configurationReferences(`${id}/ipConfigurations/${stringOf(configuration["name"]) ?? ""}`, configuration),
    );
  }
  return found;
}

function render(state: State, resource: Resource): Json {
  const etag = etagOf(resource);
  const key = keyOf(resource.id);
  const { ipConfigurations, ...properties } = propertiesOf(resource.body);
  const [machine] = referrers(state, key, "virtualMachine");
  const [service] = referrers(state, key, "privateLinkNic");
  const [endpoint] = referrers(state, key, "privateEndpointNic");
  return envelope(resource, {
    ipConfigurations: objectsOf(ipConfigurations).map((item) => renderChild(resource, etag, "ipConfigurations", item)),
    ...properties,
    ...(machine && { virtualMachine: idReference(machine.from), primary: true, macAddress: macAddress(resource.guid) }),
    ...(service && { privateLinkService: idReference(service.from) }),
    ...(endpoint && { privateEndpoint: idReference(endpoint.from) }),
  });
}

export function macAddress(seed: string): string {
  const hex = derivedGuid(seed).replaceAll("-", "").toUpperCase();
  return ["00", "22", "48", hex.slice(0, 2), hex.slice(2, 4), hex.slice(4, 6)].join("-");
}

export const networkInterface: ResourceType = {
  type: "Microsoft.Network/networkInterfaces",
  operation: "NetworkInterface",
  nameRule: "network",
  children: [{ collection: "ipConfigurations", operation: "", nameRule: "network" }],
  deleteStatus: 200,
  plan,
  references: (resource) => referencesOf(resource.id, resource.body),
  render,
  checkDelete: (state, resource) => {
    const key = keyOf(resource.id);
    const holders = ["virtualMachine", "privateLinkNic", "privateEndpointNic"] as const;
    const [user] = holders.flatMap((kind) => referrers(state, key, kind));
    if (!user) return;
    throw invalid(
      "NicInUse",
      `Network Interface ${resource.id} is used by existing resource ${user.from}. In order to delete the network interface, it must be dissociated from the resource.`,
    );
  },
};
