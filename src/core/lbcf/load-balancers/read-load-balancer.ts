/** A LoadBalancer as the API server sends it. A Bind holds the same status per load balancer. */
import type { LoadBalancer, LoadBalancerStatus } from "../objects/objects.ts";
import { optional, stringMapOf, textOf, textsOf, type Json } from "../objects/read-json.ts";
import { type Stored, parts, metaOf, conditionsOf, ensurePolicyOf, presentMap } from "../objects/read-common.ts";

export function readLoadBalancer(object: Stored): LoadBalancer {
  const { metadata, spec, status } = parts(object);
  return {
    metadata: metaOf(metadata),
    spec: {
      lbDriver: textOf(spec["lbDriver"]),
      lbSpec: stringMapOf(spec["lbSpec"]),
      attributes: stringMapOf(spec["attributes"]),
      scope: textsOf(spec["scope"]),
      ensurePolicy: ensurePolicyOf(spec["ensurePolicy"]),
    },
    status: loadBalancerStatusOf(status),
  };
}

export function loadBalancerStatusOf(status: Json): LoadBalancerStatus {
  return {
    ...optional("lbInfo", presentMap(status["lbInfo"])),
    ...optional("lastSyncedAttributes", presentMap(status["lastSyncedAttributes"])),
    conditions: conditionsOf(status),
  };
}
