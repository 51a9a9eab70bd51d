/**
 * ARM paths and ids. They are case-insensitive: the key of a resource is its id in lower case. Returned ids have the
 * canonical spelling of types, and names as the caller spelled them at creation.
 */

export interface ArmPath {
  readonly subscription: string;
  /** Absent at subscription level. */
  readonly group?: string;
  readonly provider?: string;
  /** The segments after the provider (or the subscription): types and names in turn. */
  readonly rest: readonly string[];
}

/** Splits a path of the form `/subscriptions/{s}[/resourceGroups/{g}][/providers/{p}][/…]`. */
export function parsePath(path: string): ArmPath | undefined {
  const parts = path.split("/");
  if (parts.at(-1) === "") parts.pop();
  if (parts.length < 3 || parts[0] !== "" || parts[1]?.toLowerCase() !== "subscriptions") return undefined;
  if (parts.indexOf("", 1) !== -1) return undefined;
  let at = 3;
  let group: string | undefined;
  let provider: string | undefined;
  if (parts[at]?.toLowerCase() === "resourcegroups" && parts[at + 1] !== undefined) {
    group = parts[at + 1];
    at += 2;
  }
  if (parts[at]?.toLowerCase() === "providers" && parts[at + 1] !== undefined) {
    provider = parts[at + 1];
    at += 2;
  }
  return {
    subscription: parts[2] ?? "",
    ...(group !== undefined && { group }),
    ...(provider !== undefined && { provider }),
    rest: parts.slice(at),
  };
}

export function keyOf(id: string): string {
  return id.toLowerCase();
}

/** The last segment of an id. */
export function nameOf(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** The collection that a key or id belongs to. */
export function collectionOf(id: string): string {
  return id.slice(0, id.lastIndexOf("/"));
}

/** The key of the type's collection at subscription level; undefined for keys outside a group. */
export function subscriptionCollectionOf(key: string): string | undefined {
  const collection = collectionOf(key);
  const providers = collection.indexOf("/providers/");
  const group = collection.indexOf("/resourcegroups/");
  if (group === -1 || providers < group) return undefined;
  return collection.slice(0, group) + collection.slice(providers);
}

/** The key of a key's resource group. */
export function groupKeyOf(key: string): string {
  const start = key.indexOf("/resourcegroups/") + "/resourcegroups/".length;
  const end = key.indexOf("/", start);
  return end === -1 ? key : key.slice(0, end);
}

/** The canonical id of the group that a resource's id names. */
export function groupIdOf(id: string): string {
  const end = id.indexOf("/providers/");
  return end === -1 ? id : id.slice(0, end);
}

export function subscriptionOf(id: string): string {
  return id.split("/")[2] ?? "";
}

/** Two levels below a provider: the key of the parent resource, e.g. a pool's load balancer. */
export function parentKeyOf(key: string): string {
  return collectionOf(collectionOf(key));
}

/** `West Central US` is `westcentralus`. */
export function canonicalLocation(location: string): string {
  return location.replaceAll(" ", "").toLowerCase();
}
