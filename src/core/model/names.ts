/**
 * The names of Azure resources, and which Service or cluster a name belongs to. They are exactly the incumbent's, so that
 * a cluster it built is recognised; changing one of them renames resources of running clusters.
 *
 *   resource               | name                               | cut to 75 (80 minus the `-IPv6` that may follow)
 *   -----------------------|------------------------------------|------------------------------------------------
 *   base, B                | `a` + UID without dashes           | to 32 characters
 *   frontend               | `B` or `B-{subnet}`                | the whole; an end that is no letter becomes `_`
 *   rule, probe            | `B[-{subnet}]-{PROTO}-{port}`      | the subnet part only
 *   public IP              | `{cluster}-B[-{prefix}]`           | the whole
 *   private link service   | `pls-{frontend}`                   | never
 *   its IP configurations  | `{subnet}-{service}-static-{ip}`,  | before `-static`, to 80 characters in all
 *                          | `{subnet}-{service}-dynamic-{n}`   |
 *   backend pool           | `{cluster}`, IPv6 `{cluster}-IPv6` | never
 *   pool of a migration    | `{pool}-migration`                 | never
 *   a Service's own pool   | `{namespace}-{name}[-ipv6]`        | never
 *   external load balancer | configured name, or the VM set's   | never
 *   internal one           | external name + `-internal`        | never
 */
import type { Family } from "./arm.ts";
import type { Protocol } from "./kubernetes.ts";

const BASE_LENGTH = 32;
const CUT_LENGTH = 75;
const IPV6_SUFFIX = "-IPv6";
const INTERNAL_SUFFIX = "-internal";

/** The probe that all Services share where the config asks for one; no single Service owns it. */
export const SHARED_PROBE_NAME = "cluster-service-shared-health-probe";

/** The prefix of every name that a Service owns. */
export function baseName(uid: string): string {
  return `a${uid.replaceAll("-", "")}`.slice(0, BASE_LENGTH);
}

/** Whether a lower-case text has the form of `baseName`: `a` and the first 31 digits of a UID. */
export function isServiceBase(base: string): boolean {
  return /^a[\da-f]{31}$/.test(base);
}

/** The parts of a Service that its names are made of. */
export interface Naming {
  readonly base: string;
  /** The subnet annotation of an internal Service. */
  readonly subnet: string | undefined;
  readonly families: readonly Family[];
}

/** Of what a Service asks for. */
export function namingOf({
  owner,
  subnet,
  families,
}: Omit<Naming, "base"> & { readonly owner: Pick<Naming, "base"> }): Naming {
  return { base: owner.base, subnet, families };
}

/** Only the IPv6 half of a dual-stack Service has a suffix; single-stack IPv6 has the plain names. */
function familySuffix(naming: Pick<Naming, "families">, family: Family): string {
  return family === "IPv6" && naming.families.length > 1 ? IPV6_SUFFIX : "";
}

export function frontendName(naming: Naming, family: Family): string {
  const { base, subnet } = naming;
  const whole = subnet === undefined ? base : `${base}-${subnet}`;
  return cutAtLetter(whole) + familySuffix(naming, family);
}

function cutAtLetter(name: string): string {
  if (name.length <= CUT_LENGTH) return name;
  const cut = name.slice(0, CUT_LENGTH);
  return /[\p{Letter}_]$/u.test(cut) ? cut : `${cut.slice(0, -1)}_`;
}

/** A rule and its probe have the same name. A high-availability rule is named like the rule of the first port. */
export function ruleName(naming: Naming, protocol: Protocol, port: number, family: Family): string {
  const { base, subnet } = naming;
  const tail = `-${protocol}-${port}`;
  const suffix = familySuffix(naming, family);
  if (subnet === undefined) return base + tail + suffix;
  const room = Math.max(0, CUT_LENGTH - base.length - tail.length - 1);
  return `${base}-${subnet.slice(0, room)}${tail}${suffix}`;
}

/** The probe that all ports of a Service with `externalTrafficPolicy: Local` share. */
export function localProbeName(naming: Naming, healthCheckNodePort: number, family: Family): string {
  return ruleName(naming, "TCP", healthCheckNodePort, family);
}

/** `prefixId`: the public IP prefix that the address is taken from; its last segment enters the name. */
export function publicIPName(
  clusterName: string,
  naming: Pick<Naming, "base" | "families">,
  family: Family,
  prefixId?: string,
): string {
  const prefixName = prefixId?.split("/").findLast((segment) => segment !== "");
  const whole = [clusterName, naming.base, ...(prefixName === undefined ? [] : [prefixName])].join("-");
  return whole.slice(0, CUT_LENGTH) + familySuffix(naming, family);
}

/** The base, in lower case, of the Service that a public IP of this name was made for; `undefined` for any other name. */
export function baseOfPublicIP(clusterName: string, name: string): string | undefined {
  const prefix = `${clusterName}-`.toLowerCase();
  const lower = name.toLowerCase();
  const base = lower.startsWith(prefix) ? baseOf(lower.slice(prefix.length)) : "";
  return isServiceBase(base) ? base : undefined;
}

export function privateLinkServiceName(frontend: string): string {
  return `pls-${frontend}`;
}

const LONGEST_NAME = 80;

/** `suffix`: `static-{ip}` or `dynamic-{n}`. */
export function privateLinkAddressName(subnet: string, service: string, suffix: string): string {
  return `${`${subnet}-${service}`.slice(0, LONGEST_NAME - suffix.length - 1)}-${suffix}`;
}

/** Pools belong to the cluster, not to a Service: IPv6 always has the suffix. */
export function poolName(clusterName: string, family: Family): string {
  return family === "IPv6" ? clusterName + IPV6_SUFFIX : clusterName;
}

const MIGRATION_SUFFIX = "-migration";

/** The pool that serves while the members of `pool` are replaced by members of the other type. */
export function migrationPoolName(pool: string): string {
  return pool + MIGRATION_SUFFIX;
}

/** The pool that a pool of a migration stands in for; `undefined` of any other name. */
export function migratedPoolName(pool: string): string | undefined {
  return pool.toLowerCase().endsWith(MIGRATION_SUFFIX) ? pool.slice(0, -MIGRATION_SUFFIX.length) : undefined;
}

/** `key`: the Service's `namespace/name`. Two Services may come to the same name. */
export function ownPoolName(key: string, family: Family): string {
  const name = key.replace("/", "-").toLowerCase();
  return family === "IPv6" ? name + IPV6_SUFFIX.toLowerCase() : name;
}

/** The cluster name that a pool of that name belongs to. */
export function clusterOfPool(pool: string): string {
  return pool.toLowerCase().endsWith(IPV6_SUFFIX.toLowerCase()) ? pool.slice(0, -IPV6_SUFFIX.length) : pool;
}

/**
 * The base of the Service that a frontend, rule or probe belongs to, in lower case: Azure keeps the case of names and
 * compares without it. Of a foreign name, the text before its first dash, which no Service has as its base.
 */
export function baseOf(name: string): string {
  const dash = name.indexOf("-");
  return (dash < 0 ? name : name.slice(0, dash)).toLowerCase();
}

/** `vmSet`: only Basic has a load balancer per VM set; that of the primary set has the configured name. */
export function loadBalancerName(
  config: { readonly loadBalancerName: string; readonly primaryVmSet: string },
  scope: "internal" | "external",
  vmSet?: string,
): string {
  const isPrimary = vmSet === undefined || vmSet.toLowerCase() === config.primaryVmSet.toLowerCase();
  const external = isPrimary ? config.loadBalancerName : vmSet;
  return scopedName(external, scope);
}

/**
 * The external names of a fleet: the configured one, then `<name>-fleet-2` and so on. No other load balancer is likely to
 * bear such a name, so one that does is looked at whether or not the config (still) has a fleet.
 */
export function fleetName({ loadBalancerName: first }: { readonly loadBalancerName: string }, number: number): string {
  return number === 1 ? first : `${first}-fleet-${number}`;
}

/** `undefined`: no name of the fleet. */
export function fleetNumber(config: { readonly loadBalancerName: string }, name: string): number | undefined {
  const external = externalName(name).toLowerCase();
  const first = config.loadBalancerName.toLowerCase();
  if (external === first) return 1;
  const number = Number(/^-fleet-([1-9]\d{0,3})$/.exec(external.slice(first.length))?.[1]);
  return external.startsWith(first) && number > 1 ? number : undefined;
}

/** The load balancer of that kind, by the external one's name. */
export function scopedName(external: string, scope: "internal" | "external"): string {
  return scope === "internal" ? external + INTERNAL_SUFFIX : external;
}

export function isInternalName(loadBalancer: string): boolean {
  return loadBalancer.toLowerCase().endsWith(INTERNAL_SUFFIX);
}

/** The name without `-internal`; the same for a load balancer and its internal counterpart. */
export function externalName(loadBalancer: string): string {
  return isInternalName(loadBalancer) ? loadBalancer.slice(0, -INTERNAL_SUFFIX.length) : loadBalancer;
}

/**
 * A load balancer is managed by its name alone: a configured name, one of a fleet, the cluster's (a cluster may have been
 * renamed in its config), or on Basic that of a VM set. `vmSets` are those of the current nodes; Standard ignores them.
 */
export function isManagedLoadBalancer(
  name: string,
  config: {
    readonly loadBalancerName: string;
    readonly clusterName: string;
    readonly loadBalancers: readonly { readonly name: string }[];
    readonly sku: "standard" | "basic";
  },
  vmSets: readonly string[],
): boolean {
  const several = config.loadBalancers.map((one) => one.name);
  const sets = config.sku === "basic" ? vmSets : [];
  const names = [config.loadBalancerName, config.clusterName, ...several, ...sets];
  const external = externalName(name).toLowerCase();
  if (config.sku === "standard" && fleetNumber(config, name) !== undefined) return true;
  return names.some((managed) => [external, name.toLowerCase()].includes(managed.toLowerCase()));
}
