/** Parses a path into a route: a resource, a child, a collection, or an endpoint of ARM itself. */
import { directoryRouteOf, type DirectoryRoute } from "./directory.ts";
import { gateway } from "./errors.ts";
import { keyOf, parsePath, type ArmPath } from "./ids.ts";
import { findType } from "./registry.ts";
import type { ChildType, ResourceType } from "./resource-type.ts";

export interface ResourceRoute {
  readonly kind: "resource";
  readonly type: ResourceType;
  /** Canonical types, names as the caller spelled them. */
  readonly id: string;
  readonly key: string;
  readonly subscription: string;
  readonly group: string;
  readonly name: string;
  /** The path after the resource: a child, a view, an action. */
  readonly rest: readonly string[];
}

export interface CollectionRoute {
  readonly kind: "collection";
  readonly type: ResourceType;
  /** Key of the collection. */
  readonly key: string;
  readonly subscription: string;
  /** Absent at subscription level. */
  readonly group?: string;
  /** Key of the parent, for a collection inside a resource. */
  readonly parentKey?: string;
}

export type Route =
  | ResourceRoute
  | CollectionRoute
  | DirectoryRoute
  | { readonly kind: "operation" | "operationResult"; readonly provider: string; readonly operationId: string }
  | { readonly kind: "provider"; readonly subscription: string; readonly provider: string; readonly action?: string };

/** Refuses unknown paths as the ARM gateway does. */
export function routeOf(path: string, apiVersion: string): Route {
  const directory = directoryRouteOf(path);
  if (directory !== undefined) return directory;
  const parsed = parsePath(path);
  if (!parsed)
    throw gateway(
      404,
      "MissingSubscription",
      "The request did not have a subscription or a valid tenant level resource provider.",
    );
  if (parsed.provider === undefined) return groupRoute(parsed, path);
  if (parsed.group === undefined && parsed.rest[0]?.toLowerCase() === "locations") return locationRoute(parsed, path);
  if (parsed.group === undefined && (parsed.rest.length === 0 || parsed.rest[0]?.toLowerCase() === "register")) {
    const action = parsed.rest[0];
    return {
      kind: "provider",
      subscription: parsed.subscription,
      provider: parsed.provider,
      ...(action !== undefined && { action }),
    };
  }
  return typedRoute(parsed, parsed.provider, apiVersion);
}

function groupRoute(parsed: ArmPath, path: string): Route {
  const { subscription, group, rest } = parsed;
  const type = findType("Microsoft.Resources/resourceGroups");
  if (!type) throw unknownPath(path);
  const base = `/subscriptions/${subscription}/resourceGroups`;
  if (group !== undefined && rest.length === 0) {
    return {
      kind: "resource",
      type,
      id: `${base}/${group}`,
      key: keyOf(`${base}/${group}`),
      subscription,
      group,
      name: group,
      rest,
    };
  }
  if (group === undefined && rest.length === 1 && rest[0]?.toLowerCase() === "resourcegroups") {
    return { kind: "collection", type, key: keyOf(base), subscription };
  }
  if (group === undefined && rest.length === 2 && rest[0]?.toLowerCase() === "operationresults") {
    return { kind: "operationResult", provider: "Microsoft.Resources", operationId: rest[1] ?? "" };
  }
  throw unknownPath(path);
}

function locationRoute(parsed: ArmPath, path: string): Route {
  const [, , kind, operationId] = parsed.rest;
  const provider = parsed.provider ?? "";
  if (operationId !== undefined && kind?.toLowerCase() === "operations")
    return { kind: "operation", provider, operationId };
  if (operationId !== undefined && kind?.toLowerCase() === "operationresults")
    return { kind: "operationResult", provider, operationId };
  throw unknownPath(path);
}

/** Routes to the deepest known resource type; the remaining segments are below it. */
function typedRoute(parsed: ArmPath, provider: string, apiVersion: string): Route {
  const { rest } = parsed;
  for (let depth = Math.ceil(rest.length / 2); depth > 0; depth--) {
    const type = findType([provider, ...typeSegments(rest, depth)].join("/"));
    if (type)
      return rest.length >= depth * 2 ? resourceRoute(parsed, type, depth) : collectionRoute(parsed, type, depth);
  }
  throw unknownType(provider, rest[0] ?? "", apiVersion);
}

function typeSegments(rest: readonly string[], depth: number): string[] {
  return Array.from({ length: depth }, (_, index) => rest[index * 2] ?? "");
}

function base(parsed: ArmPath, type: ResourceType, depth: number): string {
  const [namespace = "", ...types] = type.type.split("/");
  const group = parsed.group === undefined ? "" : `/resourceGroups/${parsed.group}`;
  const parts = types.slice(0, depth).map((segment, index) => {
    const name = parsed.rest[index * 2 + 1];
    return name === undefined ? segment : `${segment}/${name}`;
  });
  return `/subscriptions/${parsed.subscription}${group}/providers/${namespace}/${parts.join("/")}`;
}

function resourceRoute(parsed: ArmPath, type: ResourceType, depth: number): Route {
  const { subscription, group } = parsed;
  if (group === undefined)
    throw gateway(404, "ResourceNotFound", `A resource of type '${type.type}' lies in a resource group.`);
  const id = base(parsed, type, depth);
  const name = parsed.rest[depth * 2 - 1] ?? "";
  return { kind: "resource", type, id, key: keyOf(id), subscription, group, name, rest: parsed.rest.slice(depth * 2) };
}

function collectionRoute(parsed: ArmPath, type: ResourceType, depth: number): Route {
  const { subscription, group } = parsed;
  const key = keyOf(base(parsed, type, depth));
  const parent = depth > 1 ? { parentKey: key.slice(0, key.lastIndexOf("/")) } : {};
  return { kind: "collection", type, key, subscription, ...(group !== undefined && { group }), ...parent };
}

/** The child type that the first segment below a resource names. */
export function childTypeOf(type: ResourceType, rest: readonly string[]): ChildType | undefined {
  const segment = rest[0]?.toLowerCase();
  return type.children.find((child) => child.collection.toLowerCase() === segment);
}

function unknownPath(path: string): Error {
  return gateway(404, "NotFound", `The requested path '${path}' was not found.`);
}

export function unknownType(provider: string, type: string, apiVersion: string): Error {
  const known = provider.toLowerCase() === "microsoft.network" || provider.toLowerCase() === "microsoft.compute";
  if (!known) return gateway(404, "InvalidResourceNamespace", `The resource namespace '${provider}' is invalid.`);
  return gateway(
    404,
    "InvalidResourceType",
    `The resource type '${type}' could not be found in the namespace '${provider}' for api version '${apiVersion}'.`,
  );
}
