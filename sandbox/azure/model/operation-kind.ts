/** Derives the kind of a call from its path, method and body. */
import type { ArmRequest, OperationKind } from "./contract.ts";
import { objectsOf, objectOf, propertiesOf, type Json } from "./json.ts";
import { childTypeOf, type Route } from "./route.ts";

export function kindOf(route: Route, request: ArmRequest): OperationKind {
  const verb = request.method === "HEAD" ? "GET" : request.method;
  const body = objectOf(request.body);
  switch (route.kind) {
    case "operation":
    case "operationResult":
      return { type: `${route.provider}/locations/operations`, verb, weight: 0, bare: true };
    case "provider":
      return { type: "Microsoft.Resources/providers", verb, weight: 0, bare: true };
    case "directory":
      return { type: `Microsoft.Resources/${route.what}`, verb, weight: 0, bare: true };
    case "collection":
      return { type: route.type.type, verb: verb === "GET" ? "LIST" : verb, weight: 0, bare: true };
    case "resource": {
      const child = childTypeOf(route.type, route.rest);
      const below = child ? [child.collection, ...route.rest.slice(2)] : route.rest;
      const lists = verb === "GET" && child !== undefined && route.rest.length === 1;
      const type = [route.type.type, ...below].join("/");
      return { type, verb: lists ? "LIST" : verb, weight: weightOf(body), bare: isBare(body) };
    }
  }
}

const COUNTED = [
  "loadBalancerBackendAddresses",
  "frontendIPConfigurations",
  "loadBalancingRules",
  "securityRules",
  "subnets",
];

function weightOf(body: Json): number {
  const properties = propertiesOf(body);
  let count = 0;
  for (const name of COUNTED) count += Array.isArray(properties[name]) ? properties[name].length : 0;
  return count;
}

function isBare(body: Json): boolean {
  const properties = propertiesOf(body);
  if (objectsOf(properties["loadBalancingRules"]).length > 0) return false;
  if (objectsOf(properties["loadBalancerBackendAddresses"]).length > 0) return false;
  return !objectsOf(properties["frontendIPConfigurations"]).some((item) => propertiesOf(item)["subnet"] !== undefined);
}
