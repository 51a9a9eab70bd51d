/**
 * PUT: replaces a resource or one child. The order of checks is ARM's: the gateway (group, location, tags), then
 * preconditions, then the provider's validation, then locks.
 */
import { replaceChild } from "./apply.ts";
import { requireBody, requireGroup, shown, wireOf, type Call } from "./call.ts";
import type { Change, Resource } from "./changes.ts";
import type { Decision } from "./contract.ts";
import { checkPreconditions, isCompute } from "./etags.ts";
import { gateway, invalid } from "./errors.ts";
import { canonicalLocation, keyOf, nameOf } from "./ids.ts";
import { sameJson, stringOf, type Json } from "./json.ts";
import { childrenOf } from "./lookups.ts";
import { checkName } from "./names.ts";
import { begin, supersedeRunning, operationHeaders, type Start } from "./operations.ts";
import type { ChildType, Pace, Plan, PutInput } from "./resource-type.ts";
import type { ResourceRoute } from "./route.ts";
import { checkTags } from "./tags.ts";

export function putResource(call: Call, route: ResourceRoute): Decision {
  const { state, request } = call;
  const group = requireGroup(call, route.subscription, route.group);
  const existing = state.resources.get(route.key);
  if (!existing) checkName(route.type.nameRule, route.name);
  const body = requireBody(request);
  const location = locationOf(call, route, existing, body, group);
  checkTags(body["tags"], state.options.limits.tagsPerResource);
  checkPreconditions(request, route.type.type, route.id, existing);
  return putBody(call, route, location, body);
}

/** Plans and accepts a body whose envelope was checked. */
export function putBody(call: Call, route: ResourceRoute, location: string, body: Json): Decision {
  const existing = call.state.resources.get(route.key);
  const id = existing?.id ?? route.id;
  const input = inputOf(call, { id, key: route.key, existing, location });
  const plan = route.type.plan(input, body);
  return accept(call, route, { input, plan, operation: route.type.operation, change: undefined });
}

export function putChild(call: Call, route: ResourceRoute, child: ChildType, name: string): Decision {
  const parent = requireParent(call, route);
  if (!child.put || !route.type.planChild) throw readOnly(child, route);
  const stored = childrenOf(parent.body, child.collection).get(name.toLowerCase());
  if (!stored) checkName(child.nameRule, name);
  const body = requireBody(call.request);
  checkPreconditions(call.request, route.type.type, parent.id, preconditionTarget(parent, stored));
  checkParent(parent);
  const input = inputOf(call, { id: parent.id, key: route.key, existing: parent, location: parent.location });
  const canonical = stringOf(stored?.["name"]) ?? name;
  const next = child.put({ ...input, existing: parent, name: canonical, child: stored, body });
  const plan = route.type.planChild(
    { ...input, existing: parent },
    replaceChild(parent.body, child.collection, canonical, next),
  );
  const change = { collection: child.collection, name: canonical, child: next, created: !stored };
  return accept(call, route, { input, plan, operation: child.operation, change });
}

/** The parent of a child that is read or written; the gateway refuses an absent one. */
export function requireParent(call: Call, route: ResourceRoute): Resource {
  requireGroup(call, route.subscription, route.group);
  const parent = call.state.resources.get(route.key);
  if (parent) return parent;
  throw gateway(
    404,
    "ParentResourceNotFound",
    `Failed to perform '${call.request.method.toLowerCase()}' on resource(s) of type '${route.type.type.split("/").slice(1).join("/")}/` +
      `${route.rest[0] ?? ""}', because the parent resource '${route.id}' could not be found.`,
  );
}

/** The resource for preconditions of a child: the parent if the child exists, otherwise none. */
function preconditionTarget(parent: Resource, child: Json | undefined): Resource | undefined {
  return child ? parent : undefined;
}

export function checkParent(parent: Resource): void {
  if (parent.state !== "Failed") return;
  throw invalid(
    "ParentResourceIsInFailedState",
    `Cannot proceed with operation because parent resource ${parent.id} is in Failed state. Put the parent resource first.`,
  );
}

export function readOnly(child: ChildType, route: ResourceRoute): Error {
  return gateway(
    405,
    "HttpMethodNotAllowed",
    `Resources of type '${route.type.type}/${child.collection}' are written with their parent '${route.id}'.`,
  );
}

function inputOf(call: Call, target: Pick<PutInput, "id" | "key" | "existing" | "location">): PutInput {
  const { state, request, draws } = call;
  return { state, request, draws, ...target, sequence: target.existing?.sequence ?? state.nextSequence };
}

function locationOf(
  call: Call,
  route: ResourceRoute,
  existing: Resource | undefined,
  body: Json,
  group: Resource,
): string {
  const given = stringOf(body["location"]);
  if (route.type.located === false) return existing?.location ?? group.location;
  if (given === undefined || given === "") {
    throw gateway(400, "LocationRequired", "The location property is required for this definition.");
  }
  const location = canonicalLocation(given);
  if (existing && existing.location !== location) {
    throw gateway(
      409,
      "InvalidResourceLocation",
      `The resource '${nameOf(existing.id)}' already exists in location '${existing.location}' in resource group ` +
        `'${route.group}'. A resource with the same name cannot be created in location '${location}'. Please select a new resource name.`,
    );
  }
  const { regions } = call.state.options;
  if (regions.length === 0 || regions.includes(location)) return location;
  throw gateway(
    400,
    "LocationNotAvailableForResourceType",
    `The provided location '${given}' is not available for resource type '${route.type.type}'. List of available regions ` +
      `for the resource type is '${regions.join(",")}'.`,
  );
}

interface ChildChange {
  readonly collection: string;
  readonly name: string;
  readonly child: Json;
  readonly created: boolean;
}

interface Accepted {
  readonly input: PutInput;
  readonly plan: Plan;
  /** The part of the operation's name. */
  readonly operation: string;
  /** The one child that is written; undefined when the whole resource is. */
  readonly change: ChildChange | undefined;
}

function accept(call: Call, route: ResourceRoute, accepted: Accepted): Decision {
  const { input, plan, change } = accepted;
  const { existing } = input;
  const name = `Put${accepted.operation}Operation`;
  const idle = call.draws.fate === undefined && isUnchanged(existing, plan);
  const pace = paceOf(call, route, plan, idle);
  const kind = { ...call.kind, weight: plan.weight ?? call.kind.weight, bare: pace !== "later" };
  const start = startOf(route, accepted, { name, pace, kind });
  const begun = begin(call, start);
  const { changes, inherited } = supersedeRunning(call, start, begun.id);
  const operation =
    inherited.length > 0 ? { ...begun, companions: [...(begun.companions ?? []), ...inherited] } : begun;
  const next = written(call, route, { ...accepted, name, later: pace === "later" });
  const resource = existing && (idle || looksAlike(existing, next)) ? existing : next;
  if (resource !== existing) changes.push(changeOf(input.key, resource, change));
  changes.push(...(plan.companions ?? []));
  if (pace !== "headerless") changes.push({ kind: "operation", operation });
  const wire = wireOf(call.state, resource);
  const created = change ? change.created : !existing;
  const body = shown(call, route.type.type, plan.present?.(wire) ?? wire);
  return {
    response: {
      status: created ? (route.type.createStatus ?? 201) : 200,
      headers: {
        ...(pace !== "headerless" && operationHeaders(call, operation, false)),
        ...(isCompute(route.type.type) && { etag: String(wire["etag"]) }),
      },
      body: change ? childIn(body, change.collection, change.name) : body,
    },
    changes,
    operation: kind,
  };
}

/** Whether a write changes nothing. */
function isUnchanged(existing: Resource | undefined, plan: Plan): boolean {
  if (existing?.state !== "Succeeded" || (plan.companions ?? []).length > 0) return false;
  return sameJson(existing.body, plan.body) && sameJson(existing.assigned, plan.assigned);
}

/** Whether the wire form stays the same: identical content is being written again. */
function looksAlike(before: Resource, after: Resource): boolean {
  return before.state === after.state && sameJson(before.body, after.body) && sameJson(before.assigned, after.assigned);
}

function paceOf(call: Call, route: ResourceRoute, plan: Plan, idle: boolean): Pace {
  if (call.draws.fate !== undefined) return "later";
  if (!idle || plan.pace === "headerless") return plan.pace;
  return isCompute(route.type.type) ? "headerless" : "now";
}

function startOf(route: ResourceRoute, { input, plan }: Accepted, more: Pick<Start, "name" | "pace" | "kind">): Start {
  const { id, key, location } = input;
  const companions = (plan.companions ?? []).flatMap((item) =>
    item.kind === "put" && item.resource.state !== "Succeeded" ? [keyOf(item.resource.id)] : [],
  );
  const locks = [...(plan.locks ?? []), ...companions];
  return { id, key, type: route.type.type, location, effect: "provision", companions, locks, ...more };
}

/** The resource after the write. */
function written(call: Call, route: ResourceRoute, write: Accepted & { name: string; later: boolean }): Resource {
  const { input, plan, later } = write;
  const { existing } = input;
  const onTheWay = existing ? "Updating" : (route.type.creating ?? "Updating");
  return {
    id: input.id,
    type: route.type.type,
    location: input.location,
    guid: existing?.guid ?? call.draws.guid(),
    sequence: input.sequence,
    revision: (existing?.revision ?? 0) + 1,
    state: later ? onTheWay : "Succeeded",
    provisioned: (existing?.provisioned ?? false) || !later,
    lastOperation: write.name,
    createdMs: existing?.createdMs ?? call.request.nowMs,
    body: plan.body,
    assigned: plan.assigned,
  };
}

/** A write of a single child is journalled as a change of that child. */
function changeOf(key: string, resource: Resource, change: ChildChange | undefined): Change {
  if (!change) return { kind: "put", resource };
  const { state, provisioned, lastOperation } = resource;
  return {
    kind: "child",
    key,
    collection: change.collection,
    name: change.name,
    child: change.child,
    mark: { state, provisioned, lastOperation },
  };
}

/** A child in its parent's wire form. */
function childIn(wire: Json, collection: string, name: string): Json {
  return childrenOf(wire, collection).get(name.toLowerCase()) ?? {};
}
