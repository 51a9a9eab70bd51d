/**
 * What the caches keep of each object: the fields of `core/model/kubernetes.ts` and no more, so that a Node of 15 KB
 * becomes a few hundred bytes.
 *
 * Throws `MisshapenError` for what no such object can hold: the cache then keeps what it knew, because a Service whose
 * annotations cannot be read is not one without annotations.
 */
import type { EndpointSlice, Node, ObjectMeta, Service, ServicePort } from "../core/model/kubernetes.ts";
import type { KubeObject } from "../kube/client/resources.ts";

/** As it comes from the server; anything may be missing. */
type Raw<T> = { readonly [K in keyof T]?: T[K] };

/** Annotations that tools write for themselves: large, and never read by the controller. */
const IGNORED_ANNOTATIONS = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);

export type CachedService = Service & KubeObject;
export type CachedNode = Node & KubeObject;

function metaOf(metadata: KubeObject["metadata"]): ObjectMeta & KubeObject["metadata"] {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  return defined({
    name,
    namespace,
    uid,
    resourceVersion,
    creationTimestamp,
    deletionTimestamp,
    labels: record("metadata.labels", metadata.labels),
    finalizers: list("metadata.finalizers", metadata.finalizers),
    annotations: readAnnotations(record("metadata.annotations", metadata.annotations)),
  });
}

function readAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  if (annotations === undefined) return undefined;
  if (![...IGNORED_ANNOTATIONS].some((key) => key in annotations)) return annotations;
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !IGNORED_ANNOTATIONS.has(key)));
}

export function projectService(object: KubeObject): CachedService {
  const raw = object as KubeObject & { spec?: Raw<Service["spec"]>; status?: Raw<Service["status"]> };
  const spec = record("spec", raw.spec) ?? {};
  const balancer = record("status.loadBalancer", record("status", raw.status)?.loadBalancer);
  return {
    metadata: metaOf(object.metadata),
    spec: defined({
      type: spec.type ?? "ClusterIP",
      ports: (list("spec.ports", spec.ports) ?? []).map(projectPort),
      loadBalancerClass: spec.loadBalancerClass,
      loadBalancerIP: spec.loadBalancerIP || undefined,
      loadBalancerSourceRanges: spec.loadBalancerSourceRanges,
      externalTrafficPolicy: spec.externalTrafficPolicy,
      healthCheckNodePort: spec.healthCheckNodePort || undefined,
      sessionAffinity: spec.sessionAffinity,
      ipFamilies: spec.ipFamilies,
      allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts,
    }),
    status: { loadBalancer: defined({ ingress: list("status.loadBalancer.ingress", balancer?.ingress) }) },
  };
}

function projectPort(port: Raw<ServicePort>): ServicePort {
  return defined({
    name: port.name,
    protocol: port.protocol ?? "TCP",
    port: port.port ?? 0,
    nodePort: port.nodePort || undefined,
    targetPort: port.targetPort,
    appProtocol: port.appProtocol,
  });
}

/** `drainTaints`: keys of taints that drain a node besides the usual ones. */
export function projectNode(object: KubeObject, drainTaints: readonly string[] = []): CachedNode {
  const raw = object as KubeObject & Partial<Node>;
  const { providerID, taints, unschedulable } = record("spec", raw.spec) ?? {};
  const status = record("status", raw.status);
  return {
    metadata: metaOf(object.metadata),
    spec: defined({ providerID, taints: list("spec.taints", taints), unschedulable }),
    status: defined({ addresses: list("status.addresses", status?.addresses) }),
    ...(drainTaints.length > 0 &&
      (taints ?? []).some(({ key }) => drainTaints.includes(key)) && { hasConfiguredTaint: true }),
  };
}

export type CachedEndpointSlice = EndpointSlice & KubeObject;

interface RawEndpoint {
  readonly nodeName?: string;
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean };
}

const ADDRESS_TYPES = ["IPv4", "IPv6", "FQDN"];

/** An endpoint whose conditions are not known counts as ready, as Kubernetes has it. */
export function projectEndpointSlice(object: KubeObject): CachedEndpointSlice {
  const raw = object as KubeObject & { addressType?: string; endpoints?: readonly RawEndpoint[] };
  const { name, namespace = "default", uid, resourceVersion } = object.metadata;
  const labels = record("metadata.labels", object.metadata.labels);
  const { addressType = "IPv4" } = raw;
  if (!ADDRESS_TYPES.includes(addressType))
    throw new MisshapenError(`addressType must be IPv4, IPv6 or FQDN, not ${JSON.stringify(addressType)}`);
  const serving = (list("endpoints", raw.endpoints) ?? []).filter(({ conditions }) => {
    const { ready = true, serving: serves } = record("endpoints[].conditions", conditions) ?? {};
    return ready || serves === true;
  });
  return {
    metadata: { name, namespace, uid, resourceVersion },
    service: `${namespace}/${labels?.["kubernetes.io/service-name"] ?? ""}`,
    addressType,
    nodeNames: [...new Set(serving.flatMap(({ nodeName }) => text("endpoints[].nodeName", nodeName) ?? []))].sort(),
  };
}

/** Its name and labels. */
export function projectNamespace(object: KubeObject): KubeObject {
  const { name, uid, resourceVersion, labels } = object.metadata;
  return { metadata: defined({ name, uid, resourceVersion, labels: record("metadata.labels", labels) }) };
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Leaves out what is undefined, so that equal objects look equal. */
function defined<T extends object>(fields: T): Defined<T> {
  const kept: Partial<T> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key]; // half the cost of a change event
  return kept as Defined<T>;
}

/** What the API server sent has a shape that would pass for something absent. Names the field and what it held. */
class MisshapenError extends Error {
  override readonly name = "MisshapenError";
}

/** A JSON object, or nothing; `null` is neither, since the API server leaves out what is absent. */
function record<T extends object>(field: string, value: T | undefined): T | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new MisshapenError(`${field} must be an object, not ${described(value)}`);
}

function text(field: string, value: string | undefined): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new MisshapenError(`${field} must be a text, not ${described(value)}`);
}

/** A list whose items are something, or nothing. */
function list<T>(field: string, value: readonly T[] | undefined): readonly T[] | undefined {
  if (value === undefined || value === null) return undefined; // Go's way to write an empty list
  if (!Array.isArray(value)) throw new MisshapenError(`${field} must be a list, not ${described(value)}`);
  if (value.includes(null)) throw new MisshapenError(`${field} must not hold null`);
  return value;
}

function described(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
