/**
 * What is where in one load balancer body, found by one pass and remembered for as long as the body lives: asking for
 * one Service's parts costs what that Service has, however many others share the load balancer.
 *
 * Names in keys are in lower case, since Azure does not tell names apart by it.
 */
import { memo } from "../../util/memo.ts";
import type { BackendPool, Frontend, LoadBalancer, LoadBalancingRule, Probe, Reference } from "../../model/arm.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { loadBalancerPartId, nameOfId } from "../../model/ids.ts";
import { baseOf, isServiceBase, migratedPoolName } from "../../model/names.ts";

/**
 * Something that needs a frontend to exist. `base` is the name's first part, which tells the owner if that is a
 * Service.
 */
export interface FrontendUser {
  readonly kind: "load balancing rule" | "outbound rule" | "inbound NAT rule" | "inbound NAT pool";
  readonly name: string;
  readonly base: string;
}

/** Ports of a frontend that are taken. `protocol` is `tcp`, `udp` or `all`; an all-ports rule takes 0 to 65535. */
export interface Claim {
  readonly frontend: string;
  readonly protocol: string;
  readonly from: number;
  readonly to: number;
  readonly user: FrontendUser;
}

export interface Parts {
  readonly frontends: readonly Frontend[];
  readonly rules: readonly LoadBalancingRule[];
  readonly probes: readonly Probe[];
}

export interface LoadBalancerIndex {
  readonly frontends: ReadonlyMap<string, Frontend>;
  readonly rules: ReadonlyMap<string, LoadBalancingRule>;
  readonly probes: ReadonlyMap<string, Probe>;
  readonly pools: ReadonlyMap<string, BackendPool>;
  /** By the base of their names. */
  readonly parts: ReadonlyMap<string, Parts>;
  /** By frontend. */
  readonly users: ReadonlyMap<string, readonly FrontendUser[]>;
  /** By frontend. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
  /** Rules by the probe they name. */
  readonly probeUsers: ReadonlyMap<string, readonly FrontendUser[]>;
  /** Frontends by the lower-cased id of their public IP. */
  readonly byPublicIP: ReadonlyMap<string, Frontend>;
  /** Frontends by their private address in its canonical spelling. */
  readonly byPrivateAddress: ReadonlyMap<string, Frontend>;
  /** Ids of the pools that rules of Services send to for now, by the pool that is being migrated. */
  readonly redirects: ReadonlyMap<string, string>;
}

const NO_PARTS: Parts = { frontends: [], rules: [], probes: [] };
const HIGHEST_PORT = 65_535;

export const loadBalancerIndex: (body: LoadBalancer) => LoadBalancerIndex = memo(buildIndex);

export function partsOf(index: LoadBalancerIndex, base: string): Parts {
  return index.parts.get(base.toLowerCase()) ?? NO_PARTS;
}

/** The frontends that bear a Service's name, and those of others that its rules stand on. */
export function standingOn(index: LoadBalancerIndex, base: string): Frontend[] {
  const { frontends, rules } = partsOf(index, base);
  const used = rules.map(({ properties }) => index.frontends.get(frontendOf(properties.frontendIPConfiguration) ?? ""));
  return [...new Set([...frontends, ...used])].filter((frontend) => frontend !== undefined);
}

/** Names of a Service's parts begin with its base, so they are found on any load balancer. */
export function loadBalancersWith(loadBalancers: readonly LoadBalancer[], base: string): LoadBalancer[] {
  return loadBalancers.filter((loadBalancer) => {
    const { frontends, rules, probes } = partsOf(loadBalancerIndex(loadBalancer), base);
    return frontends.length + rules.length + probes.length > 0;
  });
}

/** The pools that the rules of a Service send to, in lower case. */
export function poolsOf(index: LoadBalancerIndex, base: string): ReadonlySet<string> {
  return new Set(partsOf(index, base).rules.flatMap(poolNamesOf));
}

/** In lower case. */
export function poolNamesOf({ properties }: LoadBalancingRule): string[] {
  const references = [properties.backendAddressPool ?? [], properties.backendAddressPools ?? []].flat();
  return references.map(({ id }) => nameOfId(id).toLowerCase());
}

/** How many Services have rules that send to the pool. */
export function countServicesOn(index: LoadBalancerIndex, pool: string): number {
  const bases = [...index.parts.keys()].filter((base) => isServiceBase(base));
  return bases.filter((base) => poolsOf(index, base).has(pool.toLowerCase())).length;
}

/** The frontend that a part of the same load balancer names, in lower case. */
export function frontendOf(reference: Reference | undefined): string | undefined {
  return reference === undefined ? undefined : nameOfId(reference.id).toLowerCase();
}

export function ruleUser({ name }: LoadBalancingRule): FrontendUser {
  return { kind: "load balancing rule", name, base: baseOf(name) };
}

/** `port` 0 stands for all ports; protocols compare without case. */
export function claimOf(rule: LoadBalancingRule): Claim | undefined {
  const { frontendIPConfiguration, protocol, frontendPort } = rule.properties;
  const user = ruleUser(rule);
  const range = frontendPort === 0 ? ([0, HIGHEST_PORT] as const) : ([frontendPort, frontendPort] as const);
  return claim(frontendIPConfiguration, protocol, range, user);
}

function claim(
  reference: Reference | undefined,
  protocol: unknown,
  range: readonly [unknown, unknown],
  user: FrontendUser,
): Claim | undefined {
  const frontend = frontendOf(reference);
  const [from, to] = range;
  if (frontend === undefined || typeof from !== "number" || typeof to !== "number") return undefined;
  return { frontend, protocol: String(protocol).toLowerCase(), from, to, user };
}

function buildIndex(body: LoadBalancer): LoadBalancerIndex {
  const { properties } = body;
  const frontends = properties.frontendIPConfigurations ?? [];
  const rules = properties.loadBalancingRules ?? [];
  const probes = properties.probes ?? [];
  const users = new Lists<FrontendUser>();
  const claims = new Lists<Claim>();
  const probeUsers = new Lists<FrontendUser>();
  for (const rule of rules) {
    const user = ruleUser(rule);
    users.add(frontendOf(rule.properties.frontendIPConfiguration), user);
    const probe = rule.properties.probe;
    if (probe !== undefined) probeUsers.add(nameOfId(probe.id).toLowerCase(), user);
    const claimed = claimOf(rule);
    if (claimed !== undefined) claims.add(claimed.frontend, claimed);
  }
  for (const { user, references, claimed } of foreignUsers(body)) {
    for (const reference of references) users.add(frontendOf(reference), user);
    if (claimed !== undefined) claims.add(claimed.frontend, claimed);
  }
  const pools = byName(properties.backendAddressPools ?? []);
  return {
    frontends: byName(frontends),
    rules: byName(rules),
    probes: byName(probes),
    pools,
    redirects: redirectsOf(body, pools),
    parts: partsByBase(frontends, rules, probes),
    users: users.map,
    claims: claims.map,
    probeUsers: probeUsers.map,
    byPublicIP: keyed(frontends, (frontend) => frontend.properties.publicIPAddress?.id),
    byPrivateAddress: keyed(
      frontends,
      ({ properties: { privateIPAddress } }) => privateIPAddress && canonicalAddress(privateIPAddress),
    ),
  };
}

/** Whether the rules of Services send to the second pool of a migration is known from these rules alone. */
function redirectsOf({ id, properties }: LoadBalancer, pools: ReadonlyMap<string, BackendPool>): Map<string, string> {
  const second = [...pools.values()].flatMap(({ name }) => {
    const migrated = migratedPoolName(name)?.toLowerCase();
    return migrated !== undefined && pools.has(migrated) ? [{ name, migrated }] : [];
  });
  if (second.length === 0) return new Map();
  const rules = (properties.loadBalancingRules ?? []).filter(({ name }) => isServiceBase(baseOf(name)));
  const used = new Set(rules.flatMap(poolNamesOf));
  return new Map(
    second
      .filter(({ name }) => used.has(name.toLowerCase()))
      .map(({ name, migrated }) => [migrated, loadBalancerPartId(id, "backendAddressPools", name)]),
  );
}

interface Foreign {
  readonly user: FrontendUser;
  readonly references: readonly Reference[];
  readonly claimed: Claim | undefined;
}

/** Outbound rules, NAT rules and NAT pools: never ours, but they need frontends and take ports. */
function* foreignUsers(body: LoadBalancer): Generator<Foreign> {
  const { outboundRules, inboundNatRules, inboundNatPools } = body.properties;
  for (const { name, properties } of outboundRules ?? []) {
    const references = (properties["frontendIPConfigurations"] ?? []) as readonly Reference[];
    yield { user: { kind: "outbound rule", name, base: "" }, references, claimed: undefined };
  }
  for (const { name, properties } of inboundNatRules ?? []) {
    yield nat({ kind: "inbound NAT rule", name, base: "" }, properties);
  }
  for (const { name, properties } of inboundNatPools ?? []) {
    yield nat({ kind: "inbound NAT pool", name, base: "" }, properties);
  }
}

/** A NAT rule takes one port, or, for a whole pool, a range of them. */
function nat(user: FrontendUser, properties: { readonly [field: string]: unknown }): Foreign {
  const reference = properties["frontendIPConfiguration"] as Reference | undefined;
  const from = properties["frontendPortRangeStart"] ?? properties["frontendPort"];
  const to = properties["frontendPortRangeEnd"] ?? properties["frontendPort"];
  const claimed = claim(reference, properties["protocol"], [from, to], user);
  return { user, references: reference === undefined ? [] : [reference], claimed };
}

class Lists<Item> {
  readonly map = new Map<string, Item[]>();

  add(key: string | undefined, item: Item): void {
    if (key === undefined) return;
    const list = this.map.get(key);
    if (list === undefined) this.map.set(key, [item]);
    else list.push(item);
  }
}

interface Named {
  readonly name: string;
}

function byName<Child extends Named>(children: readonly Child[]): Map<string, Child> {
  return keyed(children, (child) => child.name);
}

function keyed<Child>(children: readonly Child[], key: (child: Child) => string | undefined): Map<string, Child> {
  const map = new Map<string, Child>();
  for (const child of children) {
    const found = key(child)?.toLowerCase();
    if (found !== undefined) map.set(found, child);
  }
  return map;
}

function partsByBase(
  frontends: readonly Frontend[],
  rules: readonly LoadBalancingRule[],
  probes: readonly Probe[],
): Map<string, Parts> {
  const byBase = new Map<string, { frontends: Frontend[]; rules: LoadBalancingRule[]; probes: Probe[] }>();
  const of = (name: string) => {
    const base = baseOf(name);
    const found = byBase.get(base) ?? { frontends: [], rules: [], probes: [] };
    byBase.set(base, found);
    return found;
  };
  for (const frontend of frontends) of(frontend.name).frontends.push(frontend);
  for (const rule of rules) of(rule.name).rules.push(rule);
  for (const probe of probes) of(probe.name).probes.push(probe);
  return byBase;
}
