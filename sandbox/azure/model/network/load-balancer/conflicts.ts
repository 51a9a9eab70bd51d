/** Refuses conflicting rules: on a frontend, in a pool, with outbound rules, across load balancers. */
import { invalid } from "../../errors.ts";
import { keyOf, parentKeyOf } from "../../ids.ts";
import { numberOf, propertiesOf, type Json } from "../../json.ts";
import { childId, childrenOf, referrers } from "../../lookups.ts";
import type { State } from "../../state.ts";
import { portClash } from "../errors.ts";
import { backendPortOf, idIn, idsIn, isFloating, isInternal, nameIn, poolSize, rulesByPool, stored } from "./shape.ts";

/** SNAT ports behind one frontend address. */
const PORTS_PER_ADDRESS = 64_000;

export interface Candidate {
  readonly state: State;
  readonly id: string;
  readonly body: Json;
}

export function checkConflicts(candidate: Candidate): void {
  checkFrontendPorts(candidate);
  checkBackendPorts(candidate);
  checkOutbound(candidate);
}

function ruleId(candidate: Candidate, rule: Json, collection = "loadBalancingRules"): string {
  return childId(candidate.id, collection, nameIn(rule));
}

/** Two rules cannot listen on one port of one frontend. */
function checkFrontendPorts(candidate: Candidate): void {
  const taken = new Map<string, string>();
  for (const collection of ["loadBalancingRules", "inboundNatRules"] as const) {
    for (const rule of stored(candidate.body, collection)) {
      const { frontendPort, protocol } = propertiesOf(rule);
      if (collection === "inboundNatRules" && frontendPort === 0) continue;
      const place = `${idIn(rule, "frontendIPConfiguration")}|${String(frontendPort)}|${String(protocol).toLowerCase()}`;
      const other = taken.get(place);
      const id = ruleId(candidate, rule, collection);
      if (other !== undefined) {
        throw invalid(
          "RulesUseSameFrontendPortProtocolAndIPConfig",
          `Load balancing rules ${other} and ${id} with same frontend port, protocol and IP configuration cannot be used together.`,
        );
      }
      taken.set(place, id);
    }
  }
}

/** Without floating IP a backend port of a pool serves one rule; with it, one rule per frontend. */
function checkBackendPorts(candidate: Candidate): void {
  const taken = new Map<string, string>();
  for (const rule of stored(candidate.body, "loadBalancingRules")) {
    const floating = isFloating(rule);
    const id = ruleId(candidate, rule);
    for (const pool of idsIn(rule, "backendAddressPools")) {
      const place = `${pool}|${backendPortOf(rule)}|${floating ? idIn(rule, "frontendIPConfiguration") : "shared"}`;
      const other = taken.get(place);
      if (other !== undefined) throw sameBackend(floating, other, id);
      taken.set(place, id);
    }
  }
}

function sameBackend(floating: boolean, first: string, second: string): Error {
  return floating
    ? invalid(
        "RulesUseSameBackendPortProtocolAndPoolAndFrontendIPWithFloatingIPEnabled",
        `Load balancing rules ${first} and ${second} belong to the same load balancer, use the same backend port, ` +
          "protocol, backend pool and frontend IP configuration, and have floating IP enabled. They must differ.",
      )
    : invalid(
        "RulesUseSameBackendPortProtocolAndPool",
        `Load balancing rules ${first} and ${second} belong to the same load balancer and use the same backend port, ` +
          "protocol and backend pool with floatingIP disabled, must not be used together.",
      );
}

function checkOutbound(candidate: Candidate): void {
  const outbound = stored(candidate.body, "outboundRules");
  if (outbound.length === 0) return;
  const owners = new Map<string, string>();
  for (const rule of outbound) {
    for (const frontend of idsIn(rule, "frontendIPConfigurations"))
      owners.set(frontend, ruleId(candidate, rule, "outboundRules"));
    checkPorts(candidate, rule);
  }
  for (const rule of stored(candidate.body, "loadBalancingRules")) {
    const owner = owners.get(idIn(rule, "frontendIPConfiguration") ?? "");
    if (owner === undefined || propertiesOf(rule)["disableOutboundSnat"] === true) continue;
    throw invalid(
      "LoadBalancingRuleMustDisableSNATSinceSameFrontendIPConfigurationIsReferencedByOutboundRule",
      `Load balancing rule ${ruleId(candidate, rule)} must disable SNAT since its frontend IP configuration is also ` +
        `referenced by outbound rule ${owner}.`,
    );
  }
}

function checkPorts(candidate: Candidate, rule: Json): void {
  const ports = numberOf(propertiesOf(rule)["allocatedOutboundPorts"]) ?? 0;
  const id = ruleId(candidate, rule, "outboundRules");
  if (ports % 8 !== 0) {
    throw invalid(
      "InvalidAllocatedOutboundPorts",
      `Outbound rule ${id} has allocatedOutboundPorts ${ports}. It must be a multiple of 8.`,
    );
  }
  const poolId = idIn(rule, "backendAddressPool");
  const pool =
    poolId === undefined
      ? undefined
      : childrenOf(candidate.body, "backendAddressPools").get(keyOf(poolId).split("/").at(-1) ?? "");
  const members = pool ? poolSize(candidate.state, candidate.id, pool) : 0;
  const supply = PORTS_PER_ADDRESS * idsIn(rule, "frontendIPConfigurations").length;
  if (ports * members <= supply) return;
  throw invalid(
    "SpecifiedAllocatedOutboundPortsForOutboundRuleExceedsTotalNumberOfAvailablePorts",
    `Outbound rule ${id} allocates ${ports} ports to each of ${members} backend instances, but only ${supply} are available.`,
  );
}

/**
 * A NIC in two load balancers of one type (public, or internal) cannot serve one backend port for both.
 * `members` are the NIC configurations of the candidate's pools.
 */
export function checkAcrossLoadBalancers(candidate: Candidate): void {
  const internal = isInternal(candidate.body);
  const served = rulesByPool(candidate.body);
  const compared = new Set<string>();
  for (const [poolId, rules] of served) {
    const poolKey = keyOf(poolId);
    for (const member of referrers(candidate.state, poolKey, "poolMember")) {
      for (const otherKey of poolsOfConfiguration(candidate.state, member.from)) {
        const pair = `${poolKey}|${otherKey}`;
        if (parentKeyOf(otherKey) === keyOf(candidate.id) || compared.has(pair)) continue;
        compared.add(pair);
        compareWithOther(candidate, { internal, rules, otherKey, configuration: member.from });
      }
    }
  }
}

/** The pools that a NIC configuration is in, by key. */
function poolsOfConfiguration(state: State, configurationId: string): string[] {
  const references = state.outgoing.get(ownerKeyOf(configurationId)) ?? [];
  return references
    .filter((item) => item.kind === "poolMember" && item.from === configurationId)
    .map((item) => item.to);
}

/** The key of the stored resource that holds a NIC configuration: a NIC, or a scale-set instance. */
export function ownerKeyOf(configurationId: string): string {
  const nicKey = parentKeyOf(keyOf(configurationId));
  return nicKey.includes("/virtualmachinescalesets/") ? parentKeyOf(nicKey) : nicKey;
}

interface Comparison {
  readonly internal: boolean;
  readonly rules: readonly Json[];
  readonly otherKey: string;
  readonly configuration: string;
}

function compareWithOther(candidate: Candidate, { internal, rules, otherKey, configuration }: Comparison): void {
  const other = candidate.state.resources.get(parentKeyOf(otherKey));
  if (!other || isInternal(other.body) !== internal) return;
  const ports = new Map<string, string>();
  for (const [pool, theirs] of rulesByPool(other.body)) {
    if (keyOf(pool) !== otherKey) continue;
    for (const rule of theirs)
      if (!isFloating(rule)) ports.set(backendPortOf(rule), childId(other.id, "loadBalancingRules", nameIn(rule)));
  }
  for (const rule of rules) {
    const clash = isFloating(rule) ? undefined : ports.get(backendPortOf(rule));
    if (clash === undefined) continue;
    throw portClash(configuration, ruleId(candidate, rule), clash);
  }
}
