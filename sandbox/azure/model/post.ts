/** POST: actions on a resource, answered at once or through an operation whose result is at its Location. */
import { reply, requireGroup, type Call } from "./call.ts";
import type { Decision } from "./contract.ts";
import { gateway, resourceNotFound } from "./errors.ts";
import { objectOf } from "./json.ts";
import { begin, operationHeaders } from "./operations.ts";
import type { ResourceRoute } from "./route.ts";

export function postAction(call: Call, route: ResourceRoute): Decision {
  requireGroup(call, route.subscription, route.group);
  const resource = call.state.resources.get(route.key);
  if (!resource) throw resourceNotFound(route.type.type, route.name, route.group);
  const { state, request, draws } = call;
  const body = objectOf(request.body);
  const action = route.type.action?.({ state, resource, path: route.rest, body, probed: draws.probed });
  if (!action) throw gateway(404, "NotFound", `There is no action '${route.rest.join("/")}' on '${route.id}'.`);
  if (action.answer === "atOnce" && !action.migrates)
    return reply(call, { status: 200, headers: {}, body: action.result });
  const begun = begin(call, {
    id: resource.id,
    key: route.key,
    type: resource.type,
    location: resource.location,
    name: action.name,
    pace: "later",
    kind: call.kind,
    effect: action.migrates ? "migrate" : "none",
    result: action.result,
  });
  const operation = { ...begun, locks: [], ...(action.migrates && { pools: action.migrates }) };
  const response =
    action.answer === "atOnce"
      ? { status: 200, headers: {}, body: action.result }
      : { status: 202, headers: operationHeaders(call, operation, true) };
  return { response, changes: [{ kind: "operation", operation }], operation: call.kind };
}
