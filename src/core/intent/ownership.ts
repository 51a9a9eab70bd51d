/**
 * Which Services are ours to serve, which are ours to clean up, and what marks them. By default those without a
 * `loadBalancerClass`; with `--load-balancer-class` only those of that class, so that two controllers never meet.
 */
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { baseName } from "../model/names.ts";
import type { Owner } from "../outcome.ts";
import { memo } from "../util/memo.ts";

/** The incumbent's: whichever controller runs, it cleans up what the other made. */
export const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";

/**
 * Written together with the finalizer where we serve a class. Kubernetes drops `loadBalancerClass` when a Service
 * changes its type, and every controller's finalizer is the same: only this still says which controller served it.
 */
export const CLASS_ANNOTATION = "azlb.io/class";

/** `undefined`: Services without a class. */
export type ClassFilter = string | undefined;

/** Should it have a load balancer from us now? */
export function wantsLoadBalancer(service: Service, classFilter: ClassFilter): boolean {
  return service.spec.type === "LoadBalancer" && isOfClass(service, classFilter) && !isDeleting(service);
}

/**
 * Which Services count where Services meet, at shared addresses and at the nodes' own: ours, and those that another
 * controller of this kind serves, which its finalizer tells. Else two of them would take turns closing each other's
 * ports.
 */
export function countsForOthers(service: Service, classFilter: ClassFilter): boolean {
  const isServed = service.spec.type === "LoadBalancer" && isHeld(service) && !isDeleting(service);
  return wantsLoadBalancer(service, classFilter) || isServed;
}

const NONE: readonly Service[] = [];

/** Of these, the Services that take room on our load balancers: another controller's are on its own. */
export function servedHere(services: readonly Service[], classFilter: ClassFilter): readonly Service[] {
  return byClass(services).get(classFilter) ?? NONE;
}

const byClass = memo((services: readonly Service[]): ReadonlyMap<ClassFilter, readonly Service[]> =>
  Map.groupBy(
    services.filter((service) => service.spec.type === "LoadBalancer" && !isDeleting(service)),
    ({ spec }) => spec.loadBalancerClass,
  ),
);

/** Does it hold something of ours that must go? What bears no finalizer holds nothing: that comes before any write. */
export function needsCleanup(service: Service, classFilter: ClassFilter): boolean {
  if (!isHeld(service)) return false;
  if (service.spec.type === "LoadBalancer") return isOfClass(service, classFilter) && isDeleting(service);
  return service.metadata.annotations?.[CLASS_ANNOTATION] === classFilter;
}

function isOfClass(service: Service, classFilter: ClassFilter): boolean {
  return service.spec.loadBalancerClass === classFilter;
}

/** Bears the finalizer: it may have something in Azure. */
export function isHeld({ metadata }: Service): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

function isDeleting(service: Service): boolean {
  return service.metadata.deletionTimestamp !== undefined;
}

export function ownerOf(service: Service): Owner {
  return { key: serviceKey(service), uid: service.metadata.uid, base: baseName(service.metadata.uid) };
}
