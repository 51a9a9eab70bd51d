/**
 * Puts the fragments of many Services into one shared load balancer. Decides nothing about what a Service wants.
 *
 *   - Each owner's parts are replaced, and nothing else: foreign parts go back as they were read, in their place.
 *   - The order of the fragments does not matter; there is at most one of an owner.
 *   - What is right already is not touched; merging the result again changes nothing.
 *   - A frontend that another owner needs stays, with a warning to the Service that left it.
 *   - A frontend stays too while a private link service stands on it, or another Service has its address in its status.
 *   - Without frontends nothing may stand in a load balancer: it goes when all that is left is the cluster's own pools;
 *     if something foreign is left, the last frontend stays.
 *   - Fragments that each decided to leave others behind do not delete it together while machines are in its pools: the
 *     last of them is stale, and its Service takes the machines out first.
 *   - The work is one pass over the body and in proportion to the fragments; `isSettled` needs no pass at all.
 */
import type { LoadBalancer, LoadBalancerProperties } from "../../model/arm.ts";
import { type Answer, answersOf, type Merged, sortedByOwner, unchanged, type Warning } from "../../outcome.ts";
import { baseOf, isServiceBase, SHARED_PROBE_NAME } from "../../model/names.ts";
import { mergeTags } from "../../model/tags.ts";
import { pluralize } from "../../util/text.ts";
import { reconciled, type Reconciled, SETTLED } from "../reconciled.ts";
import { admitFragments } from "./admit-fragments.ts";
import type { LoadBalancerFragment, LoadBalancerShell, FrontendHolder } from "./fragment.ts";
import {
  frontendOf,
  type FrontendUser,
  loadBalancerIndex,
  type LoadBalancerIndex,
  partsOf,
} from "./load-balancer-index.ts";
import {
  areRight,
  isForeignPool,
  isMigrated,
  mergedFrontends,
  mergedPools,
  mergedProbes,
  mergedRules,
} from "./parts.ts";
import { userOf } from "./part-user.ts";

type Outcome = Merged<LoadBalancer>["outcome"];

export function mergeLoadBalancer(
  seen: LoadBalancer | undefined,
  fragments: readonly LoadBalancerFragment[],
): Merged<LoadBalancer> {
  const batch = sortedByOwner(fragments);
  const start = seen ?? emptyLoadBalancer(batch);
  if (start === undefined) return unchanged(fragments);
  const { accepted, refused, stale } = admitFragments(start, batch);
  const pending = seen === undefined ? accepted : accepted.filter((fragment) => !isSettled(seen, fragment));
  const last = lastBeforeMachines(start, pending, seen !== undefined);
  const leaving = pending.filter((fragment) => fragment !== last);
  const outcome = settle(start, leaving, seen !== undefined);
  const remaining = remainingFrontends(start, outcome);
  const answers = new Map<LoadBalancerFragment, Answer>();
  for (const fragment of accepted)
    answers.set(fragment, { kind: "accepted", warnings: warningsFor(loadBalancerIndex(start), fragment, remaining) });
  for (const [fragment, rejection] of refused) answers.set(fragment, { kind: "refused", rejection });
  for (const fragment of last === undefined ? stale : [...stale, last]) answers.set(fragment, { kind: "stale" });
  return { outcome, answers: answersOf(fragments, answers) };
}

/** The fragment that must wait: together they would delete the load balancer while machines are in its pools. */
function lastBeforeMachines(
  start: LoadBalancer,
  pending: readonly LoadBalancerFragment[],
  exists: boolean,
): LoadBalancerFragment | undefined {
  const ofServices = pending.filter(({ migration }) => migration === undefined);
  const isHeld = ofServices.length > 0 && ofServices.every(({ disposable }) => disposable?.hasMachines === true);
  return isHeld && settle(start, pending, exists).kind === "delete" ? ofServices.at(-1) : undefined;
}

/** Whether this fragment stands in the load balancer as it should. Costs what the one Service has, not a pass. */
export function isSettled(seen: LoadBalancer | undefined, fragment: LoadBalancerFragment): boolean {
  if (seen === undefined) return fragment.shell === undefined;
  const index = loadBalancerIndex(seen);
  const own = partsOf(index, fragment.owner.base);
  const { shell, rules, probes, pools } = fragment;
  return (
    own.rules.length === rules.length &&
    own.probes.length === probes.filter(({ name }) => baseOf(name) === fragment.owner.base.toLowerCase()).length &&
    areRight(index, fragment) &&
    (fragment.replaces ?? []).every((name) => !index.rules.has(name.toLowerCase())) &&
    leftFrontends(index, fragment).every((name) => mustStay(seen, index, fragment, name)) &&
    pools.every((name) => index.pools.has(name.toLowerCase())) &&
    isMigrated(index, fragment) &&
    (shell === undefined || mergeTags(seen.tags, shell.tags, shell.systemTags) === seen.tags)
  );
}

/** Others need it or hold it, or it is the last one and the foreign rest needs any. */
function mustStay(seen: LoadBalancer, index: LoadBalancerIndex, fragment: LoadBalancerFragment, name: string): boolean {
  const isLast = index.frontends.size === 1 && fragment.frontends.length === 0;
  return (
    otherUsers(index, fragment, name).length > 0 ||
    isHeld(fragment, name) ||
    (isLast && hasForeignRest(seen, [fragment]))
  );
}

function settle(start: LoadBalancer, pending: readonly LoadBalancerFragment[], exists: boolean): Outcome {
  if (pending.length === 0) return { kind: "unchanged" };
  const index = loadBalancerIndex(start);
  const rules = mergedRules(start, index, pending);
  const { kept, dropped } = mergedFrontends(start, index, pending, rules);
  const body = withTags(start, pending, {
    ...start.properties,
    frontendIPConfigurations: kept,
    backendAddressPools: mergedPools(start, index, pending, rules),
    loadBalancingRules: rules,
    probes: mergedProbes(start, index, pending, rules),
  });
  if (kept.length > 0) return { kind: "put", body };
  if (!exists) return { kind: "unchanged" };
  if (!hasForeignRest(body, pending)) return { kind: "delete" };
  const properties = { ...body.properties, frontendIPConfigurations: dropped.slice(0, 1) };
  return { kind: "put", body: { ...body, properties } };
}

/**
 * Whether a load balancer that has lost all the controller's frontends still holds foreign parts. `leaving`: the fragments
 * that left; their own rules and probes don't count, nor does the probe that all share.
 */
function hasForeignRest(body: LoadBalancer, leaving: readonly LoadBalancerFragment[]): boolean {
  const { loadBalancingRules, probes, inboundNatRules, inboundNatPools, outboundRules } = body.properties;
  const disposable = leaving.find(({ migration }) => migration === undefined)?.disposable;
  if (disposable === undefined) return true;
  const bases = new Set(leaving.map(({ owner }) => owner.base.toLowerCase()));
  const foreign = [inboundNatRules, inboundNatPools, outboundRules, loadBalancingRules, probes]
    .flatMap((list) => list ?? [])
    .filter(({ name }) => !bases.has(baseOf(name)) && name.toLowerCase() !== SHARED_PROBE_NAME);
  return (
    foreign.length > 0 || (body.properties.backendAddressPools ?? []).some((pool) => isForeignPool(pool, disposable))
  );
}

function withTags(
  start: LoadBalancer,
  pending: readonly LoadBalancerFragment[],
  properties: LoadBalancerProperties,
): LoadBalancer {
  const tags = pending.reduce(
    (merged, { shell }) => (shell === undefined ? merged : mergeTags(merged, shell.tags, shell.systemTags)),
    start.tags,
  );
  return tags === start.tags || tags === undefined ? { ...start, properties } : { ...start, tags, properties };
}

/** Made of the first shell in the order of the owners; all shells of one cluster are alike. */
function emptyLoadBalancer(batch: readonly LoadBalancerFragment[]): LoadBalancer | undefined {
  const shell = batch.find((fragment) => fragment.shell !== undefined)?.shell;
  return shell === undefined ? undefined : bodyOf(shell);
}

function bodyOf(shell: LoadBalancerShell): LoadBalancer {
  const { id, name, location, sku, extendedLocation } = shell;
  return { id, name, location, sku, ...(extendedLocation && { extendedLocation }), properties: {} };
}

function remainingFrontends(start: LoadBalancer, outcome: Outcome): ReadonlySet<string> {
  if (outcome.kind === "delete") return new Set();
  const body = outcome.kind === "put" ? outcome.body : start;
  return new Set((body.properties.frontendIPConfigurations ?? []).map(({ name }) => name.toLowerCase()));
}

function warningsFor(
  index: LoadBalancerIndex,
  fragment: LoadBalancerFragment,
  remaining: ReadonlySet<string>,
): Warning[] {
  const { held = [] } = fragment;
  const isMoving = (name: string): boolean => held.some(({ frontend, by }) => frontend === name && by === undefined);
  const staying = leftFrontends(index, fragment).filter((name) => remaining.has(name) && !isMoving(name));
  return staying.map((name) => {
    const [user] = otherUsers(index, fragment, name);
    const holder = held.find(({ frontend }) => frontend === name)?.by;
    const why = user === undefined && holder !== undefined ? heldBy(holder) : whyItStays(user, fragment);
    return { reason: "DeletingFrontendIPConfiguration", message: `frontend "${name}" stays: ${why}` };
  });
}

function heldBy(holder: FrontendHolder): string {
  if (holder.kind === "service") return `Service ${holder.key} uses it, and it goes with that Service`;
  return `private link service "${holder.name}", which is not this cluster's, uses it; ${BY_HAND}`;
}

const BY_HAND = "remove the frontend by hand once nobody needs it";

/** No Service comes back for a frontend that a foreign part keeps: the warning says so. */
function whyItStays(user: FrontendUser | undefined, fragment: LoadBalancerFragment): string {
  if (user === undefined) return `a load balancer needs one, and this one holds parts of somebody else; ${BY_HAND}`;
  const uses = `${userOf(user, [fragment]).text} uses it`;
  return isServiceBase(user.base) ? `${uses}, and it goes with that Service` : `${uses}; ${BY_HAND}`;
}

/**
 * What one Service must have written to one load balancer: its fragment where it should exist, the absence of it where
 * it should not. Depends on the Service and on this load balancer alone. `seen` is absent where the load balancer is yet
 * to be made. @design reconcileLoadBalancer
 */
export function reconcileLoadBalancer(
  id: string,
  seen: LoadBalancer | undefined,
  fragment: LoadBalancerFragment,
): Reconciled<"loadBalancer"> {
  if (isSettled(seen, fragment)) return SETTLED;
  return reconciled(mergedAlone(seen, fragment), (outcome) => {
    return { kind: "loadBalancer", id, fragment, why: whyOf(fragment, seen, outcome) };
  });
}

/** What the merge of one fragment that is not settled comes to: without its body and warnings, and so without a pass. */
function mergedAlone(
  seen: LoadBalancer | undefined,
  fragment: LoadBalancerFragment,
): Pick<Merged<unknown>, "outcome" | "answers"> {
  if (seen === undefined || !keepsFrontend(loadBalancerIndex(seen), fragment))
    return mergeLoadBalancer(seen, [fragment]);
  const { refused, stale } = admitFragments(seen, [fragment]);
  const rejection = refused.get(fragment);
  if (rejection !== undefined) return { outcome: { kind: "unchanged" }, answers: [{ kind: "refused", rejection }] };
  if (stale.has(fragment)) return { outcome: { kind: "unchanged" }, answers: [{ kind: "stale" }] };
  return { outcome: { kind: "put", body: undefined }, answers: [{ kind: "accepted", warnings: [] }] };
}

/** Whether a public IP's frontend is still there once a Service that should have nothing here has left. */
export function keepsPublicIP(seen: LoadBalancer, absence: LoadBalancerFragment, id: string): boolean {
  const index = loadBalancerIndex(seen);
  const holder = index.byPublicIP.get(id.toLowerCase());
  if (holder === undefined || isSettled(seen, absence)) return false;
  if (keepsFrontend(index, absence)) return !freedFrontends(index, absence).has(holder.name.toLowerCase());
  const { outcome } = mergeLoadBalancer(seen, [absence]);
  return outcome.kind === "put" && loadBalancerIndex(outcome.body).byPublicIP.has(id.toLowerCase());
}

function whyOf(
  { owner, frontends, rules }: LoadBalancerFragment,
  seen: LoadBalancer | undefined,
  outcome: "put" | "post" | "delete",
): string {
  if (outcome === "delete") return `${owner.key} was the last on it`;
  if (frontends.length + rules.length === 0) return `${owner.key} is not served here`;
  const parts = `${pluralize(frontends.length, "frontend")} and ${pluralize(rules.length, "rule")} of ${owner.key}`;
  return seen === undefined ? `created for ${parts}` : parts;
}

/**
 * Names, in lower case, of frontends that are there and that this Service has left: its own, and those it releases. A decision
 * asks that once for each Service, so it costs what the one Service has, not a pass over the load balancer that it shares.
 */
function leftFrontends(index: LoadBalancerIndex, fragment: LoadBalancerFragment): string[] {
  const used = fragment.rules.map(({ properties }) => frontendOf(properties.frontendIPConfiguration));
  const wanted = new Set([...used, ...fragment.frontends.map(({ name }) => name.toLowerCase())]);
  const own = partsOf(index, fragment.owner.base).frontends.map(({ name }) => name.toLowerCase());
  const released = fragment.releases.map((name) => name.toLowerCase()).filter((name) => index.frontends.has(name));
  return [...own, ...released].filter((name) => !wanted.has(name));
}

function isHeld({ held = [] }: LoadBalancerFragment, name: string): boolean {
  return held.some(({ frontend }) => frontend === name);
}

function otherUsers(index: LoadBalancerIndex, fragment: LoadBalancerFragment, name: string): readonly FrontendUser[] {
  const users = index.users.get(name) ?? [];
  return users.filter(({ base }) => base !== fragment.owner.base.toLowerCase());
}

/** Names, in lower case, of the frontends that go. If they are all there are, the foreign rest may need one of them. */
function freedFrontends(index: LoadBalancerIndex, fragment: LoadBalancerFragment): ReadonlySet<string> {
  const { shares = [], replaces = [] } = fragment;
  const former = new Set(replaces.map((name) => name.toLowerCase()));
  const isFreed = (name: string): boolean =>
    !shares.includes(name) &&
    !isHeld(fragment, name) &&
    otherUsers(index, fragment, name).every((user) => isRule(user) && former.has(user.name.toLowerCase()));
  return new Set(leftFrontends(index, fragment).filter(isFreed));
}

function isRule({ kind }: FrontendUser): boolean {
  return kind === "load balancing rule";
}

/** Whether the load balancer has a frontend afterwards, whatever else is in it. */
function keepsFrontend(index: LoadBalancerIndex, fragment: LoadBalancerFragment): boolean {
  return fragment.frontends.length > 0 || index.frontends.size > freedFrontends(index, fragment).size;
}
