/**
 * What the tags of a public IP say: which Services use it, which cluster made it, which Service owns its DNS label. The
 * older keys are read but never written; where both are there, the newer one counts.
 */
import type { PublicIP } from "../../model/arm.ts";
import type { Tags } from "../../model/tags.ts";

export const SERVICE_TAG = "k8s-azure-service";
export const CLUSTER_TAG = "k8s-azure-cluster-name";
export const DNS_TAG = "k8s-azure-dns-label-service";
const OLDER: Readonly<Record<string, string>> = {
  [SERVICE_TAG]: "service",
  [CLUSTER_TAG]: "kubernetes-cluster-name",
  [DNS_TAG]: "kubernetes-dns-label-service",
};

function tagOf(tags: Tags | undefined, key: string): string | undefined {
  return tags?.[key] ?? tags?.[OLDER[key] ?? key];
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

/** Of another cluster that shares the resource group. One without a cluster tag may be any cluster's. */
export function isOtherClusters({ tags }: Pick<PublicIP, "tags">, clusterName: string): boolean {
  const cluster = tagOf(tags, CLUSTER_TAG) ?? "";
  return cluster !== "" && cluster.toLowerCase() !== clusterName.toLowerCase();
}

/** The Service that owns the DNS label. */
export function dnsOwnerOf({ tags }: Pick<PublicIP, "tags">): string | undefined {
  return tagOf(tags, DNS_TAG) || undefined;
}

export function withoutDnsOwner(tags: Tags): Tags {
  return Object.fromEntries(Object.entries(tags).filter(([key]) => key !== DNS_TAG && key !== OLDER[DNS_TAG]));
}

/** Those of the tags that name the owners of a public IP. */
export function ownTags(tags: Tags | undefined): Tags {
  const own = new Set([...Object.keys(OLDER), ...Object.values(OLDER)]);
  return Object.fromEntries(Object.entries(tags ?? {}).filter(([key]) => own.has(key)));
}
