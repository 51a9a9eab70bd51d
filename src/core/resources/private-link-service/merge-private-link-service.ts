/**
 * Puts what Services want of one private link service into it. One of another cluster, or of another Service, is never
 * changed. Connections are Azure's and their owners': they stay through every change, and it is not deleted while it has
 * any. The order of the fragments does not matter: of two that would make it, the first by key does.
 */
import type { PrivateLinkAddress, PrivateLinkService } from "../../model/arm.ts";
import { sameId } from "../../model/ids.ts";
import { CLUSTER_TAG, OWNER_TAG } from "../../model/tags.ts";
import { mergeTags, overlayTags, tagValue, withTag } from "../../model/tags.ts";
import { ACCEPTED, type Answer, answersOf, type Merged, type Rejection, sortedByOwner } from "../../outcome.ts";
import { PRIVATE_LINK } from "../../intent/annotations/private-link.ts";
import type { PrivateLinkServiceFragment } from "./fragment.ts";
import { frontendsOf, isOfCluster, isOnLoadBalancer, ownerKeyOf, sameKey } from "./private-link-services.ts";

type Present = Extract<PrivateLinkServiceFragment, { kind: "present" }>;
type Absent = Extract<PrivateLinkServiceFragment, { kind: "absent" }>;

/** `undefined`: it does not exist, or goes. */
type Body = PrivateLinkService | undefined;

interface Put {
  readonly body: Body;
  readonly answer: Answer;
}

export function mergePrivateLinkService(
  seen: PrivateLinkService | undefined,
  fragments: readonly PrivateLinkServiceFragment[],
): Merged<PrivateLinkService> {
  const answers = new Map<PrivateLinkServiceFragment, Answer>();
  let body: Body = seen;
  for (const fragment of inOrder(fragments)) {
    const put = merged(body, fragment);
    body = put.body;
    answers.set(fragment, put.answer);
  }
  return { outcome: outcomeOf(seen, body), answers: answersOf(fragments, answers) };
}

/** One that hands it over comes before those that take it, and one that no longer needs it last. */
function inOrder(fragments: readonly PrivateLinkServiceFragment[]): PrivateLinkServiceFragment[] {
  const rank = { handedOver: 0, present: 1, absent: 2 };
  return sortedByOwner(fragments).sort((one, other) => rank[one.kind] - rank[other.kind]);
}

function outcomeOf(seen: PrivateLinkService | undefined, body: Body): Merged<PrivateLinkService>["outcome"] {
  if (body === seen) return { kind: "unchanged" };
  return body === undefined ? { kind: "delete" } : { kind: "put", body };
}

function merged(body: Body, fragment: PrivateLinkServiceFragment): Put {
  switch (fragment.kind) {
    case "present":
      return present(body, fragment);
    case "absent":
      return absent(body, fragment);
    case "handedOver":
      return { body: body && handedOver(body, fragment), answer: ACCEPTED };
  }
}

function present(body: Body, fragment: Present): Put {
  if (body === undefined) return { body: brought(fragment.create, fragment), answer: ACCEPTED };
  const rejection = refuse(body, fragment);
  if (rejection !== undefined) return { body, answer: { kind: "refused", rejection } };
  // Azure moves none to another load balancer
  if (!isOnLoadBalancer(body, fragment.frontend)) return { body, answer: { kind: "stale" } };
  return { body: brought(body, fragment), answer: ACCEPTED };
}

function refuse(body: PrivateLinkService, { owner, clusterName, formerOwner }: Present): Rejection | undefined {
  const key = ownerKeyOf(body);
  const isFree = key === undefined || sameKey(key, owner.key) || sameKey(formerOwner, key);
  if (isOfCluster(body, clusterName) && isFree) return undefined;
  const whose = isOfCluster(body, clusterName) ? `Service ${key}` : "another owner";
  const message =
    `${PRIVATE_LINK.name.key}: private link service "${body.name}" belongs to ${whose}: set it to another name, or remove ` +
    PRIVATE_LINK.create.key;
  return { kind: "rejection", reason: "PrivateLinkServiceTaken", message };
}

/** Other frontends that it stands on keep it; a connection that came since the last look goes first. */
function absent(body: Body, { clusterName, frontends }: Absent): Put {
  if (body === undefined) return { body, answer: ACCEPTED };
  const left = (body.properties.loadBalancerFrontendIpConfigurations ?? []).filter(
    ({ id }) => !frontends.has(id.toLowerCase()),
  );
  if (!isOfCluster(body, clusterName)) return { body, answer: { kind: "stale" } };
  if (left.length === frontendsOf(body).length && left.length > 0) return { body, answer: ACCEPTED };
  if (left.length > 0) {
    const properties = { ...body.properties, loadBalancerFrontendIpConfigurations: left };
    return { body: { ...body, properties }, answer: ACCEPTED };
  }
  const isConnected = (body.properties.privateEndpointConnections ?? []).length > 0;
  return isConnected ? { body, answer: { kind: "stale" } } : { body: undefined, answer: ACCEPTED };
}

function handedOver(
  body: PrivateLinkService,
  { owner, clusterName, to }: Extract<PrivateLinkServiceFragment, { kind: "handedOver" }>,
): PrivateLinkService {
  const isOwners = isOfCluster(body, clusterName) && sameKey(ownerKeyOf(body), owner.key);
  return isOwners ? { ...body, tags: withTag(body.tags, OWNER_TAG, to) } : body;
}

/** As asked; the body itself where it is so already. */
function brought(body: PrivateLinkService, fragment: Present): PrivateLinkService {
  const { properties } = body;
  const changes = {
    ...(!standsOn(body, fragment.frontend) && {
      loadBalancerFrontendIpConfigurations: [{ id: fragment.frontend }],
    }),
    ...(!hasAddresses(body, fragment.addresses) && { ipConfigurations: withAddresses(body, fragment.addresses) }),
    ...((properties.enableProxyProtocol ?? false) !== fragment.proxyProtocol && {
      enableProxyProtocol: fragment.proxyProtocol,
    }),
    ...(!sameItems(properties.fqdns, fragment.fqdns) && { fqdns: fragment.fqdns }),
    ...subscriptionLists(body, fragment),
  };
  const tags = tagsOf(body, fragment);
  const isFailed = properties.provisioningState?.toLowerCase() === "failed";
  if (Object.keys(changes).length === 0 && tags === body.tags && !isFailed && body !== fragment.create) return body;
  const { provisioningState: _, ...rest } = properties;
  return { ...body, ...(tags && { tags }), properties: { ...rest, ...changes } };
}

function standsOn(body: PrivateLinkService, frontend: string): boolean {
  const [only, ...others] = frontendsOf(body);
  return others.length === 0 && sameId(only, frontend);
}

/** Whatever their names are: count, subnet, static addresses and the primary one. */
function hasAddresses({ properties }: PrivateLinkService, wanted: readonly PrivateLinkAddress[]): boolean {
  const seen = properties.ipConfigurations ?? [];
  return (
    seen.every((one) => sameId(one.properties.subnet?.id, wanted[0]?.properties.subnet?.id)) &&
    sameItems(seen.map(sourceOf), wanted.map(sourceOf))
  );
}

function sourceOf({
  properties: { privateIPAllocationMethod, privateIPAddress, primary },
}: PrivateLinkAddress): string {
  const source = privateIPAllocationMethod === "Static" ? (privateIPAddress ?? "") : "dynamic";
  return primary === true ? `${source} primary` : source;
}

/** Fields of a configuration that no decision reads stay with its name. */
function withAddresses(
  { properties }: PrivateLinkService,
  wanted: readonly PrivateLinkAddress[],
): PrivateLinkAddress[] {
  const seen = new Map((properties.ipConfigurations ?? []).map((one) => [one.name.toLowerCase(), one]));
  return wanted.map((one) => {
    const before = seen.get(one.name.toLowerCase());
    return before === undefined ? one : { ...before, properties: { ...before.properties, ...one.properties } };
  });
}

/** The two are written together, as the incumbent does, and not at all where there never was one. */
function subscriptionLists({ properties }: PrivateLinkService, { visibility, autoApproval }: Present) {
  const isRight =
    sameItems(properties.visibility?.subscriptions, visibility) &&
    sameItems(properties.autoApproval?.subscriptions, autoApproval);
  if (isRight) return {};
  return {
    visibility: { ...properties.visibility, subscriptions: visibility },
    autoApproval: { ...properties.autoApproval, subscriptions: autoApproval },
  };
}

/** The tags that say whose it is are not taken from configs. */
function tagsOf(body: PrivateLinkService, fragment: Present): PrivateLinkService["tags"] {
  const { owner, clusterName, tags, systemTags } = fragment;
  const isOwners = sameKey(ownerKeyOf(body), owner.key);
  const own = {
    [CLUSTER_TAG]: tagValue(body.tags, CLUSTER_TAG) ?? clusterName,
    [OWNER_TAG]: (isOwners ? tagValue(body.tags, OWNER_TAG) : undefined) ?? owner.key,
  };
  return mergeTags(body.tags, overlayTags(tags, own), systemTags);
}

function sameItems(seen: readonly string[] | undefined, wanted: readonly string[]): boolean {
  const [one, other] = [seen ?? [], wanted].map((items) => items.map((item) => item.toLowerCase()).toSorted());
  return JSON.stringify(one) === JSON.stringify(other);
}
