/** Looks up resources, children and referrers in the state, and follows references in bodies. */
import type { Resource } from "./changes.ts";
import { gateway, referenceNotFound, retryable, unreadable } from "./errors.ts";
import { keyOf, nameOf, parentKeyOf, parsePath } from "./ids.ts";
import { isObject, objectsOf, propertiesOf, stringOf, type Json } from "./json.ts";
import type { ReferenceKind, Referrer } from "./references.ts";
import type { State } from "./state.ts";

/** The referrers of a resource or child of one kind, in order of creation. */
export function referrers(state: State, key: string, kind: ReferenceKind): Referrer[] {
  const found: Referrer[] = [];
  for (const reference of state.incoming.get(key)?.values() ?? []) if (reference.kind === kind) found.push(reference);
  return found.sort((left, right) => left.order - right.order || (left.from < right.from ? -1 : 1));
}

const childIndexes = new WeakMap<readonly unknown[], Map<string, Json>>();

/** The children of a collection, stored or on the wire, by lower-case name. */
export function childrenOf(body: Json, collection: string): ReadonlyMap<string, Json> {
  const items = propertiesOf(body)[collection];
  if (!Array.isArray(items)) return new Map();
  let index = childIndexes.get(items);
  if (!index) {
    index = new Map();
    for (const item of objectsOf(items)) index.set((stringOf(item["name"]) ?? "").toLowerCase(), item);
    childIndexes.set(items, index);
  }
  return index;
}

/** Id of a child, as its parent spells it. */
export function childId(parentId: string, collection: string, name: string): string {
  return `${parentId}/${collection}/${name}`;
}

/** The target of a reference. */
export interface Target {
  /** Canonical id of the resource or child. */
  readonly id: string;
  readonly key: string;
  /** The resource itself, or the parent of the child. */
  readonly resource: Resource;
  readonly child?: Json;
}

/** Finds a top-level resource by a reference's id. */
function findResource(state: State, id: string): Target | undefined {
  const key = keyOf(id);
  const resource = state.resources.get(key);
  return resource && { id: resource.id, key, resource };
}

/** Finds a child (subnet, pool, frontend…) by a reference's id. */
export function findChild(state: State, id: string, collection: string): Target | undefined {
  const key = keyOf(id);
  const parent = state.resources.get(parentKeyOf(key));
  const child = parent && childrenOf(parent.body, collection).get(nameOf(key));
  if (!parent || !child || !key.endsWith(`/${collection.toLowerCase()}/${nameOf(key)}`)) return undefined;
  return { id: childId(parent.id, collection, stringOf(child["name"]) ?? ""), key, resource: parent, child };
}

/** The id of a reference object; undefined if absent, refused if malformed. */
export function referenceId(value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const id = isObject(value) ? stringOf(value["id"]) : undefined;
  if (id === undefined || id === "") {
    throw unreadable("MissingJsonReferenceId", `Value for reference id is missing. Path ${path}.`);
  }
  const parsed = parsePath(id);
  if (!parsed || (parsed.provider !== undefined && parsed.rest.length % 2 !== 0) || parsed.rest.length < 2) {
    throw gateway(
      400,
      "LinkedInvalidPropertyId",
      `Property id '${id}' at path '${path}' is invalid. Expect fully qualified resource Id that start with ` +
        "'/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'.",
    );
  }
  return id;
}

export interface ReferenceRule {
  /** Id of the referrer, for messages. */
  readonly owner: string;
  /** Region of the referrer, which must be the target's. */
  readonly location: string;
  /** Path in the body, for messages. */
  readonly path: string;
  /** Where the target is a child: its collection. */
  readonly child?: string;
  /** The target may be in any state. */
  readonly anyState?: boolean;
}

/** Follows a reference; refuses a target that is missing, in another region, or not provisioned. */
export function follow(state: State, value: unknown, rule: ReferenceRule): Target | undefined {
  const id = referenceId(value, rule.path);
  if (id === undefined) return undefined;
  const target = rule.child === undefined ? findResource(state, id) : findChild(state, id, rule.child);
  if (!target || target.resource.location !== rule.location) throw referenceNotFound(id, rule.owner);
  if (!rule.anyState && target.resource.state !== "Succeeded") throw notProvisioned(target, rule.owner);
  return target;
}

function notProvisioned(target: Target, owner: string): Error {
  return retryable(
    "ReferencedResourceNotProvisioned",
    `Cannot proceed with operation because resource ${target.id} used by resource ${owner} is not in Succeeded ` +
      `state. Resource is in ${target.resource.state} state and the last operation that updated/is updating the ` +
      `resource is ${target.resource.lastOperation}.`,
    NOT_PROVISIONED_RETRY_SECONDS,
  );
}

/** Azure was seen to say 13 and 14 seconds; this is shorter for the sake of tests. */
const NOT_PROVISIONED_RETRY_SECONDS = 5;
