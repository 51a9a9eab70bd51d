/**
 * Which load balancer of the fleet serves a Service (`loadBalancerFleet` of the config; without it there is one of each
 * kind). All nodes of the cluster are in the pools of each, so a Service is served alike wherever it is.
 *
 *   1. A Service stays where it is, also on a load balancer beyond the config's `max`.
 *   2. One that shares the address of another goes where that address is.
 *   3. Else to the first that has room, by number.
 *   4. Else the next one is made, under the first free number.
 *
 * Services that are yet to be placed take room in turn (`placement-queue.ts`). Everything is read from Azure and the Services: nothing is remembered.
 */
import type { ClusterConfig, LoadBalancerLimits } from "../../config/cluster-config.ts";
import { servedHere } from "../../intent/ownership.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import type { Node, Service } from "../../model/kubernetes.ts";
import { fleetName, fleetNumber, loadBalancerName, poolName, scopedName } from "../../model/names.ts";
import type { Rejection } from "../../outcome.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { memoAll } from "../../util/memo.ts";
import { demandOf, exceeded, limitsOf, limitText, plus, type Usage, usageOf } from "./limits.ts";
import { loadBalancerIndex } from "./load-balancer-index.ts";
import { addressHolder, type SeveralInput } from "./place-on-several.ts";
import { isOfKind, PlacementQueue, type Scope } from "./placement-queue.ts";
import { requestBytesFor, requestBytesOf } from "./request-bytes.ts";

export interface FleetInput extends SeveralInput {
  readonly nodes: readonly Node[];
}

export interface FleetChoice {
  readonly name: string;
  /** Absent where there is no fleet. */
  readonly why?: string;
  /** It is not there yet, and another of the fleet would do. */
  readonly mayGoElsewhere?: boolean;
}

const NO_SERVICES: readonly Service[] = [];

/** `present`: the load balancers of its kind that it is on. */
export function placeInFleet(
  input: FleetInput,
  intent: ServiceIntent,
  present: readonly LoadBalancer[],
): FleetChoice | Rejection {
  const { config } = input;
  const first = loadBalancerName(config, intent.scope);
  const stays = inOrder(config, present).at(0);
  if (stays !== undefined) return { name: stays.name, why: "it is there, and no Service moves because of the fleet" };
  const holder = addressHolder(input, intent);
  if (holder !== undefined && fleetNumber(config, holder) !== undefined)
    return { name: scopedName(holder, intent.scope), why: "its address is there" };
  if (config.fleetMax === 1) return { name: first, why: "loadBalancerFleet of the cloud config lets no other be made" };
  return placeNew(input, intent);
}

function inOrder(config: ClusterConfig, loadBalancers: readonly LoadBalancer[]): LoadBalancer[] {
  const number = ({ name }: LoadBalancer): number => fleetNumber(config, name) ?? 0;
  return loadBalancers.filter((one) => number(one) > 0).sort((one, other) => number(one) - number(other));
}

function placeNew(input: FleetInput, intent: ServiceIntent): FleetChoice | Rejection {
  const { config, loadBalancers, nodes, service, otherServices = NO_SERVICES, classFilter } = input;
  const services = servedHere(otherServices, classFilter);
  const before =
    unplaced(config, loadBalancers, nodes).takenBefore(services, service, intent) ??
    emptyQueue(config, loadBalancers, nodes, intent.scope);
  const mate = mateOf(before, intent);
  if (mate !== undefined) return { name: mate, why: "a Service with the same address goes there" };
  const full: string[] = [];
  for (const { name, exists, usage, limits } of before.fleet) {
    const obstacle = exceeded(limits, usage, demandWithBytes(intent));
    if (obstacle === undefined) return { name, why: whyHere(exists, full), mayGoElsewhere: true };
    full.push(`"${name}" is full (at most ${limitText(obstacle)})`);
  }
  return refuseAll(config, full, before.foreign);
}

function whyHere(exists: boolean, full: readonly string[]): string {
  if (full.length === 0) return exists ? "the first of the fleet has room" : "the first of the fleet, made for it";
  return `${exists ? "the first of the fleet with room" : "made for it"}; ${listText(full)}`;
}

/** A fleet may be large, and an event is a sentence or two. */
const MOST_NAMED = 3;

function listText(texts: readonly string[]): string {
  const more = texts.length - MOST_NAMED;
  return texts.slice(0, MOST_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function refuseAll({ fleetMax }: ClusterConfig, full: readonly string[], foreign: readonly string[]): Rejection {
  const others = foreign.map((name) => `"${name}" is not the cluster's (it has no backend pool of it)`);
  const message =
    `no load balancer of the fleet has room: ${listText([...others, ...full])}. Remove Services or ports, or raise ` +
    `loadBalancerFleet.max in the cloud config, which is ${fleetMax}`;
  return { kind: "rejection", reason: "LoadBalancerFull", message };
}

interface Member {
  readonly name: string;
  readonly exists: boolean;
  /** With the Services that were placed there so far. */
  readonly usage: Usage;
  readonly limits: LoadBalancerLimits;
}

interface Filled {
  /** In the order in which they are tried; the one that may be made next comes last. */
  readonly fleet: readonly Member[];
  /** Numbers that may still be made, after the one in `fleet`. */
  readonly free: readonly number[];
  /** Names that something else has taken. */
  readonly foreign: readonly string[];
  /** Where Services that name an address go, by that address. */
  readonly addresses: ReadonlyMap<string, string>;
}

function emptyQueue(
  config: ClusterConfig,
  loadBalancers: readonly LoadBalancer[],
  nodes: readonly Node[],
  scope: Scope,
): Filled {
  const ofKind = loadBalancers.filter(({ name }) => isOfKind(name, scope));
  const existing = inOrder(config, ofKind).filter(({ name }) => (fleetNumber(config, name) ?? 0) <= config.fleetMax);
  const own = existing.filter((one) => isOwn(config, one));
  const taken = new Set(existing.map(({ name }) => fleetNumber(config, name)));
  const free = Array.from({ length: config.fleetMax }, (_, at) => at + 1).filter((number) => !taken.has(number));
  const fleet = own.map((seen): Member => ({
    name: seen.name,
    exists: true,
    usage: { ...usageOf(seen), requestBytes: requestBytesOf(config, nodes, seen) },
    limits: limitsOf({ config, nodes, loadBalancers }, seen.name),
  }));
  const foreign = existing.filter((one) => !own.includes(one)).map(({ name }) => name);
  return withNext(config, nodes, scope, { fleet, free, foreign, addresses: new Map() });
}

/** Another cluster, or a person, may have a load balancer of that name: the first alone is taken by its name. */
function isOwn(config: ClusterConfig, seen: LoadBalancer): boolean {
  if (fleetNumber(config, seen.name) === 1) return true;
  const { pools } = loadBalancerIndex(seen);
  return (["IPv4", "IPv6"] as const).some((family) => pools.has(poolName(config.clusterName, family).toLowerCase()));
}

function withNext(config: ClusterConfig, nodes: readonly Node[], scope: Scope, filled: Filled): Filled {
  const [number, ...free] = filled.free;
  if (number === undefined) return filled;
  const name = scopedName(fleetName(config, number), scope);
  const limits = limitsOf({ config, nodes, loadBalancers: [] }, name);
  const usage = { ...usageOf(undefined), requestBytes: requestBytesOf(config, nodes, undefined) };
  return { ...filled, free, fleet: [...filled.fleet, { name, exists: false, usage, limits }] };
}

function demandWithBytes(intent: ServiceIntent): Usage {
  const demand = demandOf(intent);
  return { ...demand, requestBytes: requestBytesFor(demand) };
}

/** With one more Service. One that no load balancer has room for takes none. */
function withService(config: ClusterConfig, nodes: readonly Node[], filled: Filled, intent: ServiceIntent): Filled {
  const { fleet, addresses } = filled;
  const demand = demandWithBytes(intent);
  const mate = mateOf(filled, intent);
  const chosen = fleet.find(({ name, usage, limits }) =>
    mate === undefined ? exceeded(limits, usage, demand) === undefined : name === mate,
  );
  if (chosen === undefined) return filled;
  const grown = { ...chosen, usage: plus(chosen.usage, demand) };
  const after = {
    ...filled,
    fleet: fleet.map((one) => (one === chosen ? grown : one)),
    addresses: withAddresses(addresses, intent, chosen.name),
  };
  const isNewest = !chosen.exists && chosen === fleet.at(-1);
  return isNewest ? withNext(config, nodes, intent.scope, after) : after;
}

function mateOf({ addresses }: Filled, intent: ServiceIntent): string | undefined {
  return namedAddresses(intent).flatMap((address) => addresses.get(address) ?? [])[0];
}

function withAddresses(
  addresses: ReadonlyMap<string, string>,
  intent: ServiceIntent,
  name: string,
): ReadonlyMap<string, string> {
  const named = namedAddresses(intent);
  return named.length === 0 ? addresses : new Map([...addresses, ...named.map((address) => [address, name] as const)]);
}

/** Addresses that it names and may share; none where it is given one of its own. */
function namedAddresses({ families, pinned, publicIPs, scope, publicIPResourceGroup }: ServiceIntent): string[] {
  return families.flatMap((family) => {
    const address = pinned[family];
    if (scope === "internal") return address === undefined ? [] : [canonicalAddress(address)];
    const wanted = publicIPs[family];
    if (wanted === undefined || wanted.kind === "generated") return [];
    return wanted.kind === "named"
      ? [`${publicIPResourceGroup}/${wanted.name}`.toLowerCase()]
      : [canonicalAddress(wanted.address)];
  });
}

/** Once for all that ask. */
const unplaced = memoAll(
  (config: ClusterConfig, loadBalancers: readonly LoadBalancer[], nodes: readonly Node[]) =>
    new PlacementQueue<Filled>({
      config,
      loadBalancers,
      taken: (scope) => emptyQueue(config, loadBalancers, nodes, scope),
      withOne: (filled, { intent }) => withService(config, nodes, filled, intent),
    }),
);
