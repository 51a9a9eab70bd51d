/** POST on a load balancer: rule health (`rule-health.ts`), migration of pools, NAT port mappings. */
import { childNotFound, invalid } from "../../errors.ts";
import { keyOf } from "../../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, stringsOf } from "../../json.ts";
import { childId, childrenOf, referrers } from "../../lookups.ts";
import type { Action, ActionInput } from "../../resource-type.ts";
import { ownerKeyOf } from "./conflicts.ts";
import { checkNoPrivateLink } from "./ip-members.ts";
import { renderLoadBalancer } from "./render.ts";
import { ruleHealth } from "./rule-health.ts";
import { idIn, nameIn, stored } from "./shape.ts";

export function loadBalancerAction(input: ActionInput): Action | undefined {
  const [collection, name = "", action] = input.path.map((part) => part.toLowerCase());
  if (input.path.length === 1 && collection === "migratetoipbased") return migrate(input);
  if (input.path.length !== 3) return undefined;
  if (collection === "loadbalancingrules" && action === "health") return ruleHealth(input, name);
  if (collection === "backendaddresspools" && action === "queryinboundnatruleportmapping")
    return portMapping(input, name);
  return undefined;
}

function migrate({ state, resource, body }: ActionInput): Action {
  const pools = stringsOf(body["pools"]);
  const known = childrenOf(resource.body, "backendAddressPools");
  for (const pool of pools) {
    const id = childId(resource.id, "backendAddressPools", pool);
    if (!known.has(pool.toLowerCase())) throw childNotFound(id);
    checkNoPrivateLink(state, resource, id);
  }
  return {
    name: "MigrateLoadBalancerToIpBasedOperation",
    result: { migratedPools: pools },
    answer: "atOnce",
    migrates: pools,
  };
}

function portMapping({ state, resource, body }: ActionInput, poolName: string): Action {
  const wire = renderLoadBalancer(state, resource);
  const pool = childrenOf(wire, "backendAddressPools").get(poolName);
  if (!pool) throw childNotFound(childId(resource.id, "backendAddressPools", poolName));
  const configuration = stringOf(objectOf(body["ipConfiguration"])["id"])?.toLowerCase();
  const address = stringOf(body["ipAddress"]);
  if (configuration === undefined && address === undefined) {
    throw invalid("InvalidRequestFormat", "Either ipAddress or ipConfiguration must be given.");
  }
  const member = objectsOf(propertiesOf(pool)["loadBalancerBackendAddresses"]).find((item) =>
    configuration === undefined
      ? propertiesOf(item)["ipAddress"] === address
      : keyOf(idIn(item, "networkInterfaceIPConfiguration") ?? "") === configuration,
  );
  const rules = new Map(stored(resource.body, "inboundNatRules").map((rule) => [nameIn(rule), rule]));
  const mappings = objectsOf(member && propertiesOf(member)["inboundNatRulesPortMapping"]).map((mapping) => ({
    ...mapping,
    protocol: propertiesOf(rules.get(stringOf(mapping["inboundNatRuleName"]) ?? "") ?? {})["protocol"],
  }));
  return {
    name: "QueryInboundNatRulePortMappingOperation",
    result: { inboundNatRulePortMappings: mappings },
    answer: "atOnce",
  };
}

/** Keys of the NICs in any of a load balancer's pools. */
export function nicsOf({ state, resource }: Pick<ActionInput, "state" | "resource">): string[] {
  const keys = stored(resource.body, "backendAddressPools").flatMap((pool) => {
    const members = referrers(state, keyOf(childId(resource.id, "backendAddressPools", nameIn(pool))), "poolMember");
    return members.map((member) => ownerKeyOf(member.from));
  });
  return [...new Set(keys)].filter((key) => key.includes("/microsoft.network/"));
}
