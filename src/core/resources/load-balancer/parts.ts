/**
 * The lists of a load balancer after a batch: each owner's old parts make way for its new ones. A part that is right
 * stays the object that was read; one that is wrong is put right in its place; new ones come last, in batch order.
 *
 * Only the fields that we decide are compared, so that fields which Azure fills in or adds are no change;
 * and only they are replaced, so that a field that another client set on our part survives.
 */
import type { Frontend, LoadBalancingRule, Probe, Reference, BackendPool, LoadBalancer } from "../../model/arm.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { loadBalancerPartId, sameId, nameOfId } from "../../model/ids.ts";
import { baseOf, isServiceBase, SHARED_PROBE_NAME } from "../../model/names.ts";
import type { Disposable, LoadBalancerFragment, PoolMigration } from "./fragment.ts";
import { isOwnEntry, isOwnReference } from "../backend-pool/desired-backend-pool.ts";
import { frontendOf, poolNamesOf, poolsOf, type LoadBalancerIndex } from "./load-balancer-index.ts";

type Batch = readonly LoadBalancerFragment[];

interface Named {
  readonly name: string;
}

interface Replacement<Part> {
  readonly seen: readonly Part[];
  readonly wanted: readonly Part[];
  /** Asked only of parts that no fragment wants. */
  readonly goes: (part: Part) => boolean;
  readonly isRight: (seen: Part, wanted: Part) => boolean;
  readonly corrected: (seen: Part, wanted: Part) => Part;
}

function replaced<Part extends Named>({ seen, wanted, goes, isRight, corrected }: Replacement<Part>): Part[] {
  const missing = new Map(wanted.map((part) => [part.name.toLowerCase(), part]));
  const result: Part[] = [];
  for (const part of seen) {
    const want = missing.get(part.name.toLowerCase());
    if (want === undefined) {
      if (!goes(part)) result.push(part);
      continue;
    }
    missing.delete(part.name.toLowerCase());
    result.push(isRight(part, want) ? part : corrected(part, want));
  }
  return [...result, ...missing.values()];
}

export function mergedRules(start: LoadBalancer, index: LoadBalancerIndex, batch: Batch): LoadBalancingRule[] {
  const bases = basesOf(batch);
  const former = replacedBy(batch);
  const rules = replaced({
    seen: start.properties.loadBalancingRules ?? [],
    wanted: batch.flatMap((fragment) => fragment.rules.map((rule) => redirected(index, rule))),
    goes: ({ name }) => bases.has(baseOf(name)) || former.has(name.toLowerCase()),
    isRight: isRightRule,
    corrected: correctedRule,
  });
  return batch.reduce((all, { migration }) => switched(start.id, all, migration?.switch), rules);
}

/** During a migration the rule sends to where the others of its pool do. */
function redirected({ redirects }: LoadBalancerIndex, rule: LoadBalancingRule): LoadBalancingRule {
  const pool = rule.properties.backendAddressPool;
  const id = pool && redirects.get(nameOfId(pool.id).toLowerCase());
  return id === undefined ? rule : { ...rule, properties: { ...rule.properties, backendAddressPool: { id } } };
}

function switched(id: string, rules: LoadBalancingRule[], change: PoolMigration["switch"]): LoadBalancingRule[] {
  if (change === undefined) return rules;
  const to = { id: loadBalancerPartId(id, "backendAddressPools", change.to) };
  return rules.map((rule) => {
    if (!sendsTo(rule, change.from)) return rule;
    const { backendAddressPools: _, ...properties } = rule.properties;
    return { ...rule, properties: { ...properties, backendAddressPool: to } };
  });
}

/** Of a Service's rule. */
function sendsTo(rule: LoadBalancingRule, pool: string): boolean {
  return isServiceBase(baseOf(rule.name)) && poolNamesOf(rule).includes(pool.toLowerCase());
}

/** Whether the step of a migration that the fragment asks for is done. */
export function isMigrated({ rules, pools }: LoadBalancerIndex, { migration }: LoadBalancerFragment): boolean {
  const { switch: change, drops } = migration ?? {};
  const seen = [...rules.values()];
  return (
    (change === undefined || !seen.some((rule) => sendsTo(rule, change.from))) &&
    (drops === undefined || ![...pools.values()].some((pool) => isDropped(pool, drops, seen)))
  );
}

function isDropped(pool: BackendPool, drops: Disposable, rules: readonly LoadBalancingRule[]): boolean {
  const isNamed = drops.pools.some((name) => name.toLowerCase() === pool.name.toLowerCase());
  const isHeld = (pool.properties.backendIPConfigurations ?? []).length > 0;
  if (!isNamed || isHeld || isForeignPool(pool, drops)) return false;
  return !rules.some((rule) => poolNamesOf(rule).includes(pool.name.toLowerCase()));
}

/** A pool, or an entry in it, that is not the cluster's. */
export function isForeignPool(pool: BackendPool, { pools, entries }: Disposable): boolean {
  if (!pools.some((name) => name.toLowerCase() === pool.name.toLowerCase())) return true;
  const { loadBalancerBackendAddresses, backendIPConfigurations } = pool.properties;
  return (
    (loadBalancerBackendAddresses ?? []).some((entry) => !isOwnEntry(entry, entries)) ||
    (backendIPConfigurations ?? []).some((reference) => !isOwnReference(reference, entries))
  );
}

/** Names of rules, in lower case. */
function replacedBy(batch: Batch): ReadonlySet<string> {
  return new Set(batch.flatMap(({ replaces = [] }) => replaces.map((name) => name.toLowerCase())));
}

/** Probes, in lower case, that only rules named which are replaced. */
function leftProbes(index: LoadBalancerIndex, batch: Batch): ReadonlySet<string> {
  const former = replacedBy(batch);
  const named = [...former].flatMap((name) =>
    nameOfId(index.rules.get(name)?.properties.probe?.id ?? "").toLowerCase(),
  );
  const isLeft = (probe: string): boolean =>
    probe !== SHARED_PROBE_NAME &&
    (index.probeUsers.get(probe) ?? []).every((user) => former.has(user.name.toLowerCase()));
  return new Set(named.filter((probe) => probe !== "" && isLeft(probe)));
}

/** The shared probe belongs to all Services: it goes with the last rule that names it, if that rule was one of the batch's. */
export function mergedProbes(
  start: LoadBalancer,
  index: LoadBalancerIndex,
  batch: Batch,
  rules: readonly LoadBalancingRule[],
): Probe[] {
  const bases = basesOf(batch);
  const left = leftProbes(index, batch);
  const wasShared = (index.probeUsers.get(SHARED_PROBE_NAME) ?? []).some(({ base }) => bases.has(base));
  const isShared = rules.some(({ properties: { probe } }) => probe !== undefined && isSharedProbe(nameOfId(probe.id)));
  return replaced({
    seen: start.properties.probes ?? [],
    wanted: batch.flatMap(({ probes }) => probes),
    goes: ({ name }) =>
      bases.has(baseOf(name)) || left.has(name.toLowerCase()) || (isSharedProbe(name) && wasShared && !isShared),
    isRight: isRightProbe,
    corrected: correctedProbe,
  });
}

function isSharedProbe(name: string): boolean {
  return name.toLowerCase() === SHARED_PROBE_NAME;
}

/**
 * `rules`: as they will be; a frontend that one of them names stays, whatever its own name. What a fragment says of another
 * Service counts only where that Service has no fragment of its own in the batch.
 */
export function mergedFrontends(
  start: LoadBalancer,
  index: LoadBalancerIndex,
  batch: Batch,
  rules: readonly LoadBalancingRule[],
): { readonly kept: readonly Frontend[]; readonly dropped: readonly Frontend[] } {
  const bases = basesOf(batch);
  const released = new Set(batch.flatMap(({ releases }) => releases.map((name) => name.toLowerCase())));
  const needed = new Set([
    ...rules.map(({ properties }) => frontendOf(properties.frontendIPConfiguration)),
    ...batch.flatMap(({ shares = [] }) => shares),
  ]);
  const holds = batch.flatMap((fragment) => fragment.held ?? []);
  const held = new Set(
    holds.flatMap(({ frontend, by }) => (by?.kind === "service" && bases.has(by.base) ? [] : [frontend])),
  );
  const isFreed = (name: string): boolean =>
    !needed.has(name) &&
    !held.has(name) &&
    !(index.users.get(name) ?? []).some(({ kind }) => kind !== "load balancing rule");
  const dropped: Frontend[] = [];
  const kept = replaced<Frontend>({
    seen: start.properties.frontendIPConfigurations ?? [],
    wanted: batch.flatMap(({ frontends }) => frontends),
    goes: (frontend) => {
      const name = frontend.name.toLowerCase();
      const goes = (bases.has(baseOf(name)) || released.has(name)) && isFreed(name);
      if (goes) dropped.push(frontend);
      return goes;
    },
    isRight: isRightFrontend,
    corrected: correctedFrontend,
  });
  return { kept, dropped };
}

/** `rules`: as they will be. A Service's own pool goes with its last rule, unless it holds entries of other clients. */
export function mergedPools(
  start: LoadBalancer,
  index: LoadBalancerIndex,
  batch: Batch,
  rules: readonly LoadBalancingRule[],
): BackendPool[] {
  const names = new Map(batch.flatMap(({ pools }) => pools.map((name) => [name.toLowerCase(), name])));
  const missing = [...names].filter(([lower]) => !index.pools.has(lower)).map(([, name]) => ({ name, properties: {} }));
  const left = leftPools(index, batch).filter(({ name }) => !names.has(name));
  const used = new Set(left.length === 0 ? [] : rules.flatMap(poolNamesOf));
  const gone = new Set(left.filter(({ name, isOurs }) => !used.has(name) && isOurs).map(({ name }) => name));
  const drops = batch.flatMap(({ migration }) => migration?.drops ?? []);
  const kept = (start.properties.backendAddressPools ?? []).filter(
    (pool) => !gone.has(pool.name.toLowerCase()) && !drops.some((one) => isDropped(pool, one, rules)),
  );
  return [...kept, ...missing];
}

/** The own pools that rules of the batch's owners have named so far. */
function leftPools(index: LoadBalancerIndex, batch: Batch): { readonly name: string; readonly isOurs: boolean }[] {
  return batch.flatMap(({ owner, ownPools = [], disposable }) => {
    const named = ownPools.length === 0 ? undefined : poolsOf(index, owner.base);
    return ownPools.flatMap((ownPool) => {
      const name = ownPool.toLowerCase();
      const pool = named?.has(name) === true ? index.pools.get(name) : undefined;
      if (pool === undefined) return [];
      const entries = pool.properties.loadBalancerBackendAddresses ?? [];
      return [
        { name, isOurs: disposable !== undefined && entries.every((one) => isOwnEntry(one, disposable.entries)) },
      ];
    });
  });
}

function basesOf(batch: Batch): ReadonlySet<string> {
  return new Set(batch.map(({ owner }) => owner.base.toLowerCase()));
}

const RULE_FIELDS: readonly string[] = [
  "protocol",
  "frontendPort",
  "backendPort",
  "frontendIPConfiguration",
  "backendAddressPool",
  "probe",
  "enableFloatingIP",
  "enableTcpReset",
  "disableOutboundSnat",
  "idleTimeoutInMinutes",
  "loadDistribution",
];
const PROBE_FIELDS: readonly string[] = ["protocol", "port", "requestPath", "intervalInSeconds", "probeThreshold"];
const FRONTEND_FIELDS: readonly string[] = [
  "publicIPAddress",
  "subnet",
  "privateIPAddress",
  "privateIPAllocationMethod",
  "privateIPAddressVersion",
];

/** Whether everything that the fragment wants stands there as it wants it. */
export function areRight(index: LoadBalancerIndex, { rules, probes, frontends }: LoadBalancerFragment): boolean {
  return (
    rules.every((rule) => holds(index.rules, redirected(index, rule), isRightRule)) &&
    probes.every((probe) => holds(index.probes, probe, isRightProbe)) &&
    frontends.every((frontend) => holds(index.frontends, frontend, isRightFrontend))
  );
}

function holds<Part extends Named>(
  parts: ReadonlyMap<string, Part>,
  wanted: Part,
  isRight: (seen: Part, wanted: Part) => boolean,
): boolean {
  const seen = parts.get(wanted.name.toLowerCase());
  return seen !== undefined && isRight(seen, wanted);
}

function isRightRule(seen: LoadBalancingRule, wanted: LoadBalancingRule): boolean {
  const one = seen.properties;
  const other = wanted.properties;
  return (
    sameText(one.protocol, other.protocol) &&
    one.frontendPort === other.frontendPort &&
    one.backendPort === other.backendPort &&
    sameReference(one.frontendIPConfiguration, other.frontendIPConfiguration) &&
    sameReference(one.backendAddressPool, other.backendAddressPool) &&
    sameReference(one.probe, other.probe) &&
    sameText(one.loadDistribution, other.loadDistribution) &&
    Boolean(one.enableFloatingIP) === Boolean(other.enableFloatingIP) &&
    Boolean(one.disableOutboundSnat) === Boolean(other.disableOutboundSnat) &&
    (sameText(other.protocol, "Udp") || Boolean(one.enableTcpReset) === Boolean(other.enableTcpReset)) &&
    (one.idleTimeoutInMinutes ?? other.idleTimeoutInMinutes) === other.idleTimeoutInMinutes
  );
}

function isRightProbe(seen: Probe, wanted: Probe): boolean {
  const one = seen.properties;
  const other = wanted.properties;
  return (
    sameText(one.protocol, other.protocol) &&
    one.port === other.port &&
    sameText(one.requestPath, other.requestPath) &&
    one.intervalInSeconds === other.intervalInSeconds &&
    one.probeThreshold === other.probeThreshold &&
    (other.noHealthyBackendsBehavior === undefined ||
      sameText(one.noHealthyBackendsBehavior ?? "AllProbedDown", other.noHealthyBackendsBehavior))
  );
}

/** Options that are not asked for are right as they are. */
function isRightFrontend(seen: Frontend, wanted: Frontend): boolean {
  const one = seen.properties;
  const other = wanted.properties;
  return (
    isAtAddress(seen, wanted) &&
    (other.enableConnectionTracking === undefined ||
      Boolean(one.enableConnectionTracking) === other.enableConnectionTracking) &&
    (!("gatewayLoadBalancer" in other) || sameReference(one.gatewayLoadBalancer, other.gatewayLoadBalancer))
  );
}

/** An address that Azure chose is right where none is asked for; zones cannot be changed and are not compared. */
export function isAtAddress(seen: Frontend, wanted: Frontend): boolean {
  const one = seen.properties;
  const other = wanted.properties;
  return (
    sameReference(one.publicIPAddress, other.publicIPAddress) &&
    sameReference(one.subnet, other.subnet) &&
    (other.subnet === undefined || familyOf(one) === familyOf(other)) &&
    (other.privateIPAddress === undefined ||
      canonicalAddress(one.privateIPAddress ?? "") === canonicalAddress(other.privateIPAddress))
  );
}

/** Of a private address; the plain name passes from one family to the other when a Service becomes dual-stack. */
function familyOf({ privateIPAddressVersion = "IPv4" }: Frontend["properties"]): string {
  return privateIPAddressVersion.toLowerCase();
}

/** `backendAddressPools` (plural) repeats the pool in Azure's answers; it must not outlive a change of pool. */
export function correctedRule(seen: LoadBalancingRule, wanted: LoadBalancingRule): LoadBalancingRule {
  const keepsPool = sameReference(seen.properties.backendAddressPool, wanted.properties.backendAddressPool);
  const decided = keepsPool ? RULE_FIELDS : [...RULE_FIELDS, "backendAddressPools"];
  return { ...seen, properties: { ...without(seen.properties, decided), ...wanted.properties } };
}

function correctedProbe(seen: Probe, wanted: Probe): Probe {
  return { ...seen, properties: { ...without(seen.properties, PROBE_FIELDS), ...wanted.properties } };
}

export function correctedFrontend(seen: Frontend, wanted: Frontend): Frontend {
  return { ...seen, properties: { ...without(seen.properties, FRONTEND_FIELDS), ...wanted.properties } };
}

function without<Properties extends object>(properties: Properties, fields: readonly string[]): Partial<Properties> {
  const kept = Object.entries(properties).filter(([field]) => !fields.includes(field));
  return Object.fromEntries(kept) as Partial<Properties>;
}

/** Azure spells values in its own case; absent is only the same as absent. */
function sameText(one: string | undefined, other: string | undefined): boolean {
  return one?.toLowerCase() === other?.toLowerCase();
}

function sameReference(one: Reference | undefined, other: Reference | undefined): boolean {
  return (!one && !other) || sameId(one?.id, other?.id);
}
