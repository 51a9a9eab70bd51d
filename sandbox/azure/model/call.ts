/** A request with the state and draws that answer it, and helpers that the verbs share. */
import type { Resource } from "./changes.ts";
import type { ArmRequest, ArmResponse, Decision, Draws, OperationKind } from "./contract.ts";
import { gateway, groupNotFound, unreadable } from "./errors.ts";
import { keyOf, nameOf } from "./ids.ts";
import { isObject, type Json } from "./json.ts";
import { hideFields } from "./hidden-fields.ts";
import { typeNamed } from "./registry.ts";
import type { State } from "./state.ts";

export interface Call {
  readonly state: State;
  readonly request: ArmRequest;
  readonly draws: Draws;
  readonly kind: OperationKind;
}

/** An answer that changes nothing. */
export function reply(call: Call, response: ArmResponse): Decision {
  return { response, changes: [], operation: call.kind };
}

const wires = new WeakMap<Resource, Json>();

/** The wire form of a resource, cached until the resource changes. */
export function wireOf(state: State, resource: Resource): Json {
  let wire = wires.get(resource);
  if (!wire) {
    wire = typeNamed(resource.type).render(state, resource);
    wires.set(resource, wire);
  }
  return wire;
}

/** The wire form without fields that the request's api-version does not know. */
export function shown(call: Call, type: string, wire: Json): Json {
  return hideFields(wire, type, call.request.query["api-version"] ?? "", call.state.options.hiddenFields);
}

/** The group of a request; refuses an absent group, and writes to a group that is being deleted. */
export function requireGroup(call: Call, subscription: string, group: string): Resource {
  const found = call.state.resources.get(keyOf(`/subscriptions/${subscription}/resourceGroups/${group}`));
  if (!found) throw groupNotFound(group);
  const writes = call.request.method !== "GET" && call.request.method !== "HEAD";
  if (writes) checkGroupStays(found);
  return found;
}

/** Refuses writes to a group that is being deleted. */
export function checkGroupStays(group: Resource): void {
  if (group.state !== "Deleting") return;
  throw gateway(
    409,
    "ResourceGroupBeingDeleted",
    `The resource group '${nameOf(group.id)}' is in deprovisioning state and cannot perform this operation.`,
  );
}

/** The body of a write; refuses anything but a JSON object. */
export function requireBody(request: ArmRequest): Json {
  if (request.malformed) throw unreadable("InvalidJson", "Error parsing the request body: it is not valid JSON.");
  if (request.body === undefined) throw unreadable("InvalidJson", "The request body is empty.");
  if (!isObject(request.body)) throw unreadable("InvalidJson", "The request body must be a JSON object.");
  return request.body;
}
