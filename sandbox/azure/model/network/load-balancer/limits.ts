/** Checks the limits of a load balancer. */
import { invalid } from "../../errors.ts";
import { keyOf } from "../../ids.ts";
import { objectOf, stringOf, type Json } from "../../json.ts";
import { childId, referrers } from "../../lookups.ts";
import type { State } from "../../state.ts";
import { ownerKeyOf, type Candidate } from "./conflicts.ts";
import { idIn, idsIn, nameIn, poolSize, stored } from "./shape.ts";

export function checkLimits(candidate: Candidate): void {
  const { limits } = candidate.state.options;
  const basic = stringOf(objectOf(candidate.body["sku"])["name"]) === "Basic";
  const frontends = stored(candidate.body, "frontendIPConfigurations").length;
  const rules = stored(candidate.body, "loadBalancingRules").length + stored(candidate.body, "inboundNatRules").length;
  const outbound = stored(candidate.body, "outboundRules").length;
  atMost(
    candidate,
    "frontend IP configurations",
    frontends,
    basic ? limits.basicFrontendsPerLoadBalancer : limits.frontendsPerLoadBalancer,
  );
  atMost(
    candidate,
    "load balancing and inbound NAT rules",
    rules,
    basic ? limits.basicRulesPerLoadBalancer : limits.rulesPerLoadBalancer,
  );
  atMost(candidate, "outbound rules", outbound, limits.outboundRulesPerLoadBalancer);
  checkBackends(candidate);
  checkRulesPerNic(candidate);
}

const CODES: Readonly<Record<string, string>> = {
  "frontend IP configurations": "FrontendIPConfigurationCountLimitReached",
  "load balancing and inbound NAT rules": "LoadBalancerRuleCountLimitReached",
  "outbound rules": "OutboundRuleCountLimitReached",
  "backend IP configurations per frontend": "BackendIPConfigurationCountLimitReachedForFrontend",
  "backend IP configurations": "BackendIPConfigurationCountLimitReached",
};

function atMost(candidate: Candidate, what: string, count: number, limit: number): void {
  if (count <= limit) return;
  throw invalid(
    CODES[what] ?? "LimitReached",
    `Load balancer ${candidate.id} has ${count} ${what}. It cannot have more than ${limit}.`,
  );
}

/** Each rule of a frontend counts every member of its pools. */
function checkBackends(candidate: Candidate): void {
  const sizes = new Map<string, number>();
  for (const pool of stored(candidate.body, "backendAddressPools")) {
    sizes.set(
      childId(candidate.id, "backendAddressPools", nameIn(pool)),
      poolSize(candidate.state, candidate.id, pool),
    );
  }
  const perFrontend = new Map<string, number>();
  let total = 0;
  for (const rule of stored(candidate.body, "loadBalancingRules")) {
    const frontend = idIn(rule, "frontendIPConfiguration") ?? "";
    let members = 0;
    for (const pool of idsIn(rule, "backendAddressPools")) members += sizes.get(pool) ?? 0;
    perFrontend.set(frontend, (perFrontend.get(frontend) ?? 0) + members);
    total += members;
  }
  const { limits } = candidate.state.options;
  const most = [...perFrontend.values()].reduce((left, right) => Math.max(left, right), 0);
  atMost(candidate, "backend IP configurations per frontend", most, limits.backendIpConfigurationsPerFrontend);
  atMost(candidate, "backend IP configurations", total, limits.backendIpConfigurationsPerLoadBalancer);
}

/** The number of rules per NIC is limited, over all its configurations and load balancers. */
function checkRulesPerNic(candidate: Candidate): void {
  const limit = candidate.state.options.limits.rulesPerNic;
  const own = new Map<string, number>();
  for (const rule of stored(candidate.body, "loadBalancingRules")) {
    for (const pool of idsIn(rule, "backendAddressPools")) own.set(keyOf(pool), (own.get(keyOf(pool)) ?? 0) + 1);
  }
  const known = new Map<string, number>();
  const checked = new Set<string>();
  for (const poolKey of own.keys()) {
    for (const member of referrers(candidate.state, poolKey, "poolMember")) {
      const nic = ownerKeyOf(member.from);
      if (checked.has(nic)) continue;
      checked.add(nic);
      checkNic(candidate.state, nic, (pool) => own.get(pool) ?? rulesOfPool(candidate, pool, known), limit);
    }
  }
}

/** Refuses a NIC whose rules, counted over its pools and NAT rules, are too many. */
function checkNic(state: State, nicKey: string, rulesOf: (poolKey: string) => number, limit: number): void {
  let count = 0;
  for (const reference of state.outgoing.get(nicKey) ?? []) {
    if (reference.kind === "poolMember") count += rulesOf(reference.to);
    if (reference.kind === "natTarget") count++;
  }
  if (count > limit) throw tooManyRules(nicKey, count, limit);
}

export function tooManyRules(nic: string, count: number, limit: number): Error {
  return invalid(
    "LoadBalancerRuleCountLimitReachedForNic",
    `Network interface ${nic} has ${count} load balancer rules. A network interface cannot have more than ${limit}.`,
  );
}

function rulesOfPool(candidate: Candidate, poolKey: string, known: Map<string, number>): number {
  let count = known.get(poolKey);
  if (count === undefined) {
    count = poolKey.startsWith(`${keyOf(candidate.id)}/`) ? 0 : rulesServing(candidate.state, poolKey);
    known.set(poolKey, count);
  }
  return count;
}

/** How many load-balancing rules serve a pool. */
export function rulesServing(state: State, poolKey: string): number {
  const loadBalancer = state.resources.get(poolKey.slice(0, poolKey.lastIndexOf("/backendaddresspools/")));
  if (!loadBalancer) return 0;
  const rules: readonly Json[] = stored(loadBalancer.body, "loadBalancingRules");
  return rules.filter((rule) => idsIn(rule, "backendAddressPools").some((pool) => keyOf(pool) === poolKey)).length;
}
