/**
 * PATCH. Network resources change their tags only, at once. Compute resources are merged: objects field by field, `null`
 * removes, lists are replaced; the result is checked and carried out as a PUT.
 */
import { requireBody, requireGroup, shown, wireOf, type Call } from "./call.ts";
import type { Resource } from "./changes.ts";
import type { Decision } from "./contract.ts";
import { checkPreconditions, isCompute } from "./etags.ts";
import { resourceNotFound } from "./errors.ts";
import { isObject, objectOf, sameJson, type Json } from "./json.ts";
import { checkUnlocked } from "./operations.ts";
import { putBody } from "./put.ts";
import type { ResourceRoute } from "./route.ts";
import { checkTags } from "./tags.ts";

export function patchResource(call: Call, route: ResourceRoute): Decision {
  requireGroup(call, route.subscription, route.group);
  const existing = call.state.resources.get(route.key);
  if (!existing) throw resourceNotFound(route.type.type, route.name, route.group);
  const body = requireBody(call.request);
  checkTags(body["tags"], call.state.options.limits.tagsPerResource);
  checkPreconditions(call.request, existing.type, existing.id, existing);
  if (isCompute(existing.type) && Object.keys(body).some((field) => field !== "tags")) {
    return putBody(call, route, existing.location, merged(withoutCapacity(existing.body, body), body));
  }
  return patchTags(call, route, existing, body["tags"]);
}

function merged(before: Json, change: Json): Json {
  const next: { [name: string]: unknown } = { ...before };
  for (const [field, value] of Object.entries(change)) {
    if (value === null) delete next[field];
    else next[field] = isObject(value) ? merged(objectOf(before[field]), value) : value;
  }
  return next;
}

/** The number of instances stays as it is, not as it was last asked for, where the change does not name one. */
function withoutCapacity(before: Json, change: Json): Json {
  if (before["sku"] === undefined || objectOf(change["sku"])["capacity"] !== undefined) return before;
  const { capacity: _capacity, ...sku } = objectOf(before["sku"]);
  return { ...before, sku };
}

function patchTags(call: Call, route: ResourceRoute, existing: Resource, tags: unknown): Decision {
  checkUnlocked(call, route.key);
  const body = isObject(tags) ? { ...existing.body, tags } : existing.body;
  const changed = !sameJson(existing.body, body);
  const resource = changed ? { ...existing, body, revision: existing.revision + 1 } : existing;
  const wire = wireOf(call.state, resource);
  return {
    response: {
      status: 200,
      headers: isCompute(existing.type) ? { etag: String(wire["etag"]) } : {},
      body: shown(call, existing.type, wire),
    },
    changes: changed ? [{ kind: "put", resource }] : [],
    operation: call.kind,
  };
}
