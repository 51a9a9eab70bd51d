/** Private endpoints: a NIC with an address in a subnet, and a connection to a service (connections.ts). */
import type { Resource } from "../../changes.ts";
import { invalid } from "../../errors.ts";
import { etagOf } from "../../etags.ts";
import { derivedGuid } from "../../guid.ts";
import { groupIdOf, keyOf, nameOf } from "../../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { follow } from "../../lookups.ts";
import type { Reference } from "../../references.ts";
import type { Plan, PutInput, ResourceType } from "../../resource-type.ts";
import type { State } from "../../state.ts";
import { envelope, idReference, renderChild, topLevel, writtenProperties } from "../fields.ts";
import { carrierNic } from "../carrier-nic.ts";
import { atService, CONNECTIONS, connectionForms, connectionState, serviceKeyOf } from "./connections.ts";

const READ_ONLY = new Set(["networkInterfaces"]);

function form(input: PutInput, body: Json): Json {
  const properties = writtenProperties(body, READ_ONLY);
  const rule = { owner: input.id, location: input.location, path: "properties.subnet", child: "subnets" };
  const subnet = follow(input.state, properties["subnet"], rule);
  if (!subnet) throw invalid("PrivateEndpointMissingSubnet", `Private endpoint ${input.id} must reference a subnet.`);
  return {
    ...topLevel(body),
    properties: {
      customNetworkInterfaceName: "",
      ipConfigurations: [],
      ...properties,
      ...connectionForms(input, properties),
      subnet: idReference(subnet.id),
    },
  };
}

function plan(input: PutInput, written: Json): Plan {
  const body = form(input, written);
  const properties = propertiesOf(body);
  const nicId = nicIdOf(input, properties);
  const companions = [
    ...carrierNic(input, nicId, addresses(nicId, properties), "PutPrivateEndpointOperation"),
    ...atService(input, body),
  ];
  return { body, assigned: { networkInterface: nicId }, pace: "later", companions };
}

function nicIdOf(input: PutInput, properties: Json): string {
  const known = stringOf(input.existing?.assigned["networkInterface"]);
  if (known !== undefined) return known;
  const chosen = stringOf(properties["customNetworkInterfaceName"]) ?? "";
  const name = chosen === "" ? `${nameOf(input.id)}.nic.${derivedGuid(`${input.key}|${input.sequence}`)}` : chosen;
  return `${groupIdOf(input.id)}/providers/Microsoft.Network/networkInterfaces/${name}`;
}

/** The endpoint's static addresses, or one of the subnet. */
function addresses(nicId: string, properties: Json): Json[] {
  const { subnet } = properties;
  const fixed = objectsOf(properties["ipConfigurations"]);
  if (fixed.length === 0) {
    const name = `privateEndpointIpConfig.${derivedGuid(nicId)}`;
    return [{ name, properties: { privateIPAllocationMethod: "Dynamic", subnet } }];
  }
  return fixed.map((item) => {
    const { privateIPAddress } = propertiesOf(item);
    return { name: item["name"], properties: { privateIPAllocationMethod: "Static", privateIPAddress, subnet } };
  });
}

function references(resource: Resource): Reference[] {
  const { id, body, assigned } = resource;
  const service = serviceKeyOf(body);
  return [
    { kind: "privateEndpointNic", from: id, to: keyOf(stringOf(assigned["networkInterface"]) ?? "") },
    { kind: "privateLinkSubnet", from: id, to: keyOf(stringOf(objectOf(propertiesOf(body)["subnet"])["id"]) ?? "") },
    ...(service === undefined ? [] : [{ kind: "privateEndpoint" as const, from: id, to: service }]),
  ];
}

function render(state: State, resource: Resource): Json {
  const etag = etagOf(resource);
  const properties = propertiesOf(resource.body);
  const shown = CONNECTIONS.map((collection) => [
    collection,
    objectsOf(properties[collection]).map((item) =>
      renderChild(resource, etag, collection, item, {
        privateLinkServiceConnectionState: connectionState(state, resource.id, resource.body),
      }),
    ),
  ]);
  return envelope(resource, {
    ...properties,
    ...Object.fromEntries(shown),
    customDnsConfigs: [],
    networkInterfaces: [{ id: resource.assigned["networkInterface"] }],
  });
}

export const privateEndpoint: ResourceType = {
  type: "Microsoft.Network/privateEndpoints",
  operation: "PrivateEndpoint",
  nameRule: "network",
  children: [],
  deleteStatus: 202,
  plan,
  references,
  render,
  view: (_state, _resource, path) =>
    path.length === 1 && path[0]?.toLowerCase() === "privatednszonegroups" ? { list: [] } : undefined,
  checkDelete: () => {},
  dependants: (_state, resource) => [keyOf(stringOf(resource.assigned["networkInterface"]) ?? "")],
};
