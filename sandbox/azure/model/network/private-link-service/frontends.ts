/** The load balancer frontends of a private link service, and what it requires of their load balancer. */
import type { Resource } from "../../changes.ts";
import { invalid } from "../../errors.ts";
import { keyOf, parentKeyOf } from "../../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { childId, follow, referrers } from "../../lookups.ts";
import type { PutInput } from "../../resource-type.ts";
import { idReference } from "../fields.ts";
import { itemsOf } from "../load-balancer/draft.ts";
import { ipMembersOf, stored as storedIn } from "../load-balancer/shape.ts";

export function frontends(input: PutInput, value: unknown): Json[] {
  const items = itemsOf(value, "properties.loadBalancerFrontendIpConfigurations");
  const rule = {
    owner: input.id,
    location: input.location,
    path: "properties.loadBalancerFrontendIpConfigurations",
    child: "frontendIPConfigurations",
  };
  const targets = items.flatMap((item) => follow(input.state, item, rule) ?? []);
  const [first] = targets;
  if (!first)
    throw invalid(
      "PrivateLinkServiceMissingFrontend",
      `Private link service ${input.id} must reference a load balancer frontend IP configuration.`,
    );
  if (objectOf(first.resource.body["sku"])["name"] === "Basic") {
    throw invalid(
      "PrivateLinkServiceLoadBalancerMustBeStandard",
      `Private link service ${input.id} needs a Standard load balancer, and ${first.resource.id} is Basic.`,
    );
  }
  checkNoAddresses(input, first.resource);
  checkLoadBalancer(input, first.resource);
  return targets.map((target) => idReference(target.id));
}

/** A load balancer with IP members cannot have a private link service. */
function checkNoAddresses(input: PutInput, loadBalancer: Resource): void {
  const pool = storedIn(loadBalancer.body, "backendAddressPools").find((item) => ipMembersOf(item).length > 0);
  if (!pool) return;
  throw invalid(
    "PrivateLinkServiceNotSupportedWithIPBasedBackendPool",
    `Private link service ${input.id} cannot use load balancer ${loadBalancer.id}: its backend pool ${String(pool["name"])} holds IP addresses.`,
  );
}

/** A service cannot change its load balancer, and the number of services per load balancer is limited. */
function checkLoadBalancer(input: PutInput, loadBalancer: Resource): void {
  const [before] = objectsOf(propertiesOf(input.existing?.body ?? {})["loadBalancerFrontendIpConfigurations"]);
  const oldKey = before && parentKeyOf(keyOf(stringOf(before["id"]) ?? ""));
  if (oldKey !== undefined && oldKey !== keyOf(loadBalancer.id)) {
    throw invalid(
      "PrivateLinkServiceLoadBalancerCannotBeChanged",
      `Private link service ${input.id} cannot be moved to load balancer ${loadBalancer.id}.`,
    );
  }
  const limit = input.state.options.limits.privateLinkServicesPerLoadBalancer;
  const services = new Set<string>();
  for (const frontend of storedIn(loadBalancer.body, "frontendIPConfigurations")) {
    const key = keyOf(childId(loadBalancer.id, "frontendIPConfigurations", stringOf(frontend["name"]) ?? ""));
    for (const user of referrers(input.state, key, "privateLink")) if (user.from !== input.id) services.add(user.from);
  }
  if (services.size < limit) return;
  throw invalid(
    "PrivateLinkServiceCountLimitReachedForLoadBalancer",
    `Load balancer ${loadBalancer.id} cannot have more than ${limit} private link services.`,
  );
}
