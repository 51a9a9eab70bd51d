/**
 * The keys of the tags that say whose a public IP is: which Services use it, which cluster made it, which Service has set
 * its DNS label. The older ones are read but never written.
 */
export const SERVICE_TAG = "k8s-azure-service";
export const CLUSTER_TAG = "k8s-azure-cluster-name";
export const DNS_TAG = "k8s-azure-dns-label-service";

export const OLDER_TAGS: Readonly<Record<string, string>> = {
  [SERVICE_TAG]: "service",
  [CLUSTER_TAG]: "kubernetes-cluster-name",
  [DNS_TAG]: "kubernetes-dns-label-service",
};

const OWNERSHIP = new Set([...Object.keys(OLDER_TAGS), ...Object.values(OLDER_TAGS)]);

export function isOwnershipTag(key: string): boolean {
  return OWNERSHIP.has(key.toLowerCase());
}

/**
 * The controller alone writes it. `service` may be a tag of the user's: it counts only where the newer key is missing,
 * and is not changed then.
 */
export function isReservedTag(key: string): boolean {
  return isOwnershipTag(key) && key.toLowerCase() !== OLDER_TAGS[SERVICE_TAG];
}
