/** The private link service type: its form, references and wire form. The files beside this one check its parts. */
import type { Resource } from "../../changes.ts";
import { invalid } from "../../errors.ts";
import { etagOf } from "../../etags.ts";
import { derivedGuid } from "../../guid.ts";
import { keyOf, nameOf } from "../../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { childrenOf } from "../../lookups.ts";
import type { Reference } from "../../references.ts";
import type { ChildInput, Plan, PutInput, ResourceType } from "../../resource-type.ts";
import { envelope, renderChild, storedChild, topLevel, writtenProperties } from "../fields.ts";
import { frontends } from "./frontends.ts";
import { configurations } from "./ip-configurations.ts";
import { carrierNic } from "../carrier-nic.ts";
import { touchedEndpoints, withoutConnection } from "../private-endpoint/connections.ts";
import { nicIdOf } from "./nic-id.ts";

const READ_ONLY = new Set(["alias", "networkInterfaces", "privateEndpointConnections"]);

function form(input: PutInput, body: Json): Json {
  const properties: { [name: string]: unknown } = {
    fqdns: [],
    enableProxyProtocol: false,
    ...writtenProperties(body, READ_ONLY),
  };
  if (properties["destinationIPAddress"] !== undefined) {
    throw invalid(
      "PrivateLinkServiceUdrIsDisabled",
      `DestinationIPAddress was provided, PLS UDR and NSG scenario is disabled for Private Link Service ${nameOf(input.id)} ` +
        "Either provide LoadBalancerFrontendIpConfiguration for PLS with LB or enable SubscriptionFeatures " +
        "AllowPrivateLinkServiceUDR for PLS UDR/IP Based.",
    );
  }
  properties["loadBalancerFrontendIpConfigurations"] = frontends(
    input,
    properties["loadBalancerFrontendIpConfigurations"],
  );
  properties["ipConfigurations"] = configurations(input, properties["ipConfigurations"]);
  properties["privateEndpointConnections"] = [
    ...childrenOf(input.existing?.body ?? {}, "privateEndpointConnections").values(),
  ];
  return { ...topLevel(body), properties };
}

function planOf(input: PutInput, body: Json): Plan {
  const nicId = nicIdOf(input);
  const alias = `${nameOf(input.id).toLowerCase()}.${derivedGuid(`alias|${nicId}`)}.${input.location}.azure.privatelinkservice`;
  const assigned = { alias, networkInterface: nicId };
  return {
    body,
    assigned,
    pace: "later",
    companions: carrierNic(input, nicId, propertiesOf(body)["ipConfigurations"], "PutPrivateLinkServiceOperation"),
  };
}

/**
 * A PUT of a connection approves or rejects it. That of an endpoint which the emulator does not have, of another tenant,
 * creates it, approved where that endpoint is of a subscription with automatic approval.
 */
function connectionForm(input: ChildInput): Json {
  const written = writtenProperties(input.body);
  const before = propertiesOf(input.child ?? {});
  const properties = {
    linkIdentifier: String(Number.parseInt(derivedGuid(`${input.key}|${input.name}`).slice(0, 7), 16)),
    privateEndpointLocation: input.location,
    ...before,
    ...written,
    privateLinkServiceConnectionState: {
      ...initialState(input, written),
      actionsRequired: "None",
      ...objectOf(before["privateLinkServiceConnectionState"]),
      ...objectOf(written["privateLinkServiceConnectionState"]),
    },
  };
  return storedChild(input.name, input.body, properties);
}

function initialState(input: ChildInput, written: Json): Json {
  const [, , subscription = ""] = (stringOf(objectOf(written["privateEndpoint"])["id"]) ?? "").toLowerCase().split("/");
  const list = objectOf(propertiesOf(input.existing.body)["autoApproval"])["subscriptions"];
  const approved = (Array.isArray(list) ? list : []).map((item) => String(item).toLowerCase());
  const isApproved = subscription !== "" && (approved.includes("*") || approved.includes(subscription));
  return isApproved ? { status: "Approved", description: "Auto-Approved" } : { status: "Pending", description: "" };
}

function references(resource: Resource): Reference[] {
  const properties = propertiesOf(resource.body);
  const nic = stringOf(resource.assigned["networkInterface"]) ?? "";
  return [
    ...objectsOf(properties["loadBalancerFrontendIpConfigurations"]).map((item): Reference => ({
      kind: "privateLink",
      from: resource.id,
      to: keyOf(stringOf(item["id"]) ?? ""),
    })),
    ...objectsOf(properties["ipConfigurations"]).map((item): Reference => ({
      kind: "privateLinkSubnet",
      from: `${resource.id}/ipConfigurations/${stringOf(item["name"]) ?? ""}`,
      to: keyOf(stringOf(objectOf(propertiesOf(item)["subnet"])["id"]) ?? ""),
    })),
    { kind: "privateLinkNic", from: resource.id, to: keyOf(nic) },
  ];
}

function render(resource: Resource): Json {
  const etag = etagOf(resource);
  const { ipConfigurations, privateEndpointConnections, ...properties } = propertiesOf(resource.body);
  const settled = { ...resource, state: "Succeeded" as const };
  return envelope(resource, {
    ...properties,
    alias: resource.assigned["alias"],
    ipConfigurations: objectsOf(ipConfigurations).map((item) => renderChild(settled, etag, "ipConfigurations", item)),
    privateEndpointConnections: objectsOf(privateEndpointConnections).map((item) =>
      renderChild(resource, etag, "privateEndpointConnections", item),
    ),
    networkInterfaces: [{ id: resource.assigned["networkInterface"] }],
  });
}

export const privateLinkService: ResourceType = {
  type: "Microsoft.Network/privateLinkServices",
  operation: "PrivateLinkService",
  nameRule: "network",
  children: [
    {
      collection: "privateEndpointConnections",
      operation: "PrivateEndpointConnection",
      nameRule: "network",
      put: connectionForm,
    },
  ],
  deleteStatus: 202,
  plan: (input, body) => planOf(input, form(input, body)),
  planChild: (input, body) => ({
    body,
    assigned: input.existing.assigned,
    pace: "later",
    companions: touchedEndpoints(input.state, input.existing.body, body),
  }),
  references,
  released: (body, reference) =>
    reference.kind === "privateEndpoint" ? withoutConnection(body, reference.from) : body,
  render: (_state, resource) => render(resource),
  checkDelete: (_state, resource) => {
    const [connection] = childrenOf(resource.body, "privateEndpointConnections").keys();
    if (connection === undefined) return;
    throw invalid(
      "InUsePrivateLinkServiceCannotBeDeleted",
      `Private link service ${resource.id} cannot be deleted while it has the private endpoint connection ${connection}.`,
    );
  },
  dependants: (_state, resource) => [keyOf(stringOf(resource.assigned["networkInterface"]) ?? "")],
};
