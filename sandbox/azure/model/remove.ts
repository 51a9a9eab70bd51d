/** DELETE: 204 for an absent resource, otherwise an operation; a child is removed at once, a resource at its end. */
import { requireGroup, type Call } from "./call.ts";
import type { Change, Resource } from "./changes.ts";
import type { Decision } from "./contract.ts";
import { replaceChild } from "./apply.ts";
import { checkPreconditions } from "./etags.ts";
import { childrenOf } from "./lookups.ts";
import type { Operation } from "./operation.ts";
import { begin, checkUnlocked, operationHeaders, runningDeletion } from "./operations.ts";
import { checkParent, readOnly, requireParent } from "./put.ts";
import type { ChildType } from "./resource-type.ts";
import type { ResourceRoute } from "./route.ts";

const ABSENT = { status: 204, headers: {} } as const;

export function deleteResource(call: Call, route: ResourceRoute): Decision {
  requireGroup(call, route.subscription, route.group);
  const existing = call.state.resources.get(route.key);
  if (!existing) return { response: ABSENT, changes: [], operation: call.kind };
  checkPreconditions(call.request, existing.type, existing.id, existing);
  const begun = runningDeletion(call, route.key);
  if (begun) return accepted(call, route, begun, []);
  route.type.checkDelete(call.state, existing);
  checkUnlocked(call, route.key);
  if (route.type.synchronousDelete) {
    const response = { status: route.type.deleteStatus, headers: {} };
    return { response, changes: [{ kind: "drop", key: route.key }], operation: call.kind };
  }
  const name = `Delete${route.type.operation}Operation`;
  const operation = begin(call, { ...startOf(call, existing, route), name, effect: "drop" });
  const mark = { state: "Deleting", provisioned: existing.provisioned, lastOperation: name } as const;
  return accepted(call, route, operation, [
    { kind: "mark", key: route.key, mark },
    { kind: "operation", operation },
  ]);
}

function accepted(call: Call, route: ResourceRoute, operation: Operation, changes: readonly Change[]): Decision {
  const response = { status: route.type.deleteStatus, headers: operationHeaders(call, operation, true) };
  return { response, changes, operation: call.kind };
}

export function deleteChild(call: Call, route: ResourceRoute, child: ChildType, name: string): Decision {
  const parent = requireParent(call, route);
  if (!child.put) throw readOnly(child, route);
  const stored = childrenOf(parent.body, child.collection).get(name.toLowerCase());
  if (!stored) return { response: ABSENT, changes: [], operation: call.kind };
  checkPreconditions(call.request, parent.type, parent.id, parent);
  checkParent(parent);
  const { state, request, draws } = call;
  const input = {
    state,
    request,
    draws,
    id: parent.id,
    key: route.key,
    existing: parent,
    location: parent.location,
    sequence: parent.sequence,
  };
  route.type.checkDeleteChild?.(state, parent, child.collection, name);
  const plan = route.type.planChild?.(input, replaceChild(parent.body, child.collection, name, undefined));
  checkUnlocked(call, route.key);
  const lastOperation = `Delete${child.operation}Operation`;
  const operation = begin(call, { ...startOf(call, parent, route), name: lastOperation, effect: "provision" });
  const mark = { state: "Updating", provisioned: parent.provisioned, lastOperation } as const;
  return {
    response: { status: 202, headers: operationHeaders(call, operation, true) },
    changes: [
      { kind: "child", key: route.key, collection: child.collection, name, mark },
      ...(plan?.companions ?? []),
      { kind: "operation", operation },
    ],
    operation: call.kind,
  };
}

function startOf(call: Call, resource: Resource, route: ResourceRoute) {
  const { id, type, location } = resource;
  return { id, key: route.key, type, location, pace: "later" as const, kind: call.kind };
}
