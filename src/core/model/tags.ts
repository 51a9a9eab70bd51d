/**
 * Tags of Azure resources: parsed from text, overlaid, and merged into the tags of a shared resource; and what those of a
 * public IP say. Azure compares keys without case: keys that differ in case only are one key, and the last one counts.
 */
import type { PublicIP } from "./arm.ts";

export type Tags = Readonly<Record<string, string>>;

interface TagList {
  readonly tags: Tags;
  /** Pairs that are not exactly one `key=value`; they are ignored. */
  readonly malformed: readonly string[];
}

/** The `k=v,k2=v2` in which configs and annotations write tags. */
export function parseTagList(text: string): TagList {
  const tags: [key: string, value: string][] = [];
  const malformed: string[] = [];
  for (const pair of text.split(",")) {
    if (pair.trim() === "") continue;
    const [key = "", value, ...rest] = pair.split("=");
    if (value === undefined || rest.length > 0 || key.trim() === "") malformed.push(pair.trim());
    else tags.push([key.trim(), trimmedValue(value)]);
  }
  return { tags: oneOfEach(tags), malformed };
}

function oneOfEach(entries: readonly (readonly [key: string, value: string])[]): Tags {
  const last = new Map(entries.map(([key], at) => [key.toLowerCase(), at]));
  return Object.fromEntries(entries.filter(([key], at) => last.get(key.toLowerCase()) === at));
}

/** The value of a tag, in whatever case its key is. */
export function tagValue(tags: Tags | undefined, key: string): string | undefined {
  return tags?.[spellingOf(tags, key)];
}

/** In the spelling that is there. */
export function withTag(tags: Tags | undefined, key: string, value: string): Tags {
  return { ...tags, [spellingOf(tags, key)]: value };
}

function spellingOf(tags: Tags | undefined, key: string): string {
  const lower = key.toLowerCase();
  return Object.keys(tags ?? {}).find((one) => one.toLowerCase() === lower) ?? key;
}

/** As the incumbent reads it: a value that trims to `null` keeps its blanks. */
function trimmedValue(value: string): string {
  const trimmed = value.trim();
  return trimmed.toLowerCase() === "null" ? value : trimmed;
}

/** `over` wins. */
export function overlayTags(under: Tags, over: Tags): Tags {
  const taken = new Set(Object.keys(over).map((key) => key.toLowerCase()));
  const kept = Object.entries(under).filter(([key]) => !taken.has(key.toLowerCase()));
  return oneOfEach([...kept, ...Object.entries(over)]);
}

/**
 * `seen` with the wanted tags; tags of other clients stay, except where the config names `systemTags`: then a tag that is
 * neither wanted nor starts with one of those is removed. Keys keep their spelling. Returns `seen` itself where nothing
 * changes.
 */
export function mergeTags(seen: Tags | undefined, wanted: Tags, systemTags: readonly string[]): Tags | undefined {
  const spelling = new Map(Object.keys(seen ?? {}).map((key) => [key.toLowerCase(), key]));
  const merged: Record<string, string> = { ...seen };
  let changed = false;
  for (const [key, value] of Object.entries(oneOfEach(Object.entries(wanted)))) {
    const known = spelling.get(key.toLowerCase()) ?? key;
    if (merged[known] === value) continue;
    merged[known] = value;
    changed = true;
  }
  for (const key of prunable(merged, wanted, systemTags)) {
    delete merged[key];
    changed = true;
  }
  return changed ? merged : seen;
}

function prunable(tags: Tags, wanted: Tags, systemTags: readonly string[]): string[] {
  if (systemTags.length === 0) return [];
  const wantedKeys = new Set(Object.keys(wanted).map((key) => key.toLowerCase()));
  const prefixes = systemTags.map((prefix) => prefix.toLowerCase());
  return Object.keys(tags).filter((key) => {
    const lower = key.toLowerCase();
    return !wantedKeys.has(lower) && !prefixes.some((prefix) => lower.startsWith(prefix));
  });
}

/**
 * The tags that say whose a public IP is: which Services use it, which cluster made it, which Service has set its DNS
 * label. The older keys are read but never written; where both are there, the newer one counts.
 */
export const SERVICE_TAG = "k8s-azure-service";
export const CLUSTER_TAG = "k8s-azure-cluster-name";
export const DNS_TAG = "k8s-azure-dns-label-service";
/** The Service that went and left its public IP behind, to be used by the next one of its name. */
export const KEPT_TAG = "azlb-kept-for";
/** Of a private link service: the Service that it was made for. */
export const OWNER_TAG = "k8s-azure-owner-service";

const OLDER_TAGS: Readonly<Record<string, string>> = {
  [SERVICE_TAG]: "service",
  [CLUSTER_TAG]: "kubernetes-cluster-name",
  [DNS_TAG]: "kubernetes-dns-label-service",
};

const OWNERSHIP = new Set([...Object.keys(OLDER_TAGS), ...Object.values(OLDER_TAGS), KEPT_TAG]);

function isOwnershipTag(key: string): boolean {
  return OWNERSHIP.has(key.toLowerCase());
}

/**
 * The controller alone writes it. `service` may be a tag of the user's: it counts only where the newer key is missing,
 * and is not changed then.
 */
export function isReservedTag(key: string): boolean {
  return isOwnershipTag(key) && key.toLowerCase() !== OLDER_TAGS[SERVICE_TAG];
}

function tagOf(tags: Tags | undefined, key: string): string | undefined {
  return tagValue(tags, key) ?? tagValue(tags, OLDER_TAGS[key] ?? key);
}

/** Keys `namespace/name`. `undefined`: no such tag, so a person made it and it is never deleted nor tagged. */
export function servicesOf({ tags }: Pick<PublicIP, "tags">): readonly string[] | undefined {
  const list = tagOf(tags, SERVICE_TAG);
  return list
    ?.split(",")
    .map((key) => key.trim())
    .filter((key) => key !== "");
}

export function listsService(publicIP: Pick<PublicIP, "tags">, key: string): boolean {
  return (servicesOf(publicIP) ?? []).some((listed) => sameKey(listed, key));
}

export function sameKey(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The name of the cluster that made it; `undefined`: it may be any cluster's. */
export function clusterOf({ tags }: Pick<PublicIP, "tags">): string | undefined {
  return tagOf(tags, CLUSTER_TAG) || undefined;
}

/** Of another cluster that shares the resource group. */
export function isOtherClusters(publicIP: Pick<PublicIP, "tags">, clusterName: string): boolean {
  const cluster = clusterOf(publicIP);
  return cluster !== undefined && cluster.toLowerCase() !== clusterName.toLowerCase();
}

/** The tag says so. */
export function isOfCluster(publicIP: Pick<PublicIP, "tags">, clusterName: string): boolean {
  return clusterOf(publicIP)?.toLowerCase() === clusterName.toLowerCase();
}

/** The Service that owns the DNS label. */
export function dnsOwnerOf({ tags }: Pick<PublicIP, "tags">): string | undefined {
  return tagOf(tags, DNS_TAG) || undefined;
}

export function withoutDnsOwner(tags: Tags): Tags {
  const gone = [DNS_TAG, OLDER_TAGS[DNS_TAG]];
  return Object.fromEntries(Object.entries(tags).filter(([key]) => !gone.includes(key.toLowerCase())));
}

/** The Service, gone by now, whose deletion protection keeps the public IP. */
export function keptFor({ tags }: Pick<PublicIP, "tags">): string | undefined {
  return tagValue(tags, KEPT_TAG);
}

export function withKeptFor(tags: Tags | undefined, key: string): Tags {
  return withTag(tags, KEPT_TAG, key);
}

export function withoutKeptFor(tags: Tags): Tags {
  return Object.fromEntries(Object.entries(tags).filter(([key]) => key.toLowerCase() !== KEPT_TAG));
}

/** Those of the tags that say whose a public IP is. */
export function ownTags(tags: Tags | undefined): Tags {
  return Object.fromEntries(Object.entries(tags ?? {}).filter(([key]) => isOwnershipTag(key)));
}
