/**
 * The cluster as it will be seen once no Service asks this controller for a load balancer any more. `reconcileService`
 * then releases everything of each Service, in the order and with the care of a deletion, although the Services stay.
 */
import { CLASS_ANNOTATION, needsCleanup, wantsLoadBalancer, type ClassFilter } from "../intent/ownership.ts";
import type { Service } from "../model/kubernetes.ts";
import type { Observed } from "../observed.ts";

/** Services of other controllers go on as they are. */
export function withdrawn(observed: Observed): Observed {
  const { service, otherServices, classFilter } = observed;
  const isOurs = (one: Service): boolean => wantsLoadBalancer(one, classFilter) || needsCleanup(one, classFilter);
  return {
    ...observed,
    service: withdrawnService(service, classFilter),
    otherServices: otherServices.filter((one) => !isOurs(one)),
  };
}

function withdrawnService(service: Service, classFilter: ClassFilter): Service {
  if (!wantsLoadBalancer(service, classFilter)) return service;
  const { metadata, spec } = service;
  const { [CLASS_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
  const marked = classFilter === undefined ? annotations : { ...annotations, [CLASS_ANNOTATION]: classFilter };
  return { ...service, metadata: { ...metadata, annotations: marked }, spec: { ...spec, type: "ClusterIP" } };
}
