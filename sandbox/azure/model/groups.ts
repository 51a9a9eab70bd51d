/** The verbs of resource groups: PUT is synchronous, DELETE answers with a Location only. */
import { checkGroupStays, requireBody, shown, wireOf, type Call } from "./call.ts";
import type { Change, Resource } from "./changes.ts";
import type { Decision } from "./contract.ts";
import { gateway, groupNotFound } from "./errors.ts";
import { canonicalLocation } from "./ids.ts";
import { sameJson, stringOf, without } from "./json.ts";
import { checkName } from "./names.ts";
import type { Operation } from "./operation.ts";
import { begin, operationHeaders, runningDeletion } from "./operations.ts";
import type { ResourceRoute } from "./route.ts";
import { checkTags } from "./tags.ts";

const ENVELOPE = new Set(["id", "name", "type", "location"]);

export function answerGroup(call: Call, route: ResourceRoute): Decision {
  switch (call.request.method) {
    case "PUT":
      return putGroup(call, route);
    case "DELETE":
      return deleteGroup(call, route);
    case "GET":
      return groupReply(call, requireRoutedGroup(call, route), 200, []);
    case "HEAD":
      return {
        response: { status: call.state.resources.has(route.key) ? 204 : 404, headers: {} },
        changes: [],
        operation: call.kind,
      };
    case "PATCH": {
      const group = requireRoutedGroup(call, route);
      const { tags } = requireBody(call.request);
      checkTags(tags, call.state.options.limits.tagsPerResource);
      return store(call, group, { ...group, body: tags === undefined ? group.body : { ...group.body, tags } }, 200);
    }
    case "POST":
      throw gateway(405, "HttpMethodNotAllowed", "A resource group takes no POST.");
  }
}

function requireRoutedGroup(call: Call, route: ResourceRoute): Resource {
  const group = call.state.resources.get(route.key);
  if (!group) throw groupNotFound(route.name);
  return group;
}

function putGroup(call: Call, route: ResourceRoute): Decision {
  checkName("resourceGroup", route.name);
  const body = requireBody(call.request);
  const given = stringOf(body["location"]);
  if (given === undefined)
    throw gateway(400, "LocationRequired", "The location property is required for this definition.");
  checkTags(body["tags"], call.state.options.limits.tagsPerResource);
  const existing = call.state.resources.get(route.key);
  const location = canonicalLocation(given);
  if (existing && existing.location !== location) {
    throw gateway(
      409,
      "InvalidResourceGroupLocation",
      `Invalid resource group location '${given}'. The Resource group already exists in location '${existing.location}'.`,
    );
  }
  if (existing) checkGroupStays(existing);
  const group: Resource = {
    id: existing?.id ?? route.id,
    type: route.type.type,
    location,
    guid: existing?.guid ?? call.draws.guid(),
    sequence: existing?.sequence ?? call.state.nextSequence,
    revision: (existing?.revision ?? 0) + 1,
    state: "Succeeded",
    provisioned: true,
    lastOperation: "PutResourceGroupOperation",
    createdMs: existing?.createdMs ?? call.request.nowMs,
    body: without(body, ENVELOPE),
    assigned: {},
  };
  return store(call, existing, group, existing ? 200 : 201);
}

function store(call: Call, existing: Resource | undefined, group: Resource, status: number): Decision {
  const unchanged = existing && sameJson(existing.body, group.body);
  return groupReply(call, unchanged ? existing : group, status, unchanged ? [] : [{ kind: "put", resource: group }]);
}

function groupReply(call: Call, group: Resource, status: number, changes: readonly Change[]): Decision {
  return {
    response: { status, headers: {}, body: shown(call, group.type, wireOf(call.state, group)) },
    changes,
    operation: call.kind,
  };
}

function deleteGroup(call: Call, route: ResourceRoute): Decision {
  const group = requireRoutedGroup(call, route);
  const begun = runningDeletion(call, route.key);
  if (begun) return accepted(call, begun, []);
  const lastOperation = "DeleteResourceGroupOperation";
  const { id, type, location } = group;
  const operation = begin(call, {
    id,
    key: route.key,
    type,
    location,
    name: lastOperation,
    pace: "later",
    kind: call.kind,
    effect: "drop",
  });
  return accepted(call, operation, [
    { kind: "mark", key: route.key, mark: { state: "Deleting", provisioned: true, lastOperation } },
    { kind: "operation", operation },
  ]);
}

function accepted(call: Call, operation: Operation, changes: readonly Change[]): Decision {
  return { response: { status: 202, headers: operationHeaders(call, operation, true) }, changes, operation: call.kind };
}
