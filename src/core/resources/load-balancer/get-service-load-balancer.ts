/**
 * Which load balancer serves a Service, and on which others it still has parts.
 *
 * Standard has one load balancer of each kind, or several by the config (`place-on-several.ts`), or a fleet
 * (`place-in-fleet.ts`). Basic has a pair per VM set, and a Service stays where it is unless its mode names other sets:
 *
 *   mode of the Service | candidates for a new Service
 *   --------------------|------------------------------------------------
 *   none                | the primary VM set
 *   `__auto__`          | every VM set of the nodes (no control plane)
 *   `name1,name2`       | those
 *
 * Of the candidates the first without a load balancer wins, else the one with the fewest rules. Services that are yet to
 * be placed are placed in the order of their creation, each counting those before it, so that many at once spread as if
 * they came one by one, and stay below the limit together.
 */
import type { LoadBalancer } from "../../model/arm.ts";
import type { Compute } from "../../backends/compute.ts";
import { isControlPlane } from "../../backends/eligible-nodes.ts";
import { vmSetOf } from "../../backends/machines.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { loadBalancerId } from "../../model/ids.ts";
import { ageOf, type Node } from "../../model/kubernetes.ts";
import { externalName, fleetNumber, isInternalName, loadBalancerName, scopedName } from "../../model/names.ts";
import { servedHere } from "../../intent/ownership.ts";
import { parseService } from "../../intent/parse-service.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { Rejection } from "../../outcome.ts";
import { demandOf } from "./limits.ts";
import { loadBalancersWith } from "./load-balancer-index.ts";
import { placeInFleet } from "./place-in-fleet.ts";
import { placeOnSeveral, type SeveralInput } from "./place-on-several.ts";

/** The Service itself, and all that may be placed beside it. */
export interface PlacementInput extends SeveralInput {
  readonly nodes: readonly Node[];
  readonly compute?: Compute;
}

export interface Placement {
  readonly id: string;
  readonly name: string;
  /** Why this one of several, for a person. */
  readonly why?: string;
  /** It is new there, and if the load balancer has filled up meanwhile another one will do. */
  readonly mayGoElsewhere?: boolean;
  /** Absent where it is yet to be made. */
  readonly seen: LoadBalancer | undefined;
  /** Of the same kind: to be left first, because one address cannot stand on two load balancers. */
  readonly movedFrom: readonly LoadBalancer[];
  /** Of the opposite kind: to be left last, when the new side is built and published. */
  readonly flippedFrom: readonly LoadBalancer[];
}

/** @design getServiceLoadBalancer */
export function getServiceLoadBalancer(input: PlacementInput, intent: ServiceIntent): Placement | Rejection {
  const present = loadBalancersWith(input.loadBalancers, intent.owner.base);
  const isSameKind = ({ name }: LoadBalancer): boolean => isInternalName(name) === (intent.scope === "internal");
  const choice = chooseName(input, intent, present.filter(isSameKind));
  if ("kind" in choice) return choice;
  const { name, why, mayGoElsewhere } = choice;
  const isHere = (loadBalancer: LoadBalancer): boolean => loadBalancer.name.toLowerCase() === name.toLowerCase();
  const seen = input.loadBalancers.find(isHere);
  return {
    id: seen?.id ?? loadBalancerId(input.config, name),
    name: seen?.name ?? name,
    ...(why !== undefined && { why }),
    ...(mayGoElsewhere === true && { mayGoElsewhere }),
    seen,
    movedFrom: present.filter((one) => isSameKind(one) && !isHere(one)),
    flippedFrom: present.filter((one) => !isSameKind(one)),
  };
}

function chooseName(
  input: PlacementInput,
  intent: ServiceIntent,
  present: readonly LoadBalancer[],
): { readonly name: string; readonly why?: string; readonly mayGoElsewhere?: boolean } | Rejection {
  const { config } = input;
  if (config.loadBalancers.length > 0) {
    const choice = placeOnSeveral(input, intent);
    return "kind" in choice ? choice : { ...choice, name: scopedName(choice.name, intent.scope) };
  }
  if (config.sku === "standard")
    return isFleet(input) ? placeInFleet(input, intent, present) : { name: loadBalancerName(config, intent.scope) };
  const candidates = candidateSets(input, intent);
  if ("kind" in candidates) return candidates;
  const names = candidates.map((vmSet) => loadBalancerName(config, intent.scope, vmSet));
  const stays = present.find(({ name }) => mayStay(config, intent, names, name));
  if (stays !== undefined) return { name: stays.name };
  const least = leastUsed(input, intent, names);
  return typeof least === "string" ? { name: least } : least;
}

/** Whether load balancers are made as they are needed, or were while the config said so. */
function isFleet({ config, loadBalancers }: PlacementInput): boolean {
  return config.fleetMax > 1 || loadBalancers.some(({ name }) => (fleetNumber(config, name) ?? 1) > 1);
}

/** Without a mode, or with `__auto__`, a Service never moves, but for a VM set that has become the primary one. */
function mayStay(config: ClusterConfig, intent: ServiceIntent, candidates: readonly string[], name: string): boolean {
  const isCandidate = candidates.some((candidate) => candidate.toLowerCase() === name.toLowerCase());
  if (isCandidate) return true;
  const external = externalName(name);
  const isFormerSet = external.toLowerCase() === config.primaryVmSet.toLowerCase();
  return intent.vmSets.kind !== "named" && !isFormerSet;
}

function candidateSets(input: PlacementInput, intent: ServiceIntent): readonly string[] | Rejection {
  const { config, nodes, compute } = input;
  if (intent.vmSets.kind === "primary") return [config.primaryVmSet];
  const known = new Map<string, string>();
  for (const node of nodes) {
    const vmSet = isControlPlane(node) ? undefined : vmSetOf(node, compute);
    if (vmSet !== undefined) known.set(vmSet.toLowerCase(), vmSet);
  }
  if (intent.vmSets.kind === "auto") return known.size > 0 ? [...known.values()].sort() : [config.primaryVmSet];
  const { names } = intent.vmSets;
  const unknown = names.filter((name) => !known.has(name.toLowerCase()));
  if (unknown.length === 0) return names.map((name) => known.get(name.toLowerCase()) ?? name);
  const message =
    `annotation azure-load-balancer-mode names ${unknown.map((name) => `"${name}"`).join(", ")}, but the nodes are in ` +
    `${[...known.values()].sort().join(", ") || "no VM set"}: name one of those, or use "__auto__"`;
  return { kind: "rejection", reason: "UnknownVMSet", message };
}

function leastUsed(input: PlacementInput, intent: ServiceIntent, names: readonly string[]): string | Rejection {
  const { config } = input;
  const usage = new Usage(input);
  for (const earlier of unplacedBefore(input, intent)) {
    const candidates = candidateSets(input, earlier);
    if (!("kind" in candidates)) {
      usage.place(
        candidates.map((vmSet) => loadBalancerName(config, earlier.scope, vmSet)),
        earlier,
      );
    }
  }
  const placed = usage.place(names, intent);
  if (placed !== undefined) return placed;
  const message =
    `every load balancer that could serve it (${names.join(", ")}) would have more than ` +
    `${config.maximumLoadBalancerRuleCount} rules: raise maximumLoadBalancerRuleCount or add a VM set`;
  return { kind: "rejection", reason: "TooManyRules", message };
}

/** The rules on each load balancer, with those of the Services placed so far. */
class Usage {
  readonly #most: number;
  readonly #rules: Map<string, number>;

  constructor({ config, loadBalancers }: PlacementInput) {
    this.#most = config.maximumLoadBalancerRuleCount;
    this.#rules = new Map(
      loadBalancers.map(({ name, properties }) => [name.toLowerCase(), properties.loadBalancingRules?.length ?? 0]),
    );
  }

  /** `undefined`: none has room. */
  place(names: readonly string[], intent: ServiceIntent): string | undefined {
    const rulesOn = (name: string): number => this.#rules.get(name.toLowerCase()) ?? -1;
    const best = names.reduce((least, name) => (rulesOn(name) < rulesOn(least) ? name : least));
    const rules = Math.max(0, rulesOn(best)) + demandOf(intent).rules;
    if (rules > this.#most) return undefined;
    this.#rules.set(best.toLowerCase(), rules);
    return best;
  }
}

/** What older Services ask for that have nothing on a load balancer of this kind yet, oldest first. */
function unplacedBefore(input: PlacementInput, { owner, scope }: ServiceIntent): ServiceIntent[] {
  const { service, otherServices = [], config, loadBalancers, classFilter } = input;
  if (service === undefined) return [];
  const sameKind = loadBalancers.filter(({ name }) => isInternalName(name) === (scope === "internal"));
  return servedHere(otherServices, classFilter)
    .filter((other) => other.metadata.uid !== owner.uid && ageOf(other) < ageOf(service))
    .sort((one, other) => (ageOf(one) < ageOf(other) ? -1 : 1))
    .flatMap((other) => {
      const parsed = parseService(other, config);
      return "intent" in parsed && parsed.intent.scope === scope ? [parsed.intent] : [];
    })
    .filter((intent) => loadBalancersWith(sameKind, intent.owner.base).length === 0);
}
