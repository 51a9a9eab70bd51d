/** PATCH: changes tags only. Synchronous. */
import { requireBody, requireGroup, shown, wireOf, type Call } from "./call.ts";
import type { Decision } from "./contract.ts";
import { checkPreconditions, isCompute } from "./etags.ts";
import { resourceNotFound } from "./errors.ts";
import { isObject, sameJson } from "./json.ts";
import { checkUnlocked } from "./operations.ts";
import type { ResourceRoute } from "./route.ts";
import { checkTags } from "./tags.ts";

export function patchTags(call: Call, route: ResourceRoute): Decision {
  requireGroup(call, route.subscription, route.group);
  const existing = call.state.resources.get(route.key);
  if (!existing) throw resourceNotFound(route.type.type, route.name, route.group);
  const { tags } = requireBody(call.request);
  checkTags(tags, call.state.options.limits.tagsPerResource);
  checkPreconditions(call.request, existing.type, existing.id, existing);
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
