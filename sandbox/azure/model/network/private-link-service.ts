/** Private link services: attached to a load balancer's frontend, with their own NIC and endpoint connections. */
import type { Change, Resource } from "../changes.ts";
import { invalid } from "../errors.ts";
import { etagOf } from "../etags.ts";
import { derivedGuid } from "../guid.ts";
import { groupIdOf, keyOf, nameOf, parentKeyOf } from "../ids.ts";
import { objectOf, objectsOf, propertiesOf, sameJson, stringOf, type Json } from "../json.ts";
import { childId, childrenOf, follow, referrers } from "../lookups.ts";
import { checkName } from "../names.ts";
import type { Reference } from "../references.ts";
import type { ChildInput, Plan, PutInput, ResourceType } from "../resource-type.ts";
import { envelope, idReference, renderChild, storedChild, topLevel, writtenProperties } from "./fields.ts";
import { itemsOf } from "./load-balancer/draft.ts";
import { ipMembersOf, stored as storedIn } from "./load-balancer/shape.ts";
import { nicForm } from "./network-interface/network-interface.ts";
import { assignPrivateAddress, Reservations } from "./private-addresses.ts";

const READ_ONLY = new Set(["alias", "networkInterfaces", "privateEndpointConnections"]);
const NIC_TYPE = "Microsoft.Network/networkInterfaces";

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

function frontends(input: PutInput, value: unknown): Json[] {
  const items = itemsOf(value, "properties.loadBalancerFrontendIpConfigurations");
  const rule = {
    owner: input.id,
    location: input.location,
    path: "properties.loadBalancerFrontendIpConfigurations",
    child: "frontendIPConfigurations",
  };
  const targets = items.flatMap((item) => follow(input.state, item, rule) ?? []);
  const [first] = targets;
  if (!first)
    throw invalid(
      "PrivateLinkServiceMissingFrontend",
      `Private link service ${input.id} must reference a load balancer frontend IP configuration.`,
    );
  if (objectOf(first.resource.body["sku"])["name"] === "Basic") {
    throw invalid(
      "PrivateLinkServiceLoadBalancerMustBeStandard",
      `Private link service ${input.id} needs a Standard load balancer, and ${first.resource.id} is Basic.`,
    );
  }
  checkNoAddresses(input, first.resource);
  checkPlace(input, first.resource);
  return targets.map((target) => idReference(target.id));
}

/** A load balancer with IP members cannot have a private link service. */
function checkNoAddresses(input: PutInput, loadBalancer: Resource): void {
  const pool = storedIn(loadBalancer.body, "backendAddressPools").find((item) => ipMembersOf(item).length > 0);
  if (!pool) return;
  throw invalid(
    "PrivateLinkServiceNotSupportedWithIPBasedBackendPool",
    `Private link service ${input.id} cannot use load balancer ${loadBalancer.id}: its backend pool ${String(pool["name"])} holds IP addresses.`,
  );
}

/** A service cannot change its load balancer, and the number of services per load balancer is limited. */
function checkPlace(input: PutInput, loadBalancer: Resource): void {
  const [before] = objectsOf(propertiesOf(input.existing?.body ?? {})["loadBalancerFrontendIpConfigurations"]);
  const oldKey = before && parentKeyOf(keyOf(stringOf(before["id"]) ?? ""));
  if (oldKey !== undefined && oldKey !== keyOf(loadBalancer.id)) {
    throw invalid(
      "PrivateLinkServiceLoadBalancerCannotBeChanged",
      `Private link service ${input.id} cannot be moved to load balancer ${loadBalancer.id}.`,
    );
  }
  const limit = input.state.options.limits.privateLinkServicesPerLoadBalancer;
  const services = new Set<string>();
  for (const frontend of storedIn(loadBalancer.body, "frontendIPConfigurations")) {
    const key = keyOf(childId(loadBalancer.id, "frontendIPConfigurations", stringOf(frontend["name"]) ?? ""));
    for (const user of referrers(input.state, key, "privateLink")) if (user.from !== input.id) services.add(user.from);
  }
  if (services.size < limit) return;
  throw invalid(
    "PrivateLinkServiceCountLimitReachedForLoadBalancer",
    `Load balancer ${loadBalancer.id} cannot have more than ${limit} private link services.`,
  );
}

function configurations(input: PutInput, value: unknown): Json[] {
  const items = itemsOf(value, "properties.ipConfigurations");
  const limit = input.state.options.limits.natAddressesPerPrivateLinkService;
  if (items.length === 0 || items.length > limit) {
    throw invalid(
      "PrivateLinkServiceIpConfigurationCountInvalid",
      `Private link service ${input.id} has ${items.length} IP configurations. It must have 1 to ${limit}.`,
    );
  }
  const before = childrenOf(input.existing?.body ?? {}, "ipConfigurations");
  const reservations = new Reservations();
  return items.map((item, index) => {
    const name = stringOf(item["name"]) ?? "";
    checkName("network", name);
    return configuration(input, {
      item,
      name,
      first: index === 0,
      before: before.get(name.toLowerCase()),
      reservations,
    });
  });
}

interface ConfigurationWrite {
  readonly item: Json;
  readonly name: string;
  readonly first: boolean;
  readonly before: Json | undefined;
  readonly reservations: Reservations;
}

function configuration(input: PutInput, write: ConfigurationWrite): Json {
  const id = `${input.id}/ipConfigurations/${write.name}`;
  const properties = writtenProperties(write.item);
  properties["privateIPAllocationMethod"] ??= "Dynamic";
  properties["primary"] ??= write.first;
  properties["privateIPAddressVersion"] ??= "IPv4";
  const rule = {
    owner: id,
    location: input.location,
    path: "properties.ipConfigurations[].properties.subnet",
    child: "subnets",
  };
  const subnet = follow(input.state, properties["subnet"], rule);
  if (!subnet)
    throw invalid("PrivateLinkServiceIpConfigurationHasNoSubnet", `IP configuration ${id} must reference a subnet.`);
  if (propertiesOf(subnet.child ?? {})["privateLinkServiceNetworkPolicies"] !== "Disabled") {
    throw invalid(
      "PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled",
      `Private link service ${input.id} cannot be created in a subnet ${subnet.id} since it has private link service network policies enabled.`,
    );
  }
  properties["subnet"] = idReference(subnet.id);
  if (properties["privateIPAllocationMethod"] === "Static") {
    const wish = {
      holder: id,
      owner: nicIdOf(input),
      properties,
      before: write.before,
      takenCode: "PrivateIPAddressInUse" as const,
    };
    assignPrivateAddress(input.state, write.reservations, subnet, wish);
  } else {
    delete properties["privateIPAddress"];
  }
  return storedChild(write.name, write.item, properties);
}

function nicIdOf(input: PutInput): string {
  const known = stringOf(input.existing?.assigned["networkInterface"]);
  if (known !== undefined) return known;
  return `${groupIdOf(input.id)}/providers/${NIC_TYPE}/${nameOf(input.id)}.nic.${derivedGuid(`${input.key}|${input.sequence}`)}`;
}

function planOf(input: PutInput, body: Json): Plan {
  const nicId = nicIdOf(input);
  const alias = `${nameOf(input.id).toLowerCase()}.${derivedGuid(`alias|${nicId}`)}.${input.location}.azure.privatelinkservice`;
  const assigned = { alias, networkInterface: nicId };
  return { body, assigned, pace: "later", companions: nicOf(input, nicId, body) };
}

/** The change of the NIC that carries a service's addresses; none if it is up to date. */
function nicOf(input: PutInput, id: string, body: Json): Change[] {
  const key = keyOf(id);
  const existing = input.state.resources.get(key);
  const written = { properties: { ipConfigurations: propertiesOf(body)["ipConfigurations"] } };
  const next = nicForm({ ...input, id, key, existing }, written, new Reservations());
  if (existing && sameJson(existing.body, next)) return [];
  const resource: Resource = {
    id,
    type: NIC_TYPE,
    location: input.location,
    guid: existing?.guid ?? derivedGuid(`nic|${id}`),
    sequence: existing?.sequence ?? Math.max(input.state.nextSequence, input.sequence + 1),
    revision: (existing?.revision ?? 0) + 1,
    state: "Succeeded",
    provisioned: true,
    lastOperation: "PutPrivateLinkServiceOperation",
    createdMs: input.request.nowMs,
    body: next,
    assigned: {},
  };
  return [{ kind: "put", resource }];
}

/** Private endpoints are not emulated: the first PUT of a connection creates it. */
function connectionForm(input: ChildInput): Json {
  const written = writtenProperties(input.body);
  const before = propertiesOf(input.child ?? {});
  const properties = {
    linkIdentifier: String(Number.parseInt(derivedGuid(`${input.key}|${input.name}`).slice(0, 7), 16)),
    privateEndpointLocation: input.location,
    ...before,
    ...written,
    privateLinkServiceConnectionState: {
      status: "Pending",
      description: "",
      actionsRequired: "None",
      ...objectOf(before["privateLinkServiceConnectionState"]),
      ...objectOf(written["privateLinkServiceConnectionState"]),
    },
  };
  return storedChild(input.name, input.body, properties);
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
  planChild: (input, body) => ({ body, assigned: input.existing.assigned, pace: "later" }),
  references,
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
