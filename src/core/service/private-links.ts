/**
 * Private link services in the life of a Service: where to look for them, which one it uses, and what must be written in
 * which order. One is made after its frontend, and goes before it; in between it stays whatever becomes of the Service's
 * annotations.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import { PRIVATE_LINK } from "../intent/annotations/private-link.ts";
import { ownerOf } from "../intent/ownership.ts";
import { privateLinkGroup } from "../intent/parse-private-link.ts";
import type { PrivateLinkIntent } from "../intent/service-intent.ts";
import type { LoadBalancer, PrivateLinkService, Subnet } from "../model/arm.ts";
import { nameOfId, parentId, parseId, sameId, subnetId } from "../model/ids.ts";
import { type Service, serviceKey } from "../model/kubernetes.ts";
import { baseName } from "../model/names.ts";
import type { Observed } from "../observed.ts";
import type { Owner, Rejection } from "../outcome.ts";
import type { HeldFrontend, LoadBalancerFragment } from "../resources/load-balancer/fragment.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { mergeLoadBalancer } from "../resources/load-balancer/merge-load-balancer.ts";
import { KINDS } from "../resources/kinds.ts";
import { listedOf } from "../resources/observed-azure.ts";
import {
  type DesiredPrivateLink,
  desiredPrivateLinkService,
} from "../resources/private-link-service/desired-private-link-service.ts";
import {
  frontendsOf,
  isOfCluster,
  linkedFrontends,
  ownerKeyOf,
  sameKey,
} from "../resources/private-link-service/private-link-services.ts";
import {
  reconcilePrivateLinkService,
  releasePrivateLinkService,
} from "../resources/private-link-service/reconcile-private-link-service.ts";
import { together } from "../resources/reconciled.ts";
import { reconcileSubnet } from "../resources/subnet/merge-subnet.ts";
import type { Decision, ReadRequest, Step } from "../steps.ts";
import { contains, parseAddress, parseCidr } from "../util/cidr.ts";
import { readAppliedState } from "./applied-state.ts";
import { roundOf } from "./rounds.ts";
import { frontendsOf as frontendsOfService } from "./service-parts.ts";

/** What was not read yet of the groups in which private link services on the Service's frontends may be. */
export function missingLinks(observed: Observed): ReadRequest[] {
  const read = listedOf(observed, "privateLinkService");
  const unread = linkGroups(observed).filter((group) => !read.has(group));
  return unread.map((resourceGroup) => ({ kind: "list", of: "privateLinkService", resourceGroup }));
}

/** In lower case: by what the Service says, by what it said, and by what Azure shows on its frontends. */
function linkGroups({ service, config, loadBalancers }: Observed): string[] {
  const { base } = ownerOf(service);
  const shown = loadBalancers
    .flatMap((seen) => frontendsOfService(seen, base))
    .flatMap(({ properties }) => properties.privateLinkServices ?? [])
    .flatMap(({ id }) => parseId(id) ?? [])
    .filter(({ subscription }) => subscription.toLowerCase() === config.subscriptionId.toLowerCase());
  const asked = privateLinkGroup(service, config);
  const groups = [
    ...(asked === undefined ? [] : [asked]),
    ...(readAppliedState(service)?.links ?? []),
    ...shown.map(({ resourceGroup }) => resourceGroup),
  ];
  return [...new Set(groups.map((group) => group.toLowerCase()))];
}

export interface LinkInput {
  readonly observed: Observed;
  readonly owner: Owner;
  readonly link: PrivateLinkIntent;
  /** The IPv4 frontend that the Service is to stand on, and its load balancer where that exists. */
  readonly frontend: { readonly id: string; readonly name: string };
  readonly loadBalancer: LoadBalancer | undefined;
}

/** Refused before anything is written where it cannot be had. */
export function resolvePrivateLink({ observed, owner, link, ...at }: LinkInput): DesiredPrivateLink | Rejection {
  const { config, missingGroups } = observed;
  if (missingGroups?.has(link.resourceGroup.toLowerCase()) === true) return refuseGroup(link, config);
  const subnet = observed.subnets.get(link.subnet);
  const outside = subnet && link.addresses.find((address) => !isIn(subnet, address));
  if (outside !== undefined) return refuseAddress(link, outside);
  return desiredPrivateLinkService({
    owner,
    intent: link,
    config,
    frontend: at.frontend,
    privateLinkServices: listedOf(observed, "privateLinkService"),
    isAskedBy: (key) => askers(observed, owner, at.loadBalancer, at.frontend.name).some((one) => sameKey(key, one)),
  });
}

function isIn({ properties: { addressPrefix, addressPrefixes = [] } }: Subnet, address: string): boolean {
  const parsed = parseAddress(address);
  const blocks = [addressPrefix, ...addressPrefixes]
    .map((prefix) => parseCidr(prefix ?? ""))
    .flatMap((block) => ("problem" in block ? [] : [block]));
  return parsed === undefined || blocks.length === 0 || blocks.some((block) => contains(block, parsed));
}

function refuseAddress({ subnet }: PrivateLinkIntent, address: string): Rejection {
  const message =
    `${PRIVATE_LINK.addresses.key}: "${address}" is not in subnet "${subnet}": name addresses of that subnet, or another ` +
    `subnet in ${PRIVATE_LINK.subnet.key}`;
  return { kind: "rejection", reason: "InvalidAnnotation", message };
}

function refuseGroup({ resourceGroup }: PrivateLinkIntent, config: ClusterConfig): Rejection {
  const message =
    `annotation ${PRIVATE_LINK.resourceGroup.key}: resource group "${resourceGroup}" does not exist: create it, name one that ` +
    `exists, or remove the annotation, which stands for "${config.privateLinkServiceResourceGroup}"`;
  return { kind: "rejection", reason: "ResourceGroupNotFound", message };
}

/** Keys of the other Services that use the frontend and ask for a private link service, in a fixed order. */
function askers(
  { otherServices, config }: Observed,
  owner: Owner,
  loadBalancer: LoadBalancer | undefined,
  frontend: string,
): string[] {
  const users = loadBalancer && loadBalancerIndex(loadBalancer).users.get(frontend.toLowerCase());
  const bases = new Set((users ?? []).map(({ base }) => base));
  const isAsker = (service: Service): boolean =>
    bases.has(baseName(service.metadata.uid).toLowerCase()) &&
    service.metadata.uid !== owner.uid &&
    service.metadata.deletionTimestamp === undefined &&
    privateLinkGroup(service, config) !== undefined;
  return otherServices.filter(isAsker).map(serviceKey).toSorted();
}

/** While it moves, the frontend that it comes from must stay. */
export function movingFrom(link: DesiredPrivateLink, frontend: string): HeldFrontend[] {
  if (link.kind !== "own" || link.seen === undefined) return [];
  return frontendsOf(link.seen)
    .filter((id) => !sameId(id, frontend) && parentId(id) === parentId(frontend.toLowerCase()))
    .map((id) => ({ frontend: nameOfId(id), by: undefined }));
}

/** The subnet lets it in first; its network policies are left alone where nothing of the private link service changes. */
export function ensureLink(
  { config, subnets }: Pick<Observed, "config" | "subnets">,
  owner: Owner,
  { subnet }: PrivateLinkIntent,
  link: DesiredPrivateLink,
): Decision | undefined {
  if (link.kind === "shared") return undefined;
  if (link.kind === "inTheWay") {
    const going = new Set(frontendsOf(link.seen));
    return roundOf(releasePrivateLinkService(link.seen, owner, config.clusterName, going));
  }
  const result = reconcilePrivateLinkService(link.id, link.seen, link.fragment);
  if (result.kind !== "act") return roundOf(result);
  return roundOf(reconcileSubnet(subnetId(config, subnet), subnets.get(subnet), owner)) ?? roundOf(result);
}

/** What must go before a load balancer may lose the frontends that it loses with this fragment. */
export function releaseLinks(
  observed: Observed,
  owner: Owner,
  loadBalancer: LoadBalancer,
  fragment: LoadBalancerFragment,
): Decision | undefined {
  const { clusterName } = observed.config;
  const links = clusterLinks(observed, loadBalancer);
  if (links.size === 0) return undefined;
  const { outcome } = mergeLoadBalancer(loadBalancer, [fragment]);
  if (outcome.kind === "unchanged") return undefined;
  const left = outcome.kind === "delete" ? undefined : loadBalancerIndex(outcome.body).frontends;
  const frontends = loadBalancerIndex(loadBalancer).frontends;
  const gone = [...links.keys()].filter((name) => frontends.has(name) && left?.has(name) !== true);
  const ids = new Set(gone.map((name) => `${loadBalancer.id}/frontendIPConfigurations/${name}`.toLowerCase()));
  const going = new Set(gone.flatMap((name) => links.get(name) ?? []));
  return roundOf(together([...going].map((seen) => releasePrivateLinkService(seen, owner, clusterName, ids))));
}

/** To the first of the other Services on the frontend that asks for one; where none does, it stays as it is. */
export function handOverLinks(observed: Observed, owner: Owner, loadBalancer: LoadBalancer): Decision | undefined {
  const { clusterName } = observed.config;
  const results = [...clusterLinks(observed, loadBalancer)].flatMap(([frontend, links]) => {
    const [to] = askers(observed, owner, loadBalancer, frontend);
    const own = links.filter((seen) => sameKey(ownerKeyOf(seen), owner.key));
    if (to === undefined) return [];
    return own.map((seen) =>
      reconcilePrivateLinkService(seen.id, seen, { kind: "handedOver", owner, clusterName, to }),
    );
  });
  return roundOf(together(results));
}

function clusterLinks(observed: Observed, { id }: LoadBalancer): ReadonlyMap<string, readonly PrivateLinkService[]> {
  const isOurs = (seen: PrivateLinkService): boolean => isOfCluster(seen, observed.config.clusterName);
  return linkedFrontends(listedOf(observed, "privateLinkService"), id, isOurs);
}

/** Whether these steps make a private link service, which must rest on a new list: only that shows those of others. */
export function makesPrivateLink(observed: Observed, steps: readonly Step[]): boolean {
  return steps.some(
    (step) => step.kind === "privateLinkService" && KINDS.privateLinkService.find(observed, step.id) === undefined,
  );
}
