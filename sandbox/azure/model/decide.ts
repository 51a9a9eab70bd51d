/** Routes a request to the verb that answers it, and turns an `ArmError` into the response. */
import type { Call } from "./call.ts";
import type { ArmRequest, Decision, Draws, OperationKind } from "./contract.ts";
import { gateway, ArmError } from "./errors.ts";
import { postAction } from "./post.ts";
import { answerDirectory } from "./directory.ts";
import { answerGroup } from "./groups.ts";
import { kindOf } from "./operation-kind.ts";
import { operationResult, pollOperation } from "./operations.ts";
import { patchResource } from "./patch.ts";
import { answerProvider } from "./provider.ts";
import { putChild, putResource } from "./put.ts";
import { readCollection, readResource } from "./read.ts";
import { deleteChild, deleteResource } from "./remove.ts";
import { childTypeOf, routeOf, type ResourceRoute, type Route } from "./route.ts";
import type { State } from "./state.ts";

export function decide(state: State, request: ArmRequest, draws: Draws): Decision {
  let kind: OperationKind | undefined;
  try {
    const apiVersion = checkApiVersion(request);
    const route = routeOf(request.path, apiVersion);
    kind = kindOf(route, request);
    if (route.kind !== "directory" || "subscription" in route) checkSubscription(state, request.path);
    return answer({ state, request, draws, kind }, route);
  } catch (error) {
    if (!(error instanceof ArmError)) throw error;
    return { response: error.toResponse(), changes: [], ...(kind && { operation: kind }) };
  }
}

/** The kind of a call, from the request alone; undefined for unknown paths. */
export function operationKindOf(request: ArmRequest): OperationKind | undefined {
  try {
    return kindOf(routeOf(request.path, request.query["api-version"] ?? ""), request);
  } catch (error) {
    if (error instanceof ArmError) return undefined;
    throw error;
  }
}

function answer(call: Call, route: Route): Decision {
  switch (route.kind) {
    case "operation":
      return pollOperation(call, route.operationId);
    case "operationResult":
      return operationResult(call, route.operationId);
    case "provider":
      return answerProvider(call, route.subscription, route.provider);
    case "directory":
      return answerDirectory(call, route);
    case "collection":
      if (call.request.method === "GET") return readCollection(call, route);
      throw notAllowed(call);
    case "resource":
      return route.type.type === "Microsoft.Resources/resourceGroups"
        ? answerGroup(call, route)
        : answerResource(call, route);
  }
}

function answerResource(call: Call, route: ResourceRoute): Decision {
  const child = childTypeOf(route.type, route.rest);
  const [, name] = route.rest;
  const one = child && name !== undefined && route.rest.length === 2 ? { child, name } : undefined;
  const itself = route.rest.length === 0;
  switch (call.request.method) {
    case "GET":
      return readResource(call, route);
    case "PUT":
      if (one) return putChild(call, route, one.child, one.name);
      if (itself) return putResource(call, route);
      break;
    case "DELETE":
      if (one) return deleteChild(call, route, one.child, one.name);
      if (itself) return deleteResource(call, route);
      break;
    case "PATCH":
      if (itself) return patchResource(call, route);
      break;
    case "POST":
      if (!itself) return postAction(call, route);
      break;
    case "HEAD":
      break;
  }
  throw notAllowed(call);
}

function notAllowed(call: Call): Error {
  return gateway(405, "HttpMethodNotAllowed", `'${call.request.method}' is not allowed on '${call.request.path}'.`);
}

const API_VERSION = /^\d{4}-\d{2}-\d{2}(-[a-z]+)?$/i;

function checkApiVersion(request: ArmRequest): string {
  const version = request.query["api-version"];
  if (version === undefined || version === "") {
    throw gateway(
      400,
      "MissingApiVersionParameter",
      "The api-version query parameter (?api-version=) is required for all requests.",
    );
  }
  if (API_VERSION.test(version)) return version;
  throw gateway(
    400,
    "InvalidApiVersionParameter",
    `The api-version '${version}' is invalid. It must be a date such as 2025-05-01.`,
  );
}

function checkSubscription(state: State, path: string): void {
  const known = state.options.subscriptions;
  const asked = path.split("/")[2] ?? "";
  if (known.length === 0 || known.some((item) => item.toLowerCase() === asked.toLowerCase())) return;
  throw gateway(404, "SubscriptionNotFound", `The subscription '${asked}' could not be found.`);
}
