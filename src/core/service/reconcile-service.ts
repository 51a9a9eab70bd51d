/**
 * What a Service needs next, in rounds: observe, correct the first thing that is not right, observe again. The stored
 * objects say how far it has come, so the controller may be interrupted anywhere and goes on where it stopped.
 */
import { needsCompute } from "../backends/eligible-nodes.ts";
import type { Ingress } from "../model/kubernetes.ts";
import { loadBalancersWith } from "../resources/load-balancer/load-balancer-index.ts";
import { listedOf } from "../resources/observed-azure.ts";
import type { Decision, ReadRequest } from "../steps.ts";
import { boundPublicIPs } from "../resources/public-ip/desired-public-ips.ts";
import { parseId } from "../model/ids.ts";
import type { Observed } from "../observed.ts";
import type { Owner } from "../outcome.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { readAppliedState } from "./applied-state.ts";
import { reconcileServed } from "./ensure-service.ts";
import { needsCleanup, ownerOf, wantsLoadBalancer } from "../intent/ownership.ts";
import { publicIPResourceGroup } from "../intent/parse-addresses.ts";
import { parseService } from "../intent/parse-service.ts";
import { missingLinks } from "./private-links.ts";
import { reconcileReleased } from "./release-service.ts";
import { reject } from "./rounds.ts";
import type { ServiceIntent } from "../intent/service-intent.ts";
import { addressesOn, frontendsOf } from "./service-parts.ts";
import { subnetsOf } from "./refuse-missing.ts";
import { resolveService } from "./resolve-service.ts";

const SETTLED: Decision = { kind: "settled", warnings: [] };

export function reconcileService(observed: Observed): Decision {
  const { service, classFilter } = observed;
  if (wantsLoadBalancer(service, classFilter)) return ensured(observed);
  return needsCleanup(service, classFilter) ? released(observed) : SETTLED;
}

/** Its labels decide where the Service is placed; the watch of Services may be ahead of that of namespaces. */
function isNamespaceUnseen({ service, namespaces }: Observed): boolean {
  return namespaces !== undefined && !namespaces.has(service.metadata.namespace ?? "default");
}

function ensured(observed: Observed): Decision {
  const parsed = parseService(observed.service, observed.config);
  if (!("intent" in parsed)) return reject(parsed);
  const { intent, warnings } = parsed;
  const needs = [
    ...missingReads(observed, groupsOf(observed)),
    ...missingLinks(observed),
    ...missingSubnets(observed, intent),
  ];
  if (needs.length > 0) return { kind: "read", needs };
  if (isNamespaceUnseen(observed)) return { kind: "wait", why: "its namespace has not been seen yet" };
  const resolved = resolveService(observed, intent, warnings);
  if ("kind" in resolved) return reject(resolved);
  const decision = reconcileServed(resolved);
  const { takenPorts } = resolved;
  return takenPorts === undefined || decision.kind === "settled" ? decision : reject(takenPorts);
}

function released(observed: Observed): Decision {
  const needs = [...missingReads(observed, groupsOf(observed)), ...missingLinks(observed)];
  return needs.length > 0 ? { kind: "read", needs } : (reconcileReleased(observed) ?? SETTLED);
}

/** Wherever public IPs of the Service may be, by what it says, by what it said, and by what stands in Azure. */
function groupsOf(observed: Observed): string[] {
  const { service, config } = observed;
  const groups = [publicIPResourceGroup(service, config), ...(readAppliedState(service)?.groups ?? [])];
  return publicIPGroups(observed, ownerOf(service), groups);
}

/** These, the cluster's, and wherever the frontends of the Service point to. */
export function publicIPGroups(
  { config, loadBalancers }: Pick<Observed, "config" | "loadBalancers">,
  owner: Owner,
  groups: readonly string[],
): string[] {
  const ids = loadBalancers
    .flatMap((loadBalancer) => loadBalancerIndex(loadBalancer).parts.get(owner.base.toLowerCase())?.frontends ?? [])
    .flatMap(({ properties }) => properties.publicIPAddress?.id ?? []);
  const pointedTo = ids.flatMap((id) => parseId(id)?.resourceGroup ?? []);
  return [...new Set([config.resourceGroup, ...groups, ...pointedTo].map((group) => group.toLowerCase()))];
}

/** What was not read yet: public IPs of these resource groups, and the machines where decisions depend on them. */
function missingReads(observed: Observed, groups: readonly string[]): ReadRequest[] {
  const { config, compute } = observed;
  const publicIPs = listedOf(observed, "publicIP");
  const unread = groups.filter((group) => !publicIPs.has(group.toLowerCase()));
  return [
    ...unread.map((resourceGroup): ReadRequest => ({ kind: "list", of: "publicIP", resourceGroup })),
    ...(needsCompute(config, observed.nodes) && compute === undefined ? [{ kind: "compute" as const }] : []),
  ];
}

function missingSubnets(observed: Observed, intent: ServiceIntent): ReadRequest[] {
  const unread = subnetsOf(observed, intent).filter((name) => !observed.subnets.has(name));
  return [...new Set(unread)].map((name) => ({ kind: "subnet", name }));
}

export type Published =
  | { readonly kind: "read"; readonly needs: readonly ReadRequest[] }
  | { readonly kind: "present"; readonly ingress: readonly Ingress[] }
  | { readonly kind: "absent" };

/** At which addresses Azure serves the Service now, whatever it asks for. Only public IPs left: present, at none. */
export function publishedIngress(observed: Observed): Published {
  const needs = missingReads(observed, groupsOf(observed));
  if (needs.length > 0) return { kind: "read", needs };
  const owner = ownerOf(observed.service);
  const frontends = observed.loadBalancers.flatMap((seen) => frontendsOf(seen, owner.base));
  const isThere = loadBalancersWith(observed.loadBalancers, owner.base).length > 0;
  if (!isThere && boundPublicIPs(observed, owner).length === 0) return { kind: "absent" };
  const ingress = addressesOn(observed, frontends).map((ip) => ({ ip, ipMode: "VIP" }));
  return { kind: "present", ingress };
}
