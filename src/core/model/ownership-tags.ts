/**
 * The tags that say whose a public IP is: which Services use it, which cluster made it, which Service has set its DNS
 * label. The older keys are read but never written; where both are there, the newer one counts.
 */
import type { PublicIP } from "./arm.ts";
import { type Tags, tagValue } from "./tags.ts";

export const SERVICE_TAG = "k8s-azure-service";
export const CLUSTER_TAG = "k8s-azure-cluster-name";
export const DNS_TAG = "k8s-azure-dns-label-service";

const OLDER_TAGS: Readonly<Record<string, string>> = {
  [SERVICE_TAG]: "service",
  [CLUSTER_TAG]: "kubernetes-cluster-name",
  [DNS_TAG]: "kubernetes-dns-label-service",
};

const OWNERSHIP = new Set([...Object.keys(OLDER_TAGS), ...Object.values(OLDER_TAGS)]);

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

/** The Service that owns the DNS label. */
export function dnsOwnerOf({ tags }: Pick<PublicIP, "tags">): string | undefined {
  return tagOf(tags, DNS_TAG) || undefined;
}

export function withoutDnsOwner(tags: Tags): Tags {
  const gone = [DNS_TAG, OLDER_TAGS[DNS_TAG]];
  return Object.fromEntries(Object.entries(tags).filter(([key]) => !gone.includes(key.toLowerCase())));
}

/** Those of the tags that say whose a public IP is. */
export function ownTags(tags: Tags | undefined): Tags {
  return Object.fromEntries(Object.entries(tags ?? {}).filter(([key]) => isOwnershipTag(key)));
}
