/** Load balancers and the security group with how much of Azure's limits they use; foreign ones are told apart. */
import type { LoadBalancer } from "../model/arm.ts";
import { isManagedLoadBalancer, isServiceBase } from "../model/names.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { limitsOf, usageOf } from "../resources/load-balancer/limits.ts";
import { securityGroupIndex } from "../resources/security-group/security-rules.ts";
import { LIMITS as SECURITY_GROUP_LIMITS } from "../resources/security-group/security-group-draft.ts";
import type { Picture } from "./picture.ts";

export interface Quota {
  /** A limit of the config's `loadBalancerLimits`, or of a security group; `backends` is in rules that so many nodes leave room for. */
  readonly of: string;
  readonly used: number;
  readonly most: number;
}

export interface BalancerView {
  readonly name: string;
  readonly isManaged: boolean;
  readonly provisioningState?: string;
  /** How many Services have parts on it. */
  readonly services: number;
  /** Frontends and rules that no Service of this cluster has: not ours, untouched. */
  readonly foreign: { readonly frontends: readonly string[]; readonly rules: readonly string[] };
  readonly quota: readonly Quota[];
  readonly pools: readonly { readonly name: string; readonly members: number; readonly down: number }[];
}

const MOST_FOREIGN = 50;

export function balancersOf(picture: Picture): BalancerView[] {
  return picture.loadBalancers.map((loadBalancer) => balancerView(picture, loadBalancer));
}

function balancerView(picture: Picture, loadBalancer: LoadBalancer): BalancerView {
  const { config } = picture;
  const { properties, name } = loadBalancer;
  const { provisioningState, frontendIPConfigurations = [], loadBalancingRules = [] } = properties;
  const index = loadBalancerIndex(loadBalancer);
  const isForeign = (part: { readonly name: string }): boolean =>
    !isServiceBase(part.name.split("-")[0]?.toLowerCase() ?? "");
  const foreign = (parts: readonly { readonly name: string }[]): string[] =>
    parts
      .filter(isForeign)
      .slice(0, MOST_FOREIGN)
      .map((part) => part.name);
  const limits = limitsOf(picture, name);
  const usage = usageOf(loadBalancer);
  return {
    name,
    isManaged: isManagedLoadBalancer(name, config, []),
    ...(provisioningState !== undefined && { provisioningState }),
    services: [...index.parts.keys()].filter(isServiceBase).length,
    foreign: { frontends: foreign(frontendIPConfigurations), rules: foreign(loadBalancingRules) },
    quota: (["rules", "frontends", "rulesPerInterface", "backends"] as const)
      .filter((limit) => Number.isFinite(limits[limit]))
      .map((limit) => ({ of: limit, used: usage[limit], most: limits[limit] })),
    pools: (properties.backendAddressPools ?? []).map(
      ({ name: pool, properties: { loadBalancerBackendAddresses = [] } }) => ({
        name: pool,
        members: loadBalancerBackendAddresses.length,
        down: loadBalancerBackendAddresses.filter((entry) => entry.properties.adminState?.toLowerCase() === "down")
          .length,
      }),
    ),
  };
}

export interface SecurityGroupView {
  readonly name: string;
  readonly quota: readonly Quota[];
}

/** Absent: there is none, or it was not read yet. */
export function securityGroupView({ securityGroup }: Picture): SecurityGroupView | undefined {
  if (securityGroup === undefined) return undefined;
  const { usage } = securityGroupIndex(securityGroup);
  return {
    name: securityGroup.name,
    quota: Object.entries(SECURITY_GROUP_LIMITS).map(([of, most]) => ({
      of,
      most,
      used: usage[of as keyof typeof usage],
    })),
  };
}

export interface QuotaOf extends Quota {
  /** Name of the load balancer or security group. */
  readonly in: string;
}

/** Of everything that the controller writes. */
export function quotasOf(picture: Picture): QuotaOf[] {
  const managed = balancersOf(picture).filter(({ isManaged }) => isManaged);
  const group = securityGroupView(picture);
  return [...managed, ...(group === undefined ? [] : [group])].flatMap(({ name, quota }) =>
    quota.map((one) => ({ in: name, ...one })),
  );
}

/** What is used most: what the strip of the page shows. */
export function tightestQuota(picture: Picture): QuotaOf | undefined {
  return quotasOf(picture).sort((one, other) => other.used / other.most - one.used / one.most)[0];
}
