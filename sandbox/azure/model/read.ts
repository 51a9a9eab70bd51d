/** GET: a resource, a child, a view, or a list, page by page. */
import { reply, requireGroup, shown, wireOf, type Call } from "./call.ts";
import type { Resource } from "./changes.ts";
import type { Decision } from "./contract.ts";
import { childNotFound, compute, gateway, groupNotFound, resourceNotFound } from "./errors.ts";
import { etagOf } from "./etags.ts";
import { keyOf } from "./ids.ts";
import { objectsOf, propertiesOf, type Json } from "./json.ts";
import { childId, childrenOf } from "./lookups.ts";
import { checkName } from "./names.ts";
import { requireParent } from "./put.ts";
import { childTypeOf, unknownType, type CollectionRoute, type ResourceRoute } from "./route.ts";

export function readResource(call: Call, route: ResourceRoute): Decision {
  requireGroup(call, route.subscription, route.group);
  const resource = call.state.resources.get(route.key);
  if (!resource && route.type.untracked) throw absent(route);
  if (route.rest.length > 0) return readBelow(call, route);
  if (!resource) throw absent(route);
  const wire = route.type.expand?.(call.state, resource, call.request) ?? wireOf(call.state, resource);
  return one(call, resource, wire);
}

function absent(route: ResourceRoute): Error {
  if (route.type.nameRule === "instanceId") checkName("instanceId", route.name);
  if (route.type.untracked)
    return compute(404, "NotFound", `The entity ${route.id} was not found in this Azure location.`);
  return resourceNotFound(route.type.type, route.name, route.group);
}

function one(call: Call, resource: Resource, wire: Json): Decision {
  return reply(call, { status: 200, headers: { etag: etagOf(resource) }, body: shown(call, resource.type, wire) });
}

/** Children are taken from their parent's wire form; other paths below a resource are views. */
function readBelow(call: Call, route: ResourceRoute): Decision {
  const parent = requireParent(call, route);
  const child = childTypeOf(route.type, route.rest);
  if (child && route.rest.length <= 2) {
    const wire = shown(call, parent.type, wireOf(call.state, parent));
    const [, name] = route.rest;
    if (name === undefined) return list(call, objectsOf(propertiesOf(wire)[child.collection]));
    const found = childrenOf(wire, child.collection).get(name.toLowerCase());
    if (!found) throw childNotFound(childId(parent.id, child.collection, name));
    return reply(call, { status: 200, headers: { etag: etagOf(parent) }, body: found });
  }
  const view = route.type.view?.(call.state, parent, route.rest, call.request);
  if (!view)
    throw unknownType(
      route.type.type.split("/")[0] ?? "",
      `${route.type.type}/${route.rest.join("/")}`,
      call.kind.type,
    );
  if ("list" in view) return list(call, view.list);
  if ("resources" in view) {
    const resources = view.resources.flatMap((key) => call.state.resources.get(key) ?? []);
    return listResources(call, resources, (resource) => shown(call, resource.type, wireOf(call.state, resource)));
  }
  return reply(call, { status: 200, headers: view.etag === undefined ? {} : { etag: view.etag }, body: view.one });
}

export function readCollection(call: Call, route: CollectionRoute): Decision {
  const { state, request } = call;
  if (route.group !== undefined) requireListGroup(call, route.subscription, route.group);
  if (route.parentKey !== undefined && !state.resources.has(route.parentKey)) {
    throw gateway(404, "ParentResourceNotFound", `The parent resource '${route.parentKey}' could not be found.`);
  }
  const resources = [...(state.collections.get(route.key) ?? [])].flatMap((key) => state.resources.get(key) ?? []);
  const wanted = route.type.filter ? resources.filter((resource) => route.type.filter?.(resource, request)) : resources;
  return listResources(call, wanted, (resource) => {
    const wire = route.type.expand?.(state, resource, request) ?? wireOf(state, resource);
    return shown(call, resource.type, wire);
  });
}

function requireListGroup(call: Call, subscription: string, group: string): void {
  const found = call.state.resources.has(keyOf(`/subscriptions/${subscription}/resourceGroups/${group}`));
  if (!found) throw groupNotFound(group);
}

/**
 * One page of a list. The link to the next page has the end of this one: by order of creation for resources, so that
 * changes between pages neither skip nor repeat items; by position for views.
 */
function list(call: Call, items: readonly Json[]): Decision {
  const { pageSize } = call.state.options;
  const start = skipToken(call);
  const end = pageSize > 0 ? start + pageSize : items.length;
  return page(call, items.slice(start, end), end < items.length ? end : undefined);
}

function listResources(call: Call, resources: readonly Resource[], render: (resource: Resource) => Json): Decision {
  const { pageSize } = call.state.options;
  const after = skipToken(call);
  const left = after === 0 ? resources : resources.filter((resource) => resource.sequence > after);
  const shownOnes = pageSize > 0 ? left.slice(0, pageSize) : left;
  const more = shownOnes.length < left.length;
  return page(call, shownOnes.map(render), more ? shownOnes.at(-1)?.sequence : undefined);
}

function page(call: Call, value: readonly Json[], next: number | undefined): Decision {
  const body = next === undefined ? { value } : { value, nextLink: nextLink(call, next) };
  return reply(call, { status: 200, headers: {}, body });
}

function skipToken(call: Call): number {
  const { query } = call.request;
  const token = Number(query["$skiptoken"] ?? query["$skipToken"] ?? 0);
  if (Number.isInteger(token) && token >= 0) return token;
  throw gateway(400, "InvalidSkipToken", "The skip token is not one that was handed out.");
}

function nextLink(call: Call, token: number): string {
  const { baseUrl, path, query } = call.request;
  const rest = Object.entries(query).filter(([name]) => name.toLowerCase() !== "$skiptoken");
  const parameters = [...rest, ["$skiptoken", String(token)] as const];
  const text = parameters.map(
    ([name, value]) => `${encodeURIComponent(name).replace("%24", "$")}=${encodeURIComponent(value)}`,
  );
  return `${baseUrl}${path.split("/").map(encodeURIComponent).join("/")}?${text.join("&")}`;
}
