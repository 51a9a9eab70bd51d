/** Checks a NIC's membership in pools and NAT rules, for NICs and for scale-set instances. */
import { invalid } from "../../errors.ts";
import { keyOf, parentKeyOf } from "../../ids.ts";
import { objectOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { childId, childrenOf, findChild, referrers } from "../../lookups.ts";
import type { Reference } from "../../references.ts";
import type { State } from "../../state.ts";
import { cannotMix, poolTooLarge, portClash } from "../errors.ts";
import { rulesServing, tooManyRules } from "../load-balancer/limits.ts";
import {
  backendPortOf,
  ipMembersOf,
  isFloating,
  isInternal,
  nicMemberCount,
  stored,
  idsIn,
} from "../load-balancer/shape.ts";

/** The references of one configuration. */
export function configurationReferences(id: string, configuration: Json): Reference[] {
  const properties = propertiesOf(configuration);
  const found: Reference[] = [];
  const subnet = stringOf(objectOf(properties["subnet"])["id"]);
  const address = stringOf(properties["privateIPAddress"]);
  if (subnet !== undefined)
    found.push({ kind: "address", from: id, to: keyOf(subnet), ...(address !== undefined && { address }) });
  const publicIp = stringOf(objectOf(properties["publicIPAddress"])["id"]);
  if (publicIp !== undefined) found.push({ kind: "publicIp", from: id, to: keyOf(publicIp) });
  for (const pool of idsIn(configuration, "loadBalancerBackendAddressPools"))
    found.push({ kind: "poolMember", from: id, to: keyOf(pool) });
  for (const rule of idsIn(configuration, "loadBalancerInboundNatRules"))
    found.push({ kind: "natTarget", from: id, to: keyOf(rule) });
  return found;
}

export interface Membership {
  readonly state: State;
  /** Canonical id of the NIC. */
  readonly nicId: string;
  /** References of the NIC after the write, and before it. */
  readonly after: readonly Reference[];
  readonly before: readonly Reference[];
  /** Key of the availability set of its machine, or of the scale set of its instance. */
  readonly availabilitySet: string | undefined;
}

/** Keys of the load balancers whose membership this write changes. */
export function changedLoadBalancers(membership: Membership): string[] {
  const edge = (item: Reference): string => `${item.kind}|${item.from}|${item.to}`;
  const joins = (item: Reference): boolean => item.kind === "poolMember" || item.kind === "natTarget";
  const [before, after] = [new Set(membership.before.map(edge)), new Set(membership.after.map(edge))];
  const changed = [
    ...membership.after.filter((item) => joins(item) && !before.has(edge(item))),
    ...membership.before.filter((item) => joins(item) && !after.has(edge(item))),
  ];
  return [...new Set(changed.map((item) => parentKeyOf(item.to)))];
}

export function checkMembership(membership: Membership): void {
  const pools = membership.after.filter((item) => item.kind === "poolMember");
  const joined = new Set(membership.before.map((item) => `${item.from}|${item.to}`));
  for (const item of pools) if (!joined.has(`${item.from}|${item.to}`)) checkJoin(membership, item);
  checkRuleCount(membership, pools);
  checkPortsAcross(membership, pools);
  checkNatRules(membership);
}

function checkJoin({ state, availabilitySet }: Membership, item: Reference): void {
  const loadBalancer = state.resources.get(parentKeyOf(item.to));
  const pool = findChild(state, item.to, "backendAddressPools");
  if (!loadBalancer || !pool?.child) return;
  if (ipMembersOf(pool.child).length > 0) throw cannotMix(pool.id);
  const basic = objectOf(loadBalancer.body["sku"])["name"] === "Basic";
  const { limits } = state.options;
  const limit = basic ? limits.basicPoolSize : limits.poolSize;
  const size = nicMemberCount(state, item.to);
  if (size >= limit) throw poolTooLarge(pool.id, size + 1, limit);
  if (basic) checkAvailabilitySets(state, item, availabilitySet, loadBalancer.id);
}

/** The members of a Basic pool share one availability set, or scale set; a Basic load balancer spans a bounded number. */
function checkAvailabilitySets(state: State, item: Reference, own: string | undefined, loadBalancerId: string): void {
  const ofPool = setsOf(state, item.to);
  if (ofPool.size > 0 && !ofPool.has(own)) {
    throw invalid(
      "NetworkInterfaceAndLoadBalancerAreInDifferentAvailabilitySets",
      `Network interface of IP configuration ${item.from} uses load balancer ${loadBalancerId} that is in different availability set.`,
    );
  }
  const all = new Set<string | undefined>([own]);
  const pools = childrenOf(state.resources.get(keyOf(loadBalancerId))?.body ?? {}, "backendAddressPools");
  for (const name of pools.keys())
    for (const set of setsOf(state, `${parentKeyOf(item.to)}/backendaddresspools/${name}`)) all.add(set);
  const limit = state.options.limits.availabilitySetsPerBasicLoadBalancer;
  if (all.size > limit) {
    throw invalid(
      "MaxAvailabilitySetsInLoadBalancerReached",
      `Load balancer ${loadBalancerId} cannot span more than ${limit} availability sets.`,
    );
  }
}

/** Keys of the availability sets and scale sets behind a pool; undefined stands for machines in none. */
function setsOf(state: State, poolKey: string): Set<string | undefined> {
  const members = referrers(state, poolKey, "poolMember").map(({ from }) => keyOf(from));
  return new Set(members.map((key) => scaleSetOf(key) ?? availabilitySetOf(state, parentKeyOf(key))));
}

/** The key of the uniform scale set that a configuration belongs to: its model's, or an instance's. */
function scaleSetOf(configurationKey: string): string | undefined {
  return /^.*\/virtualmachinescalesets\/[^/]+(?=\/)/.exec(configurationKey)?.[0];
}

export function availabilitySetOf(state: State, nicKey: string): string | undefined {
  const [machine] = referrers(state, nicKey, "virtualMachine");
  const references = machine ? (state.outgoing.get(keyOf(machine.from)) ?? []) : [];
  return references.find((item) => item.kind === "availabilitySet")?.to;
}

function checkRuleCount({ state, nicId, after }: Membership, pools: readonly Reference[]): void {
  const limit = state.options.limits.rulesPerNic;
  let count = after.filter((item) => item.kind === "natTarget").length;
  for (const item of pools) count += rulesServing(state, item.to);
  if (count > limit) throw tooManyRules(nicId, count, limit);
}

/** One configuration cannot serve one backend port for two load balancers of one type. */
function checkPortsAcross({ state }: Membership, pools: readonly Reference[]): void {
  if (pools.length < 2) return;
  const taken = new Map<string, string>();
  for (const item of pools) {
    const loadBalancer = state.resources.get(parentKeyOf(item.to));
    if (!loadBalancer) continue;
    const internal = isInternal(loadBalancer.body);
    for (const rule of stored(loadBalancer.body, "loadBalancingRules")) {
      if (isFloating(rule) || !idsIn(rule, "backendAddressPools").some((pool) => keyOf(pool) === item.to)) continue;
      const place = `${item.from}|${internal}|${backendPortOf(rule)}`;
      const id = childId(loadBalancer.id, "loadBalancingRules", stringOf(rule["name"]) ?? "");
      const other = taken.get(place);
      if (other !== undefined && !other.startsWith(`${loadBalancer.id}/`)) throw portClash(item.from, other, id);
      taken.set(place, id);
    }
  }
}

/** A NAT rule has one configuration, and a configuration's backend port one NAT rule. */
function checkNatRules({ state, after }: Membership): void {
  const taken = new Map<string, string>();
  for (const item of after) {
    const rule = item.kind === "natTarget" ? findChild(state, item.to, "inboundNatRules") : undefined;
    if (!rule?.child) continue;
    const place = `${item.from}|${backendPortOf(rule.child)}`;
    const other = taken.get(place);
    if (other !== undefined) {
      throw invalid(
        "RulesUseSameBackendPortProtocolAndIPConfig",
        `Inbound NAT rules ${other} and ${rule.id} use the same backend port and protocol with IP configuration ${item.from}.`,
      );
    }
    taken.set(place, rule.id);
    const [holder] = referrers(state, item.to, "natTarget").filter((user) => user.from !== item.from);
    if (holder && !after.some((own) => own.from === holder.from)) {
      throw invalid(
        "InboundNatRuleAlreadyInUse",
        `Inbound NAT rule ${rule.id} is already in use by IP configuration ${holder.from}.`,
      );
    }
  }
}
