/** What the Kubernetes API stores, and under which path. Names only; what the objects mean stands elsewhere. */

interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

/** Any stored object; its other fields are the caller's to know. */
export interface KubeObject {
  readonly metadata: ObjectMeta;
}

export interface Resource {
  /** `""` is the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Which object, or which collection when there is no name. */
export interface Place {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: "status" | undefined;
}

export function apiVersionOf(resource: Resource): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

export function resourcePath(resource: Resource, { namespace, name, subresource }: Place): string {
  const segments = [resource.group === "" ? "api" : "apis", apiVersionOf(resource)];
  if (resource.namespaced && namespace !== undefined) segments.push("namespaces", encodeURIComponent(namespace));
  segments.push(resource.plural);
  if (name !== undefined) segments.push(encodeURIComponent(name));
  if (subresource !== undefined) segments.push(subresource);
  return `/${segments.join("/")}`;
}

/** The key that caches and queues know an object by: `namespace/name`, or the name alone. */
export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function placeOfKey(key: string): { namespace?: string; name: string } {
  const slash = key.indexOf("/");
  return slash === -1 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

const core = { group: "", version: "v1", namespaced: true };

export const SERVICES: Resource = { ...core, plural: "services", kind: "Service" };
export const PODS: Resource = { ...core, plural: "pods", kind: "Pod" };
export const EVENTS: Resource = { ...core, plural: "events", kind: "Event" };
export const CONFIG_MAPS: Resource = { ...core, plural: "configmaps", kind: "ConfigMap" };
export const SECRETS: Resource = { ...core, plural: "secrets", kind: "Secret" };
export const NODES: Resource = { ...core, plural: "nodes", kind: "Node", namespaced: false };
export const ENDPOINT_SLICES: Resource = {
  group: "discovery.k8s.io",
  version: "v1",
  plural: "endpointslices",
  kind: "EndpointSlice",
  namespaced: true,
};
export const LEASES: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};
