/**
 * Puts what Services want of one public IP into it.
 *
 *   made by          | tagged | DNS label, IP tags | deleted
 *   -----------------|--------|--------------------|------------------------------------------------------
 *   us (service tag) | yes    | as asked           | with its last Service, unless something else holds it, or the
 *                    |        |                    | Service is protected: then it stays listed, for the next of its name
 *   a person (none)  | never  | as they are        | never
 *
 * The order of the fragments does not matter. A DNS label belongs to the Service that set it first. Of tags that Services ask
 * for, the Service that is listed first decides; the others add what is missing.
 */
import type { PublicIP } from "../../model/arm.ts";
import { type Answer, answersOf, type Merged, type Rejection, sortedByOwner } from "../../outcome.ts";
import {
  mergeTags,
  overlayTags,
  withTag,
  DNS_TAG,
  isReservedTag,
  SERVICE_TAG,
  dnsOwnerOf,
  keptFor,
  ownTags,
  sameKey,
  servicesOf,
  withKeptFor,
  withoutDnsOwner,
  withoutKeptFor,
} from "../../model/tags.ts";
import { reconciled, type Reconciled } from "../reconciled.ts";
import { hasIPTags } from "./ip-tags.ts";
import type { PublicIPFragment } from "./fragment.ts";
import { OURS } from "../../intent/annotations/ours.ts";
import { PLACEMENT } from "../../intent/annotations/placement.ts";

type Use = Extract<PublicIPFragment, { kind: "present" }>;
type Absence = Extract<PublicIPFragment, { kind: "absent" }>;

/** Azure's limit for the value of a tag. */
const LONGEST_TAG_VALUE = 256;

/** How far the merge has come. */
interface State {
  readonly body: PublicIP;
  /** The Services that use it; `undefined` for one that a person made. */
  readonly services: readonly string[] | undefined;
  readonly isFreed: boolean;
  /** The Service that owns the DNS label, as a tag says. */
  readonly labelOwner: string | undefined;
  /** Of those that are not simply accepted. */
  readonly answers: ReadonlyMap<PublicIPFragment, Answer>;
}

export function mergePublicIP(seen: PublicIP | undefined, fragments: readonly PublicIPFragment[]): Merged<PublicIP> {
  const batch = sortedByOwner(fragments);
  const uses = batch.filter((fragment) => fragment.kind === "present");
  const absences = batch.filter((fragment) => fragment.kind === "absent");
  const start = seen ?? uses.find(({ create }) => create !== undefined)?.create;
  if (start === undefined) {
    const stale = new Map(uses.map((use) => [use, { kind: "stale" } as const]));
    return { outcome: { kind: "unchanged" }, answers: answersOf<PublicIPFragment>(fragments, stale) };
  }
  const services = seen === undefined ? [] : servicesOf(seen);
  const labelOwner = services && dnsOwnerOf(start);
  const first: State = { body: start, services, isFreed: false, labelOwner, answers: new Map() };
  const rank = rankOf(labelOwner);
  const state = uses.sort((one, other) => rank(one) - rank(other)).reduce(used, absences.reduce(released, first));
  return { outcome: outcomeOf(seen, state), answers: answersOf(fragments, state.answers) };
}

function outcomeOf(seen: PublicIP | undefined, { body, services, isFreed }: State): Merged<PublicIP>["outcome"] {
  if (isFreed) return { kind: "delete" };
  const isUnused = services?.length === 0;
  if (seen === undefined)
    return isUnused ? { kind: "unchanged" } : { kind: "put", body: listing(body, services ?? []) };
  const isListed = services === undefined || services.join() === servicesOf(seen)?.join();
  if (isListed && body === seen) return { kind: "unchanged" };
  return { kind: "put", body: isListed ? body : listing(body, services) };
}

function listing(body: PublicIP, services: readonly string[]): PublicIP {
  return { ...body, tags: withTag(body.tags, SERVICE_TAG, services.join(",")) };
}

function released(state: State, release: Absence): State {
  const { owner, keptBy } = release;
  const left = state.services?.filter((key) => !sameKey(key, owner.key));
  if (left === undefined || left.length === state.services?.length) return state;
  if (release.isProtected === true) return keptForOwner(state, release);
  const isLabelOwner = sameKey(state.labelOwner ?? "", owner.key);
  const isUnused = left.length === 0;
  const kept = { reason: "DeletePublicIPAddress", message: stays(state.body, keptBy) } as const;
  return {
    ...state,
    body: isLabelOwner ? withoutLabel(state.body) : state.body,
    labelOwner: isLabelOwner ? undefined : state.labelOwner,
    services: left,
    isFreed: isUnused && keptBy === undefined,
    answers:
      isUnused && keptBy !== undefined
        ? new Map(state.answers).set(release, { kind: "accepted", warnings: [kept] })
        : state.answers,
  };
}

function keptForOwner(state: State, release: Absence): State {
  const { body, answers } = state;
  const { key } = release.owner;
  const message =
    `public IP "${body.name}" (${body.properties.ipAddress ?? "no address yet"}) stays, as annotation ` +
    `${OURS.deletionProtection.key} asks: a Service named ${key} gets it back. Delete it in Azure, if it is not needed`;
  const kept = { reason: "DeletePublicIPAddress", message } as const;
  return {
    ...state,
    body: keptFor(body) === key ? body : { ...body, tags: withKeptFor(body.tags, key) },
    answers: new Map(answers).set(release, { kind: "accepted", warnings: [kept] }),
  };
}

function stays(body: PublicIP, keptBy: string | undefined): string {
  return `public IP "${body.name}" stays although no Service uses it: ${keptBy} holds it`;
}

function used(state: State, use: Use): State {
  const rejection = refuseForeignLabel(state, use) ?? refuseLabel(state, use) ?? refuseLength(state, use);
  if (rejection !== undefined)
    return { ...state, answers: new Map(state.answers).set(use, { kind: "refused", rejection }) };
  if (state.services === undefined) return state;
  const labelled = withLabel(state, use);
  const isListed = state.services.some((key) => sameKey(key, use.owner.key));
  const isFirst = sameKey(state.services[0] ?? use.owner.key, use.owner.key);
  const tagged = (isFirst ? withTags : withMissingTags)(takenBack(labelled.body, use), use);
  return {
    ...labelled,
    body: withSku(withIPTags(tagged, use), use),
    services: isListed ? state.services : [...state.services, use.owner.key],
    isFreed: false,
  };
}

/** A label is used by the clients of the person who made the public IP. */
function refuseForeignLabel({ body, services }: State, { dnsLabel }: Use): Rejection | undefined {
  if (services !== undefined || dnsLabel === undefined || dnsLabel === labelOf(body)) return undefined;
  const has = labelOf(body) === "" ? "has no label" : `has the label "${labelOf(body)}"`;
  const message =
    `${PLACEMENT.dnsLabel.key}: "${dnsLabel}" cannot be set on public IP "${body.name}", which ${has} and was not made ` +
    "by this controller: remove the annotation, or set the label in Azure yourself";
  return { kind: "rejection", reason: "DNSLabelConflict", message };
}

/** A Service that asks for no label, or for the one that is there, is in no other's way. */
function refuseLabel({ body, labelOwner }: State, { owner, dnsLabel }: Use): Rejection | undefined {
  const label = labelOf(body);
  if (!dnsLabel || labelOwner === undefined || sameKey(labelOwner, owner.key) || dnsLabel === label) return undefined;
  const message =
    `annotation azure-dns-label-name asks for "${dnsLabel}", but Service ${labelOwner} has set the label of public IP ` +
    `"${body.name}" to "${label}": use the same label, or another address`;
  return { kind: "rejection", reason: "DNSLabelConflict", message };
}

function labelOf({ properties }: PublicIP): string {
  return properties.dnsSettings?.domainNameLabel ?? "";
}

function refuseLength({ body, services = [] }: State, { owner }: Use): Rejection | undefined {
  const isListed = services.some((key) => sameKey(key, owner.key));
  if (isListed || [...services, owner.key].join(",").length <= LONGEST_TAG_VALUE) return undefined;
  const message =
    `public IP "${body.name}" is shared by ${services.length} Services already, and Azure's limit of ` +
    `${LONGEST_TAG_VALUE} characters for the tag that lists them is reached: use another address`;
  return { kind: "rejection", reason: "TooManyServices", message };
}

function withLabel(state: State, { owner, dnsLabel }: Use): State {
  const { body, labelOwner } = state;
  const isOwner = labelOwner === undefined || sameKey(labelOwner, owner.key);
  if (dnsLabel === undefined || !isOwner) return state;
  if (dnsLabel === "") {
    const isClear = labelOf(body) === "" && labelOwner === undefined;
    return isClear ? state : { ...state, body: withoutLabel(body), labelOwner: undefined };
  }
  if (labelOf(body) === dnsLabel && labelOwner !== undefined) return { ...state, labelOwner: owner.key };
  const dnsSettings = { ...body.properties.dnsSettings, domainNameLabel: dnsLabel };
  const labelled = {
    ...body,
    tags: withTag(body.tags, DNS_TAG, owner.key),
    properties: { ...body.properties, dnsSettings },
  };
  return { ...state, body: labelled, labelOwner: owner.key };
}

function withoutLabel(body: PublicIP): PublicIP {
  const { dnsSettings: _, ...properties } = body.properties;
  return { ...body, ...(body.tags && { tags: withoutDnsOwner(body.tags) }), properties };
}

/** It was kept for this Service, which has come back. */
function takenBack(body: PublicIP, { owner }: Use): PublicIP {
  const isKept = sameKey(keptFor(body) ?? "", owner.key);
  return isKept && body.tags !== undefined ? { ...body, tags: withoutKeptFor(body.tags) } : body;
}

/** The tags that name its owners are neither pruned nor taken from configs and annotations. */
function withTags(body: PublicIP, { tags, systemTags }: Use): PublicIP {
  const asked = Object.fromEntries(Object.entries(tags).filter(([key]) => !isReservedTag(key)));
  const merged = mergeTags(body.tags, overlayTags(asked, ownTags(body.tags)), systemTags);
  return merged === body.tags || merged === undefined ? body : { ...body, tags: merged };
}

/** Two that ask for different values would write them in turns. */
function withMissingTags(body: PublicIP, use: Use): PublicIP {
  return withTags(body, { ...use, tags: overlayTags(use.tags, body.tags ?? {}), systemTags: [] });
}

function withIPTags(body: PublicIP, { ipTags }: Use): PublicIP {
  if (ipTags === undefined || hasIPTags(body, ipTags)) return body;
  const list = ipTags.map(({ type, value }) => ({ ipTagType: type, tag: value }));
  return { ...body, properties: { ...body.properties, ipTags: list } };
}

function withSku(body: PublicIP, { sku }: Use): PublicIP {
  const isRight = sku === undefined || body.sku?.name?.toLowerCase() === sku.toLowerCase();
  return isRight ? body : { ...body, sku: { ...body.sku, name: sku } };
}

/** The label's owner may give it up to others; Services that ask for it come before those that ask for none. */
function rankOf(labelOwner: string | undefined): (use: Use) => number {
  return ({ owner, dnsLabel }) => (sameKey(labelOwner ?? "", owner.key) ? 0 : dnsLabel === "" ? 2 : 1);
}

/**
 * What one Service must have written to one public IP: that it uses it, or that it does so no longer. Which public IPs
 * those are is decided by `desired-public-ips.ts`; when each may be written, by `service/reconcile-service.ts`. `seen` is
 * absent where the public IP is yet to be made. @design reconcilePublicIP
 */
export function reconcilePublicIP(
  id: string,
  seen: PublicIP | undefined,
  fragment: PublicIPFragment,
): Reconciled<"publicIP"> {
  const merged = mergePublicIP(seen, [fragment]);
  return reconciled(merged, () => ({ kind: "publicIP", id, fragment, why: whyOf(fragment, seen) }));
}

function whyOf(fragment: PublicIPFragment, seen: PublicIP | undefined): string {
  const { key } = fragment.owner;
  if (fragment.kind === "absent")
    return fragment.isProtected === true ? `${key} goes, and its address is kept` : `${key} does not use it any more`;
  return `${seen === undefined ? "made for" : "used by"} ${key} (${fragment.family})`;
}
