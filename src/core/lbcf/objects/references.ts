/**
 * Which object a name means, and who may use it.
 *
 *   name                  | driver                | load balancer
 *   ----------------------|-----------------------|----------------------------------------------
 *   `lbcf-azure`          | the built-in one      |
 *   `lbcf-…`              | of kube-system        | of kube-system, if its scope has the namespace
 *   anything else         | of the same namespace | of the same namespace
 */
import { isSystemName, LABEL, SYSTEM_NAMESPACE } from "./names.ts";
import type { LoadBalancer, Meta } from "./objects.ts";

/** `namespace/name` of the driver or load balancer that an object in `namespace` means. */
export function placeOf(name: string, namespace: string): string {
  return `${isSystemName(name) ? SYSTEM_NAMESPACE : namespace}/${name}`;
}

/** Why the name may not stand in that namespace; `undefined`: it may. */
export function misplaced(kind: "LoadBalancerDriver" | "LoadBalancer", { name, namespace }: Meta): string | undefined {
  const isSystem = namespace === SYSTEM_NAMESPACE;
  if (isSystemName(name) && !isSystem) {
    return `${kind} names starting with lbcf- are kept for ${SYSTEM_NAMESPACE}: choose another name than "${name}"`;
  }
  if (kind === "LoadBalancerDriver" && isSystem && !isSystemName(name)) {
    return `drivers in ${SYSTEM_NAMESPACE} serve every namespace and must be named lbcf-…, not "${name}"`;
  }
  return undefined;
}

/** An empty scope is the load balancer's own namespace; one that is given is all that counts. */
export function allowsNamespace({ metadata, spec: { scope } }: LoadBalancer, namespace: string): boolean {
  if (scope.length === 0) return metadata.namespace === namespace;
  return scope.includes("*") || scope.includes(namespace);
}

/** A driver that is draining, or being deleted, takes on nothing new. */
export function isDraining({ labels, deletionTimestamp }: Meta): boolean {
  return deletionTimestamp !== undefined || labels?.[LABEL.draining]?.toLowerCase() === "true";
}

/** Deleted by someone, but kept by the label: it goes on as if nobody had. */
export function isHeld({ labels, deletionTimestamp }: Meta): boolean {
  return deletionTimestamp !== undefined && labels?.[LABEL.doNotDelete] !== undefined;
}

/** Deleted, and nothing keeps it. */
export function isGoing(metadata: Meta): boolean {
  return metadata.deletionTimestamp !== undefined && !isHeld(metadata);
}
