/**
 * Which object a name refers to, and which namespaces may use it.
 *
 *   name                  | driver                | load balancer
 *   ----------------------|-----------------------|----------------------------------------------
 *   `lbcf-azure`          | the built-in one      |
 *   `lbcf-…`              | of kube-system        | of kube-system, if its scope has the namespace
 *   anything else         | of the same namespace | of the same namespace
 */
import { isSystemName, LABEL, SYSTEM_NAMESPACE } from "./names.ts";
import type { LoadBalancer, Meta } from "./objects.ts";

/** `namespace/name` of the driver or load balancer that an object in `namespace` refers to. */
export function referencedKey(name: string, namespace: string): string {
  return `${isSystemName(name) ? SYSTEM_NAMESPACE : namespace}/${name}`;
}

/** Why the name is not allowed in that namespace; `undefined` when it is. */
export function invalidName(
  kind: "LoadBalancerDriver" | "LoadBalancer",
  { name, namespace }: Meta,
): string | undefined {
  const isSystem = namespace === SYSTEM_NAMESPACE;
  if (isSystemName(name) && !isSystem) {
    return `${kind} names starting with lbcf- are kept for ${SYSTEM_NAMESPACE}: choose another name than "${name}"`;
  }
  if (kind === "LoadBalancerDriver" && isSystem && !isSystemName(name)) {
    return `drivers in ${SYSTEM_NAMESPACE} serve every namespace and must be named lbcf-…, not "${name}"`;
  }
  return undefined;
}

/** An empty scope means the load balancer's own namespace; otherwise the scope is the whole list. */
export function allowsNamespace({ metadata, spec: { scope } }: LoadBalancer, namespace: string): boolean {
  if (scope.length === 0) return metadata.namespace === namespace;
  return scope.includes("*") || scope.includes(namespace);
}

/** A driver that is draining or being deleted accepts no new load balancers and groups. */
export function isDraining({ labels, deletionTimestamp }: Meta): boolean {
  return deletionTimestamp !== undefined || labels?.[LABEL.draining]?.toLowerCase() === "true";
}

/** Deleted by a user, but the label do-not-delete blocks it: it is reconciled as a live object. */
export function isDeletionBlocked({ labels, deletionTimestamp }: Meta): boolean {
  return deletionTimestamp !== undefined && labels?.[LABEL.doNotDelete] !== undefined;
}

/** Deleted, and no label blocks that. */
export function isBeingDeleted(metadata: Meta): boolean {
  return metadata.deletionTimestamp !== undefined && !isDeletionBlocked(metadata);
}
