/** POST on a load balancer: rule health, migration of pools, NAT port mappings. */
import { childNotFound, invalid } from "../../errors.ts";
import { keyOf } from "../../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, stringsOf, type Json } from "../../json.ts";
import { childId, childrenOf, referrers } from "../../lookups.ts";
import type { Action, ActionInput } from "../../resource-type.ts";
import { ownerKeyOf } from "./conflicts.ts";
import { renderLoadBalancer } from "./render.ts";
import { idIn, idsIn, nameIn, stored } from "./shape.ts";

export function actOnLoadBalancer(input: ActionInput): Action | undefined {
  const [collection, name = "", action] = input.path.map((part) => part.toLowerCase());
  if (input.path.length === 1 && collection === "migratetoipbased") return migrate(input);
  if (input.path.length !== 3) return undefined;
  if (collection === "loadbalancingrules" && action === "health") return health(input, name);
  if (collection === "backendaddresspools" && action === "queryinboundnatruleportmapping")
    return portMapping(input, name);
  return undefined;
}

function migrate({ resource, body }: ActionInput): Action {
  const pools = stringsOf(body["pools"]);
  const known = childrenOf(resource.body, "backendAddressPools");
  for (const pool of pools) {
    if (!known.has(pool.toLowerCase())) throw childNotFound(childId(resource.id, "backendAddressPools", pool));
  }
  return {
    name: "MigrateLoadBalancerToIpBasedOperation",
    result: { migratedPools: pools },
    answer: "atOnce",
    migrates: pools,
  };
}

/** Without a data plane to ask, a member is up unless its admin state says otherwise. */
function health({ state, resource }: ActionInput, ruleName: string): Action {
  const rule = childrenOf(resource.body, "loadBalancingRules").get(ruleName);
  if (!rule) throw childNotFound(childId(resource.id, "loadBalancingRules", ruleName));
  const probed = idIn(rule, "probe") !== undefined;
  const pools = new Set(idsIn(rule, "backendAddressPools"));
  const wire = renderLoadBalancer(state, resource);
  const members = objectsOf(propertiesOf(wire)["backendAddressPools"])
    .filter((pool) => pools.has(stringOf(pool["id"]) ?? ""))
    .flatMap((pool) => objectsOf(propertiesOf(pool)["loadBalancerBackendAddresses"]));
  const states = members.map((member) => memberHealth(member, probed, (id) => addressOf(state, id)));
  const down = states.filter((item) => item["state"] === "Down").length;
  const result = { up: states.length - down, down, loadBalancerBackendAddresses: states };
  return { name: "GetLoadBalancingRuleHealthOperation", result, answer: "byLocation" };
}

function memberHealth(member: Json, probed: boolean, address: (configuration: string) => string | undefined): Json {
  const properties = propertiesOf(member);
  const nic = idIn(member, "networkInterfaceIPConfiguration");
  const down = probed && properties["adminState"] === "Down";
  return {
    ipAddress: nic === undefined ? properties["ipAddress"] : address(nic),
    ...(nic !== undefined && { networkInterfaceIPConfigurationId: { id: nic } }),
    state: down ? "Down" : "Up",
    reason: down ? "Down_Admin" : probed && properties["adminState"] === "Up" ? "Up_Admin" : "Up_Probe_Success",
  };
}

function addressOf(state: ActionInput["state"], configuration: string): string | undefined {
  const references = state.outgoing.get(ownerKeyOf(configuration)) ?? [];
  return references.find((item) => item.kind === "address" && item.from === configuration)?.address;
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
