/**
 * The annotation on a Service that says how far its spec is applied. It tells a change of the Service, still to be
 * applied, from drift: an edit of Azure by another client.
 *
 *   annotation              | means
 *   ------------------------|-------------------------------------------------------------------------------
 *   none                    | new, or taken over and never changed since
 *   `{fingerprint}`         | this spec, under this config, was fully applied
 *   `changing`              | an earlier spec was, another is on its way: no difference counts as drift
 *   ` groups={a},{b}` added | resource groups, besides the cluster's, where public IPs of the Service may be
 *   ` links={a},{b}` added  | resource groups where private link services on its frontends may be
 *   ` uids={a},{b}` added   | its UID, and those of former incarnations whose names parts in Azure bear
 *   ` spec={fingerprint}`   | the spec that was last fully applied, under whatever config; while the Service's own
 *     added                 | change is on its way, `spec=another`
 *
 * A user who may write the Service may write this, too: it tells where to look, and what is found there is verified.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Service } from "../model/kubernetes.ts";
import { isResourceGroupName, parseId } from "../model/ids.ts";
import { md5 } from "../util/md5.ts";
import { memo, memoAll } from "../util/memo.ts";
import { OURS } from "../intent/annotations/ours.ts";
import type { Decision } from "../steps.ts";
import { baseName } from "../model/names.ts";
import { loadBalancersWith } from "../resources/load-balancer/load-balancer-index.ts";
import { frontendsOf, linksOfService } from "./service-parts.ts";
import type { ResolvedService } from "./resolve-service.ts";

export const APPLIED_ANNOTATION = "azlb.io/applied";

const CHANGING = "changing";
const GROUPS = "groups=";
const LINKS = "links=";
const UIDS = "uids=";
const UID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** More than that no user restores a cluster without an end in between. */
const MOST_UIDS = 4;
const SPEC = "spec=";
const ANOTHER_SPEC = "another";

interface AppliedState {
  /** `undefined` while changing. */
  readonly fingerprint: string | undefined;
  readonly groups: readonly string[];
  /** As `groups`, for private link services. */
  readonly links: readonly string[];
  /** Of the Service, and of its former incarnations. */
  readonly uids: readonly string[];
  /** Fingerprint of the spec alone; `undefined` where none is noted. */
  readonly spec: string | undefined;
}

export function readAppliedState(service: Service): AppliedState | undefined {
  const text = service.metadata.annotations?.[APPLIED_ANNOTATION];
  if (text === undefined) return undefined;
  const [state, ...notes] = text.split(" ");
  return {
    fingerprint: state === CHANGING ? undefined : state,
    groups: readGroups(notes, GROUPS),
    links: readGroups(notes, LINKS),
    uids: readUids(notes),
    spec: readNote(notes, SPEC),
  };
}

function readNote(notes: readonly string[], name: string): string | undefined {
  return notes.find((one) => one.startsWith(name))?.slice(name.length);
}

function readGroups(notes: readonly string[], name: string): string[] {
  return (readNote(notes, name)?.split(",") ?? []).filter(isResourceGroupName);
}

/** A Service that is created anew from a backup bears the annotation of its former incarnation. */
function readUids(notes: readonly string[]): string[] {
  const uids = readNote(notes, UIDS)?.split(",") ?? [];
  return uids.filter((uid) => UID.test(uid)).slice(0, MOST_UIDS);
}

function renderUids(uids: readonly string[]): string[] {
  const noted = [...new Set(uids)].filter((uid) => UID.test(uid)).slice(0, MOST_UIDS);
  return noted.length === 0 ? [] : [UIDS + noted.join(",")];
}

function renderAppliedState({ fingerprint, groups, links, uids, spec }: AppliedState): string {
  const notes = [...renderGroups(GROUPS, groups), ...renderGroups(LINKS, links), ...renderUids(uids)];
  return [fingerprint ?? CHANGING, ...notes, ...(spec === undefined ? [] : [SPEC + spec])].join(" ");
}

function renderGroups(name: string, groups: readonly string[]): string[] {
  return groups.length === 0 ? [] : [name + groups.toSorted().join(",")];
}

/** Does this text say that a change is under way? */
export function isChanging(applied: string | undefined): boolean {
  return applied?.split(" ")[0] === CHANGING;
}

/** Equal for equal specs under equal configs. */
function fingerprintOf(service: Service, config: ClusterConfig): string {
  return fingerprint(config, service);
}

const fingerprint = memoAll((config: ClusterConfig, service: Service) =>
  md5(specFingerprint(service) + configFingerprint(config)),
);

/**
 * Values that leave the fingerprint of the config as it was before there was such a key. A key that a version adds has its
 * default here: otherwise an upgrade would count as a change of every Service, and what other clients have edited in Azure
 * would be overwritten instead of reported.
 */
const AS_IF_ABSENT: Partial<ClusterConfig> = {
  loadBalancers: [],
  fleetMax: 1,
  migratesPools: false,
  migratesByAction: false,
  preConfiguredPools: "none",
  sharedProbe: undefined,
  addressSharing: "any",
  extendedLocation: undefined,
  azureStack: false,
};

/** What a Service has in Azure does not depend on these. */
const NO_MATTER: readonly (keyof ClusterConfig)[] = [
  "source",
  "loadBalancerLimits",
  "maximumLoadBalancerRuleCount",
  "enableAdminState",
  "adminStateTaints",
  "nodeEventNamespaces",
];

const configFingerprint = memo((config: ClusterConfig) => {
  const absent: Readonly<Record<string, unknown>> = { ...AS_IF_ABSENT };
  const fields = Object.entries(config)
    .filter(([key]) => !NO_MATTER.some((one) => one === key))
    .filter(([key, value]) => !(key in absent) || JSON.stringify(value) !== JSON.stringify(absent[key]))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return md5(JSON.stringify(fields));
});

/** What differs in Azure from such a Service is drift. */
export function isApplied(service: Service, config: ClusterConfig): boolean {
  return readAppliedState(service)?.fingerprint === fingerprintOf(service, config);
}

/** The Service was applied once and asks for something else since. */
export function isChanged(service: Service, config: ClusterConfig): boolean {
  const applied = readAppliedState(service);
  return applied !== undefined && applied.fingerprint !== fingerprintOf(service, config);
}

/**
 * The Service itself asks for something else than what was last applied, or for nothing any more; a change of the config
 * is none of the Service's.
 */
export function isChangedItself(service: Service): boolean {
  const { metadata, spec } = service;
  const applied = readAppliedState(service)?.spec;
  return (
    metadata.deletionTimestamp !== undefined ||
    spec.type !== "LoadBalancer" ||
    (applied !== undefined && applied !== specFingerprint(service))
  );
}

const OUR_NOTES = "azlb.io/";
const KUBECTL_NOTE = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Says whether a Service changed in what a load balancer depends on: equal fingerprints, nothing to do. It covers what
 * the incumbent's controller compares, and leaves out what changes by itself: status, labels, other controllers' notes
 * in the annotations and this controller's own.
 */
export const specFingerprint: (service: Service) => string = memo(({ spec, metadata }: Service) => {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => counts(key));
  return md5(
    JSON.stringify([
      metadata.uid,
      spec.type,
      spec.loadBalancerClass ?? null,
      spec.ports.map((port) => [
        port.name ?? "",
        port.protocol,
        port.port,
        port.nodePort ?? 0,
        port.targetPort ?? "",
        port.appProtocol ?? "",
      ]),
      spec.loadBalancerSourceRanges ?? [],
      spec.loadBalancerIP ?? "",
      spec.externalTrafficPolicy ?? "Cluster",
      spec.healthCheckNodePort ?? 0,
      spec.sessionAffinity ?? "None",
      spec.ipFamilies ?? ["IPv4"],
      annotations.sort(([one], [other]) => (one < other ? -1 : 1)),
    ]),
  );
});

function counts(key: string): boolean {
  return key === OURS.driftPolicy.key || (!key.startsWith(OUR_NOTES) && key !== KUBECTL_NOTE);
}

/**
 * A decision to write to Azure, or the mark that must be written before it. A change is marked on the Service before its first
 * write, so that a half of it is never taken for drift, and that what the Service itself may forget before it is published
 * is found again: public IPs in other resource groups, and private link services. A Service that is new, or taken over,
 * and has none of these needs no mark: it bears no applied state that could mislead.
 */
export function markChangingFirst(resolved: ResolvedService, decision: Decision): Decision {
  const { service, config } = resolved.observed;
  const applied = readAppliedState(service);
  const isNoted =
    groupsNow(resolved).every((group) => applied?.groups.includes(group)) &&
    linksNow(resolved).every((group) => applied?.links.includes(group));
  const isMoving = resolved.placement.movedFrom.length > 0;
  const isCurrent = applied?.fingerprint === undefined || (isApplied(service, config) && !isMoving);
  if (isNoted && isCurrent) return decision;
  const ingress = service.status.loadBalancer.ingress ?? [];
  const step = { kind: "updateStatus", ingress, applied: changingState(resolved), why: "a change begins" } as const;
  return { kind: "act", steps: [step], warnings: [] };
}

/** What the Service is marked with while a change is on its way. */
export function changingState(resolved: ResolvedService): string {
  const { service } = resolved.observed;
  const { groups = [], links = [], spec } = readAppliedState(service) ?? {};
  return renderAppliedState({
    fingerprint: undefined,
    groups: [...new Set([...groups, ...groupsNow(resolved)])],
    links: [...new Set([...links, ...linksNow(resolved)])],
    uids: uidsNow(resolved),
    spec: isChangedItself(service) ? ANOTHER_SPEC : spec,
  });
}

/** Everything is applied and nothing is left behind. */
export function finalAppliedState(resolved: ResolvedService): string {
  const { observed, publicIPs } = resolved;
  const groups = outside(
    resolved,
    publicIPs.uses.map(({ id }) => id),
  );
  const fingerprint = fingerprintOf(observed.service, observed.config);
  return renderAppliedState({
    fingerprint,
    groups,
    links: linksNow(resolved),
    uids: uidsNow(resolved),
    spec: specFingerprint(observed.service),
  });
}

/** Its own first; those of former incarnations for as long as something in Azure is named after them. */
function uidsNow({ observed }: ResolvedService): string[] {
  const { service, loadBalancers } = observed;
  const isNamed = (uid: string): boolean => loadBalancersWith(loadBalancers, baseName(uid)).length > 0;
  const { uid } = service.metadata;
  return [uid, ...(readAppliedState(service)?.uids ?? []).filter((former) => former !== uid && isNamed(former))];
}

/** Resource groups that the Service has, or is about to have, public IPs in. */
function groupsNow(resolved: ResolvedService): string[] {
  const { observed, intent, publicIPs } = resolved;
  const frontends = observed.loadBalancers.flatMap((seen) => frontendsOf(seen, intent.owner.base));
  return outside(resolved, [
    ...publicIPs.uses.map(({ id }) => id),
    ...publicIPs.releases.map(({ seen }) => seen.id),
    ...frontends.flatMap(({ properties }) => properties.publicIPAddress?.id ?? []),
  ]);
}

/** Resource groups that hold private link services on the Service's frontends, or are about to. */
function linksNow({ observed, intent }: ResolvedService): string[] {
  const found = linksOfService(observed, intent.owner).flatMap(({ id }) => parseId(id)?.resourceGroup ?? []);
  const asked = intent.privateLink === undefined ? [] : [intent.privateLink.resourceGroup];
  return [...new Set([...asked, ...found].map((group) => group.toLowerCase()))];
}

/** Their groups but for the cluster's own, which is looked at anyway. */
function outside({ observed: { config } }: ResolvedService, ids: readonly string[]): string[] {
  const groups = new Set(ids.flatMap((id) => parseId(id)?.resourceGroup.toLowerCase() ?? []));
  groups.delete(config.resourceGroup.toLowerCase());
  return [...groups];
}
