/** A Bind as the API server sends it: load balancers, and the group of pods behind them. */
import type { Bind, BindLoadBalancerStatus } from "../objects/objects.ts";
import { listOf, objectOf, optional, stringMapOf, textOf, type Json } from "../objects/read-json.ts";
import { type Stored, parts, metaOf, conditionsOf, ensurePolicyOf, presentMap } from "../objects/read-common.ts";
import { podsOf, deregisterOf, groupStatusOf } from "../groups/read-backend-group.ts";
import { loadBalancerStatusOf } from "../load-balancers/read-load-balancer.ts";

export function readBind(object: Stored): Bind {
  const { metadata, spec, status } = parts(object);
  const loadBalancers = listOf(spec["loadBalancers"])
    .map(objectOf)
    .map((each) => ({
      name: textOf(each["name"]),
      driver: textOf(each["driver"]),
      spec: stringMapOf(each["spec"]),
      attributes: stringMapOf(each["attributes"]),
    }));
  const meta = metaOf(metadata);
  return {
    metadata: meta,
    spec: { loadBalancers },
    group: {
      kind: "Bind",
      metadata: meta,
      spec: {
        loadBalancers: loadBalancers.map(({ name }) => name),
        backends: podsOf(objectOf(spec["pods"])),
        parameters: stringMapOf(spec["parameters"]),
        deregister: deregisterOf(spec),
        ensurePolicy: ensurePolicyOf(spec["ensurePolicy"]),
      },
      status: groupStatusOf(status, status["acceptedLoadBalancers"]),
    },
    status: {
      loadBalancerStatuses: listOf(status["loadBalancerStatuses"]).map((each) => bindStatusOf(objectOf(each))),
      conditions: conditionsOf(status),
    },
  };
}

function bindStatusOf(status: Json): BindLoadBalancerStatus {
  return {
    name: textOf(status["name"]),
    driver: textOf(status["driver"]),
    ...optional("spec", presentMap(status["spec"])),
    ...optional("deletionTimestamp", textOf(status["deletionTimestamp"]) || undefined),
    ...loadBalancerStatusOf(status),
  };
}
