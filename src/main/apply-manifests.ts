/**
 * Services of manifests as the API server would have them once they are applied: with the defaults that it fills in, and
 * with what it gave the Service that is there already. What it would allocate anew has a placeholder, which is no real value.
 */
import { projectService, type CachedService } from "../controller/projections.ts";
import { CLASS_ANNOTATION, countsForOthers } from "../core/intent/ownership.ts";
import { serviceKey, type Service, type ServicePort } from "../core/model/kubernetes.ts";
import { baseName } from "../core/model/names.ts";
import type { Observed } from "../core/observed.ts";
import { APPLIED_ANNOTATION } from "../core/service/applied-state.ts";
import { md5 } from "../core/util/md5.ts";
import type { KubeObject } from "../kube/client/resources.ts";

interface AppliedManifests {
  readonly applied: readonly CachedService[];
  readonly unallocated: { readonly bases: ReadonlySet<string>; readonly ports: ReadonlySet<number> };
  /** What is observed, with these Services in the place of those of the cluster. */
  readonly overlay: (observed: Observed) => Observed;
}

/** No port of a machine. */
const FIRST_PLACEHOLDER_PORT = 1_000_000;

export function applyManifests(
  manifests: readonly KubeObject[],
  cluster: { get(key: string): CachedService | undefined },
): AppliedManifests {
  const bases = new Set<string>();
  const ports = new Set<number>();
  const allocatePort = (): number => {
    const port = FIRST_PLACEHOLDER_PORT + ports.size;
    ports.add(port);
    return port;
  };
  const applied = manifests.map((manifest) => {
    const wanted = projectService(manifest);
    const existing = cluster.get(serviceKey(wanted));
    const service = appliedService(wanted, existing, allocatePort);
    if (existing === undefined) bases.add(baseName(service.metadata.uid));
    return service;
  });
  const byKey = new Map(applied.map((service) => [serviceKey(service), service]));
  const overlay = (observed: Observed): Observed => {
    if (byKey.size === 0) return observed;
    const others = observed.otherServices.filter((service) => !byKey.has(serviceKey(service)));
    const own = applied.filter((service) => countsForOthers(service, observed.classFilter));
    return { ...observed, otherServices: [...others, ...own] };
  };
  return { applied, unallocated: { bases, ports }, overlay };
}

function appliedService(
  wanted: CachedService,
  existing: CachedService | undefined,
  allocatePort: () => number,
): CachedService {
  return {
    metadata: { ...wanted.metadata, ...givenMeta(wanted, existing) },
    spec: withDefaults(wanted.spec, existing?.spec, allocatePort),
    status: existing?.status ?? { loadBalancer: {} },
  };
}

/** What does not come from a manifest. */
function givenMeta(
  wanted: CachedService,
  existing: CachedService | undefined,
): Pick<CachedService["metadata"], "uid" | "annotations" | "finalizers"> {
  if (existing === undefined) return { uid: placeholderUid(serviceKey(wanted)) };
  const { annotations = {}, ...given } = existing.metadata;
  const own = Object.entries(annotations).filter(([key]) => key === APPLIED_ANNOTATION || key === CLASS_ANNOTATION);
  return { ...given, annotations: { ...wanted.metadata.annotations, ...Object.fromEntries(own) } };
}

/** Always the same for the same Service, so that a plan can be repeated. */
function placeholderUid(key: string): string {
  const digits = md5(key);
  return [0, 8, 12, 16, 20].map((from, at, all) => digits.slice(from, all[at + 1])).join("-");
}

function withDefaults(
  spec: Service["spec"],
  existing: Service["spec"] | undefined,
  allocatePort: () => number,
): Service["spec"] {
  const isServed = spec.type === "LoadBalancer";
  const { externalTrafficPolicy = "Cluster", ipFamilies = existing?.ipFamilies ?? ["IPv4"] } = spec;
  const loadBalancerClass = spec.loadBalancerClass ?? (isServed ? existing?.loadBalancerClass : undefined);
  const { healthCheckNodePort = existing?.healthCheckNodePort } = spec;
  const allocates = isServed && (spec.allocateLoadBalancerNodePorts ?? true);
  return {
    ...spec,
    ports: spec.ports.map((port) =>
      withPortDefaults(port, existing?.ports ?? [], allocates ? allocatePort : undefined),
    ),
    sessionAffinity: spec.sessionAffinity ?? "None",
    externalTrafficPolicy,
    ipFamilies,
    ...(loadBalancerClass !== undefined && { loadBalancerClass }),
    ...(externalTrafficPolicy === "Local" && { healthCheckNodePort: healthCheckNodePort ?? allocatePort() }),
  };
}

/** A port keeps its node port, which the API server finds by protocol and number. */
function withPortDefaults(
  port: ServicePort,
  existing: readonly ServicePort[],
  allocate: (() => number) | undefined,
): ServicePort {
  const same = existing.find((one) => one.port === port.port && one.protocol === port.protocol);
  const nodePort = port.nodePort ?? same?.nodePort ?? allocate?.();
  return { targetPort: port.port, ...port, ...(nodePort !== undefined && { nodePort }) };
}
