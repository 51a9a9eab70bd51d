/**
 * On which of several load balancers a Service may be placed. In this order:
 *
 *   1. those that the annotation names, else all
 *   2. not those closed to new Services, unless the Service is there
 *   3. not those whose label selector, or namespace selector, does not match
 *   4. if one that is left has a selector, only those that have one: a selector means "for these Services"
 *
 * Which of them it is placed on is `choose-load-balancer.ts`.
 */
import type { LoadBalancerConfig } from "../config/cluster-config.ts";
import { PLACEMENT } from "../intent/annotations/placement.ts";
import type { Rejection } from "../outcome.ts";
import { matchesSelector } from "../util/label-selector.ts";

type Labels = Readonly<Record<string, string>>;

export interface Applicant {
  readonly labels: Labels;
  readonly namespaceLabels: Labels;
  /** The names that its annotation gives; absent: any. */
  readonly named: readonly string[] | undefined;
  /** The external name of the load balancer that it is on. */
  readonly current: string | undefined;
}

/** In the order of the config; never empty. */
export function eligibleLoadBalancers(
  loadBalancers: readonly LoadBalancerConfig[],
  applicant: Applicant,
): readonly LoadBalancerConfig[] | Rejection {
  const named = loadBalancers.filter((one) => isNamed(one, applicant));
  if (named.length === 0) return refuseUnknown(loadBalancers, applicant.named ?? []);
  const open = named.filter((one) => whyNot(one, applicant) === undefined);
  if (open.length === 0) return refuseAll(named, applicant);
  return open.some(hasSelector) ? open.filter(hasSelector) : open;
}

function isNamed({ name }: LoadBalancerConfig, { named }: Applicant): boolean {
  return named === undefined || named.some((one) => isSame(one, name));
}

function hasSelector({ serviceSelector, namespaceSelector }: LoadBalancerConfig): boolean {
  return serviceSelector !== undefined || namespaceSelector !== undefined;
}

/** `undefined`: it may be placed there. */
function whyNot(one: LoadBalancerConfig, { labels, namespaceLabels, current }: Applicant): string | undefined {
  const { name, allowServicePlacement, serviceSelector, namespaceSelector } = one;
  if (!allowServicePlacement && !isSame(name, current ?? "")) return "allowServicePlacement is false";
  if (serviceSelector !== undefined && !matchesSelector(serviceSelector, labels)) {
    return "serviceLabelSelector does not match the Service's labels";
  }
  if (namespaceSelector !== undefined && !matchesSelector(namespaceSelector, namespaceLabels)) {
    return "serviceNamespaceSelector does not match the labels of its namespace";
  }
  return undefined;
}

function refuseUnknown(loadBalancers: readonly LoadBalancerConfig[], named: readonly string[]): Rejection {
  const message =
    `annotation ${PLACEMENT.configurations.key} names ${quoted(named)}, but the cloud config has ` +
    `${quoted(loadBalancers.map(({ name }) => name))}: name one of those, or remove the annotation`;
  return { kind: "rejection", reason: "NoLoadBalancer", message };
}

function refuseAll(named: readonly LoadBalancerConfig[], applicant: Applicant): Rejection {
  const reasons = named.map((one) => `"${one.name}" (${whyNot(one, applicant) ?? ""})`).join(", ");
  const fix =
    applicant.named === undefined
      ? "change its labels, or the load balancers in the cloud config"
      : `change annotation ${PLACEMENT.configurations.key}, its labels, or the load balancers in the cloud config`;
  const message = `no load balancer of the cloud config takes this Service: ${reasons}: ${fix}`;
  return { kind: "rejection", reason: "NoLoadBalancer", message };
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
