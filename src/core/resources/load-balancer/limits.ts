/**
 * How full a load balancer may be, and how full it is. Azure refuses a whole write that exceeds a limit, whichever
 * Service is at fault; so a Service that does not fit is refused before, and all others are served. The limits are the
 * config's `loadBalancerLimits`, by default Azure's own.
 *
 *   limit             | counts                                                    | Standard | Basic
 *   ------------------|-----------------------------------------------------------|----------|------
 *   frontends         | frontends                                                 | 600      | 200
 *   rules             | load balancing and inbound NAT rules                      | 1,500    | 250
 *   rulesPerInterface | load balancing rules of this load balancer and of its     | 300      | 300
 *                     | internal or external twin; pools of interfaces only       |          |
 *   backends          | load balancing rules times nodes that may be in pools     | 500,000  | 500,000
 *   requestBytes      | a request that writes it whole; only where another load   | 4 MiB    | 4 MiB
 *                     | balancer could be made instead (`place-in-fleet.ts`)      |          |
 *
 * Which of several load balancers serves a Service is decided elsewhere: `exceeded` tells whether one has room.
 */
import { isEligible } from "../../backends/eligible-nodes.ts";
import type { ClusterConfig, LoadBalancerLimits } from "../../config/cluster-config.ts";
import { type ClassFilter, servedHere } from "../../intent/ownership.ts";
import { parseService } from "../../intent/parse-service.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import { ageOf, type Node, type Service } from "../../model/kubernetes.ts";
import { baseName, externalName } from "../../model/names.ts";
import type { Rejection } from "../../outcome.ts";
import { memo, memoAll } from "../../util/memo.ts";
import { type ArrangementInput, nodesOf } from "../backend-pool/arranged-nodes.ts";
import { isPreConfigured } from "../backend-pool/desired-backend-pool.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { frontendOf, loadBalancerIndex, type LoadBalancerIndex, partsOf } from "./load-balancer-index.ts";

/**
 * How much there is of each thing that is limited; negative in a change that takes away. `backends` in rules, as in
 * `limitsOf`; `requestBytes` is 0 where it is not counted.
 */
export type Usage = { readonly [limit in keyof LoadBalancerLimits]: number };

const NOTHING: Usage = { frontends: 0, rules: 0, rulesPerInterface: 0, backends: 0, requestBytes: 0 };

/**
 * What holds for one load balancer now: its twin takes a share of the rules per interface, and `backends` is the number
 * of rules that so many nodes leave room for.
 */
export function limitsOf(input: ArrangementInput, name: string): LoadBalancerLimits {
  const { config, loadBalancers } = input;
  const members = isPreConfigured(config, name) ? 0 : countMembers(config, nodesOf(input, name));
  const limits = config.loadBalancerLimits;
  const loadBalancerLimits = { ...limits, backends: Math.floor(limits.backends / members) };
  if (config.poolType === "nodeIP") return { ...loadBalancerLimits, rulesPerInterface: Number.POSITIVE_INFINITY };
  const isTwin = (other: LoadBalancer): boolean =>
    other.name.toLowerCase() !== name.toLowerCase() &&
    externalName(other.name).toLowerCase() === externalName(name).toLowerCase();
  const taken = loadBalancers.filter(isTwin).reduce((sum, twin) => sum + usageOf(twin).rulesPerInterface, 0);
  return { ...loadBalancerLimits, rulesPerInterface: loadBalancerLimits.rulesPerInterface - taken };
}

/** Nodes that may be in pools. */
export const countMembers = memoAll(
  (config: ClusterConfig, nodes: readonly Node[]) => nodes.filter((node) => isEligible(node, config)).length,
);

export function usageOf(loadBalancer: LoadBalancer | undefined): Usage {
  const {
    frontendIPConfigurations = [],
    loadBalancingRules = [],
    inboundNatRules = [],
  } = loadBalancer?.properties ?? {};
  return {
    frontends: frontendIPConfigurations.length,
    rules: loadBalancingRules.length + inboundNatRules.length,
    rulesPerInterface: loadBalancingRules.length,
    backends: loadBalancingRules.length,
    requestBytes: 0,
  };
}

/** What a Service adds to a load balancer that it is not on yet, if it shares no address there. */
export function demandOf({ ports, families, highAvailabilityPorts }: ServiceIntent): Usage {
  const rules = families.length * (highAvailabilityPorts ? 1 : ports.filter(({ rule }) => rule).length);
  return { frontends: families.length, rules, rulesPerInterface: rules, backends: rules, requestBytes: 0 };
}

export interface Exceeded {
  readonly limit: keyof LoadBalancerLimits;
  readonly most: number;
}

/** The first limit that the change would exceed; `undefined`: it has room, or takes none of what is scarce. */
export function exceeded(limits: LoadBalancerLimits, usage: Usage, change: Usage): Exceeded | undefined {
  const limit = LIMITS.find((one) => change[one] > 0 && usage[one] + change[one] > limits[one]);
  return limit && { limit, most: limits[limit] };
}

const LIMITS = Object.keys(NOTHING) as readonly (keyof LoadBalancerLimits)[];

export function plus(one: Usage, other: Usage): Usage {
  return {
    frontends: one.frontends + other.frontends,
    rules: one.rules + other.rules,
    rulesPerInterface: one.rulesPerInterface + other.rulesPerInterface,
    backends: one.backends + other.backends,
    requestBytes: one.requestBytes + other.requestBytes,
  };
}

/**
 * Which fragments of a batch have no room together with the others. Those that only give room back are counted first, then
 * each in the order of the batch.
 */
export function refuseOverflow(
  seen: LoadBalancer,
  batch: readonly LoadBalancerFragment[],
): Map<LoadBalancerFragment, Rejection> {
  const index = loadBalancerIndex(seen);
  const changes = batch.map((fragment) => ({ fragment, change: changeOf(index, fragment) }));
  const isGrowing = ({ change }: { change: Usage }): boolean => LIMITS.some((limit) => change[limit] > 0);
  let usage = changes.filter((one) => !isGrowing(one)).reduce((sum, { change }) => plus(sum, change), usageOf(seen));
  const refused = new Map<LoadBalancerFragment, Rejection>();
  for (const { fragment, change } of changes.filter(isGrowing)) {
    const { limits } = fragment;
    const full = limits && exceeded(limits, usage, change);
    if (full === undefined) usage = plus(usage, change);
    else refused.set(fragment, refuseFull(seen.name, full));
  }
  return refused;
}

/** A frontend that another owner uses too stays when its Service leaves it. */
function changeOf(index: LoadBalancerIndex, { owner, frontends, rules }: LoadBalancerFragment): Usage {
  const own = partsOf(index, owner.base);
  const base = owner.base.toLowerCase();
  const used = new Set(rules.map(({ properties }) => frontendOf(properties.frontendIPConfiguration)));
  const wanted = new Set([...used, ...frontends.map(({ name }) => name.toLowerCase())]);
  const isLeft = (name: string): boolean =>
    !wanted.has(name) && (index.users.get(name) ?? []).every((user) => user.base === base);
  const left = own.frontends.filter(({ name }) => isLeft(name.toLowerCase()));
  const added = frontends.filter(({ name }) => !index.frontends.has(name.toLowerCase()));
  const ruleChange = rules.length - own.rules.length;
  return { ...NOTHING, frontends: added.length - left.length, ...rulesChange(ruleChange) };
}

function rulesChange(rules: number): Pick<Usage, "rules" | "rulesPerInterface" | "backends"> {
  return { rules, rulesPerInterface: rules, backends: rules };
}

export interface Newcomers extends ArrangementInput {
  readonly classFilter?: ClassFilter;
  readonly service: Service;
  readonly otherServices: readonly Service[];
}

/**
 * Whether a new Service will find no room, with the older ones that are yet to come: they are served first, and it must
 * get no public IP meanwhile. Cheap unless all Services together come near a limit.
 */
export function foreseeOverflow(
  seenByAll: Newcomers,
  intent: ServiceIntent,
  { name, seen }: { readonly name: string; readonly seen: LoadBalancer | undefined },
): Rejection | undefined {
  const { config, service } = seenByAll;
  const otherServices = servedHere(seenByAll.otherServices, seenByAll.classFilter);
  const limits = limitsOf(seenByAll, name);
  const usage = usageOf(seen);
  if (exceeded(limits, usage, plus(mostOf(otherServices), demandOf(intent))) === undefined) return undefined;
  // of several it is not known which they come to; in a fleet they were counted when it was placed
  const isAlone = config.loadBalancers.length === 0 && config.fleetMax === 1;
  const isComing = (other: Service): boolean =>
    other.metadata.uid !== intent.owner.uid &&
    other.metadata.deletionTimestamp === undefined &&
    ageOf(other) < ageOf(service) &&
    (seen === undefined || !loadBalancerIndex(seen).parts.has(baseName(other.metadata.uid).toLowerCase()));
  const coming = (isAlone ? otherServices.filter(isComing) : []).reduce((sum, other) => {
    const parsed = parseService(other, config);
    return "intent" in parsed && parsed.intent.scope === intent.scope ? plus(sum, demandOf(parsed.intent)) : sum;
  }, usage);
  const full = exceeded(limits, coming, demandOf(intent));
  return full && refuseFull(name, full);
}

/** More than these Services can take, in both families. */
const mostOf = memo((services: readonly Service[]): Usage => {
  const rules = services.reduce((sum, { spec }) => sum + 2 * spec.ports.length, 0);
  return { ...NOTHING, frontends: 2 * services.length, ...rulesChange(rules) };
});

const NOUNS: Readonly<Record<keyof LoadBalancerLimits, string>> = {
  frontends: "frontends",
  rules: "rules",
  rulesPerInterface: "rules for each network interface, with those of its internal or external twin",
  backends: "rules with so many nodes",
  requestBytes: "bytes in a request",
};

const FIXES: Readonly<Record<keyof LoadBalancerLimits, string>> = {
  frontends: "remove Services, or share an address",
  rules: "remove Services or ports",
  rulesPerInterface: "remove Services or ports, or use loadBalancerBackendPoolConfigurationType: nodeIP",
  backends: "remove Services, ports or nodes",
  requestBytes: "remove Services or ports",
};

/** A limit, for a text: "600 frontends". */
export function limitText({ limit, most }: Exceeded): string {
  return `${Math.max(0, most)} ${NOUNS[limit]}`;
}

/** Without the count, which differs from look to look: the same refusal is told once. */
function refuseFull(loadBalancer: string, full: Exceeded): Rejection {
  const { limit } = full;
  const message =
    `load balancer "${loadBalancer}" has no room: it would have more than the ${limitText(full)} that ` +
    `Azure allows: ${FIXES[limit]}. If Azure allows you more, set ${limit} in loadBalancerLimits of the cloud config`;
  return { kind: "rejection", reason: "LoadBalancerFull", message };
}
