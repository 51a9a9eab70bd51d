/**
 * What clients look up before they name a resource: tenants, subscriptions, regions, resource providers, and the resources
 * of a group or subscription as a whole. Reads only.
 */
import { reply, shown, wireOf, type Call } from "./call.ts";
import type { Resource } from "./changes.ts";
import type { Decision } from "./contract.ts";
import { gateway, groupNotFound } from "./errors.ts";
import { groupIdOf, keyOf, nameOf } from "./ids.ts";
import type { Json } from "./json.ts";
import { PROVIDERS, providerBody, regionsOf } from "./provider.ts";
import { typeNamed } from "./registry.ts";

/** `resources`: of the group, or of the whole subscription. `usages`: of the quotas of Microsoft.Network in a region. */
export type DirectoryRoute =
  | { readonly kind: "directory"; readonly what: "tenants" | "subscriptions" }
  | {
      readonly kind: "directory";
      readonly what: "subscription" | "locations" | "providers" | "resources" | "usages";
      readonly subscription: string;
      readonly group?: string;
    };

const BELOW_SUBSCRIPTION = ["locations", "providers", "resources"] as const;

/** `undefined`: the path names something else. */
export function directoryRouteOf(path: string): DirectoryRoute | undefined {
  const [, first = "", subscription, ...rest] = path.toLowerCase().replace(/\/$/, "").split("/");
  const [, , spelled = ""] = path.split("/");
  if (subscription === undefined)
    return first === "tenants" || first === "subscriptions" ? { kind: "directory", what: first } : undefined;
  if (first !== "subscriptions" || subscription === "") return undefined;
  if (rest.length === 0) return { kind: "directory", what: "subscription", subscription: spelled };
  if (/^providers\/microsoft\.network\/locations\/[^/]+\/usages$/.test(rest.join("/")))
    return { kind: "directory", what: "usages", subscription: spelled };
  const inGroup = rest[0] === "resourcegroups" && rest.length === 3 && rest[2] === "resources";
  if (inGroup) return { kind: "directory", what: "resources", subscription: spelled, group: path.split("/")[4] ?? "" };
  const what = rest.length === 1 ? BELOW_SUBSCRIPTION.find((one) => one === rest[0]) : undefined;
  return what === undefined ? undefined : { kind: "directory", what, subscription: spelled };
}

export function answerDirectory(call: Call, route: DirectoryRoute): Decision {
  if (call.request.method !== "GET")
    throw gateway(405, "HttpMethodNotAllowed", `'${call.request.method}' is not allowed on '${call.request.path}'.`);
  const { options } = call.state;
  switch (route.what) {
    case "tenants":
      return list(call, [tenant(options.tenant)]);
    case "subscriptions":
      return list(
        call,
        options.subscriptions.map((id) => subscriptionBody(id, options.tenant)),
      );
    case "subscription":
      return reply(call, { status: 200, headers: {}, body: subscriptionBody(route.subscription, options.tenant) });
    case "locations":
      return list(
        call,
        regionsOf(call.state).map((name) => location(name, route.subscription)),
      );
    case "providers":
      return list(
        call,
        PROVIDERS.map((namespace) => providerBody(call.state, route.subscription, namespace)),
      );
    case "resources":
      return list(call, resourcesIn(call, route.subscription, route.group));
    case "usages":
      return list(call, usagesIn(call, route.subscription));
  }
}

function list(call: Call, value: readonly Json[]): Decision {
  return reply(call, { status: 200, headers: {}, body: { value: [...value] } });
}

function tenant(id: string): Json {
  return { id: `/tenants/${id}`, tenantId: id, displayName: "Sandbox", tenantCategory: "Home", countryCode: "US" };
}

function subscriptionBody(id: string, tenantId: string): Json {
  return {
    id: `/subscriptions/${id}`,
    authorizationSource: "RoleBased",
    managedByTenants: [],
    subscriptionId: id,
    tenantId,
    displayName: "Sandbox",
    state: "Enabled",
    subscriptionPolicies: { locationPlacementId: "Public_2014-09-01", quotaId: "Sandbox", spendingLimit: "Off" },
  };
}

function location(name: string, subscription: string): Json {
  return {
    id: `/subscriptions/${subscription}/locations/${name}`,
    name,
    type: "Region",
    displayName: name,
    regionalDisplayName: name,
    metadata: { regionType: "Physical", regionCategory: "Recommended" },
  };
}

/** Envelopes only: what Azure lists here has no properties. */
function resourcesIn(call: Call, subscription: string, group: string | undefined): Json[] {
  const { resources } = call.state;
  const whole = keyOf(`/subscriptions/${subscription}`);
  const scope = group === undefined ? whole : keyOf(`/subscriptions/${subscription}/resourceGroups/${group}`);
  if (group !== undefined && !resources.has(scope)) throw groupNotFound(group);
  const isListed = (resource: Resource, key: string): boolean =>
    key.startsWith(`${scope}/`) && key.includes("/providers/") && typeNamed(resource.type).untracked !== true;
  const matches = filterOf(call.request.query["$filter"] ?? "");
  return [...resources]
    .filter(([key, resource]) => isListed(resource, key) && matches(resource))
    .map(([, resource]) => envelope(shown(call, resource.type, wireOf(call.state, resource))));
}

const FILTERED: Readonly<Record<string, (resource: Resource) => string>> = {
  name: ({ id }) => nameOf(id),
  resourcegroup: ({ id }) => nameOf(groupIdOf(id)),
  resourcetype: ({ type }) => type,
  location: ({ location }) => location,
};

/** Conditions of the form `field eq 'value'`, joined by `and`; others are refused, so that no client takes all for some. */
function filterOf(text: string): (resource: Resource) => boolean {
  if (text === "") return () => true;
  const conditions = text.split(/ and /i).map((condition) => {
    const [, field = "", value = ""] = /^\s*(\w+) eq '([^']*)'\s*$/i.exec(condition) ?? [];
    const read = FILTERED[field.toLowerCase()];
    if (read === undefined)
      throw gateway(400, "InvalidFilterInQueryString", `Invalid $filter '${condition}' specified in the query string.`);
    return (resource: Resource): boolean => read(resource).toLowerCase() === value.toLowerCase();
  });
  return (resource) => conditions.every((holds) => holds(resource));
}

/** Azure's defaults for a subscription in a region. */
const QUOTAS = [
  ["PublicIPAddresses", "Microsoft.Network/publicIPAddresses", 1000],
  ["LoadBalancers", "Microsoft.Network/loadBalancers", 1000],
  ["NetworkSecurityGroups", "Microsoft.Network/networkSecurityGroups", 5000],
] as const;

function usagesIn({ state }: Call, subscription: string): Json[] {
  const whole = keyOf(`/subscriptions/${subscription}`);
  return QUOTAS.map(([value, type, limit]) => ({
    name: { value, localizedValue: value },
    currentValue: [...state.resources].filter(([key, one]) => key.startsWith(`${whole}/`) && one.type === type).length,
    limit,
    unit: "Count",
  }));
}

const ENVELOPE = ["id", "name", "type", "location", "tags", "sku", "zones", "kind"];

function envelope(wire: Json): Json {
  return Object.fromEntries(ENVELOPE.filter((key) => wire[key] !== undefined).map((key) => [key, wire[key]]));
}
