/**
 * Applies changes to a state. Nothing else alters it, and equal changes on equal states give equal states. Adding or
 * removing a reference also increments the revision of its target, so that a back-reference never appears under an old
 * ETag.
 */
import type { Change, Resource } from "./changes.ts";
import { isCompute } from "./etags.ts";
import { collectionOf, keyOf, parentKeyOf, subscriptionCollectionOf } from "./ids.ts";
import { objectsOf, propertiesOf, stringOf, type Json } from "./json.ts";
import { withoutPool } from "./network/load-balancer/leave-pool.ts";
import type { Operation } from "./operation.ts";
import { isVisible, type Reference } from "./references.ts";
import { typeNamed } from "./registry.ts";
import { emptyState, type Snapshot, type State } from "./state.ts";

export function apply(state: State, changes: readonly Change[]): void {
  for (const change of changes) applyOne(state, change);
}

/** The state that a snapshot was taken of. */
export function restore(snapshot: Snapshot): State {
  const state = emptyState(snapshot.options);
  for (const resource of snapshot.resources) {
    const key = keyOf(resource.id);
    addResource(state, key, resource);
    link(state, key, resource, typeNamed(resource.type).references(resource));
  }
  for (const operation of snapshot.operations) keepOperation(state, operation);
  state.nextSequence = snapshot.nextSequence;
  return state;
}

function applyOne(state: State, change: Change): void {
  switch (change.kind) {
    case "put":
      return put(state, change.resource);
    case "child":
      return putChild(state, change);
    case "leave":
      return leave(state, change.key, change.pool);
    case "mark":
      return mark(state, change.key, change.mark);
    case "drop":
      return drop(state, change.key);
    case "operation":
      return keepOperation(state, change.operation);
    case "forget":
      state.operations.delete(change.operationId);
      return;
    case "options":
      state.options = change.options;
      return;
  }
}

function put(state: State, resource: Resource): void {
  const key = keyOf(resource.id);
  addResource(state, key, resource);
  relink(state, key, resource, typeNamed(resource.type).references(resource));
}

function putChild(state: State, change: Extract<Change, { kind: "child" }>): void {
  const parent = state.resources.get(change.key);
  if (!parent) return;
  const body = replaceChild(parent.body, change.collection, change.name, change.child);
  put(state, { ...parent, ...change.mark, body, revision: parent.revision + 1 });
}

function leave(state: State, key: string, poolKey: string): void {
  const member = state.resources.get(key);
  if (member) put(state, { ...member, body: withoutPool(member.body, poolKey), revision: member.revision + 1 });
}

/** A body with one child replaced, appended or removed. */
export function replaceChild(body: Json, collection: string, name: string, child: Json | undefined): Json {
  const items = objectsOf(propertiesOf(body)[collection]);
  const key = name.toLowerCase();
  const at = items.findIndex((item) => stringOf(item["name"])?.toLowerCase() === key);
  const next = child === undefined ? items.filter((_, index) => index !== at) : [...items];
  if (child !== undefined) next[at === -1 ? items.length : at] = child;
  return { ...body, properties: { ...propertiesOf(body), [collection]: next } };
}

/** Compute ETags count writes only: neither the end of an operation nor a new back-reference changes them. */
function mark(state: State, key: string, moved: Partial<Resource>): void {
  const resource = state.resources.get(key);
  if (!resource) return;
  const revision = isCompute(resource.type) ? resource.revision : resource.revision + 1;
  state.resources.set(key, { ...resource, ...moved, revision });
}

function drop(state: State, key: string): void {
  const resource = state.resources.get(key);
  if (!resource) return;
  state.resources.delete(key);
  for (const collection of collectionsOf(key)) state.collections.get(collection)?.delete(key);
  relink(state, key, resource, []);
}

function addResource(state: State, key: string, resource: Resource): void {
  state.resources.set(key, resource);
  for (const collection of collectionsOf(key)) {
    const keys = state.collections.get(collection);
    if (keys) keys.add(key);
    else state.collections.set(collection, new Set([key]));
  }
  state.nextSequence = Math.max(state.nextSequence, resource.sequence + 1);
}

function collectionsOf(key: string): string[] {
  const wide = subscriptionCollectionOf(key);
  return wide === undefined ? [collectionOf(key)] : [collectionOf(key), wide];
}

/** Replaces a resource's references and updates their targets. */
function relink(state: State, key: string, resource: Resource, references: readonly Reference[]): void {
  const before = state.outgoing.get(key) ?? [];
  const after = new Map(references.map((reference) => [edgeOf(reference), reference]));
  const kept = new Set<string>();
  for (const reference of before) {
    const edge = edgeOf(reference);
    if (after.has(edge)) kept.add(edge);
    else unlink(state, reference);
  }
  link(state, key, resource, references);
  for (const [edge, reference] of after) if (!kept.has(edge)) touch(state, reference);
}

function edgeOf(reference: Reference): string {
  return `${reference.kind}|${reference.from}|${reference.to}|${reference.address ?? ""}`;
}

function unlink(state: State, reference: Reference): void {
  const referrers = state.incoming.get(reference.to);
  referrers?.delete(`${reference.kind}|${reference.from}`);
  if (referrers?.size === 0) state.incoming.delete(reference.to);
  const held = reference.address === undefined ? undefined : state.addresses.get(reference.to);
  if (held?.get(reference.address ?? "") === reference.from) held.delete(reference.address ?? "");
  if (held?.size === 0) state.addresses.delete(reference.to);
  release(state, reference);
  touch(state, reference);
}

/** Removes what the target stored about a removed referrer. */
function release(state: State, reference: Reference): void {
  const key = ownerOf(state, reference);
  const owner = state.resources.get(key);
  const body = owner && typeNamed(owner.type).released?.(owner.body, reference);
  if (owner && body && body !== owner.body) state.resources.set(key, { ...owner, body });
}

function link(state: State, key: string, resource: Resource, references: readonly Reference[]): void {
  if (references.length === 0) state.outgoing.delete(key);
  else state.outgoing.set(key, references);
  for (const reference of references) {
    const referrer = { ...reference, order: resource.sequence };
    entry(state.incoming, reference.to).set(`${reference.kind}|${reference.from}`, referrer);
    if (reference.address !== undefined) entry(state.addresses, reference.to).set(reference.address, reference.from);
  }
}

function entry<Value>(map: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  let inner = map.get(key);
  if (!inner) {
    inner = new Map();
    map.set(key, inner);
  }
  return inner;
}

function touch(state: State, reference: Reference): void {
  if (!isVisible(reference.kind)) return;
  mark(state, ownerOf(state, reference), {});
}

/** The resource that a reference targets, or the parent of the targeted child. */
function ownerOf(state: State, reference: Reference): string {
  return state.resources.has(reference.to) ? reference.to : parentKeyOf(reference.to);
}

function keepOperation(state: State, operation: Operation): void {
  state.operations.set(operation.id, operation);
  const running = operation.status === "InProgress";
  if (running) state.running.set(operation.id, operation);
  else state.running.delete(operation.id);
  for (const key of operation.locks) {
    if (running) state.locks.set(key, operation.id);
    else if (state.locks.get(key) === operation.id) state.locks.delete(key);
  }
}
