/**
 * What the Kubernetes API stores, under which path, how it is patched, and when two versions of it are the same. What the
 * objects mean is decided elsewhere.
 */

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
export const NAMESPACES: Resource = { ...core, plural: "namespaces", kind: "Namespace", namespaced: false };
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

interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "test";
  readonly path: string;
  readonly value?: unknown;
}

/** The three forms of a patch. Strategic merge patches are refused for custom resources. */
export type Patch =
  | { readonly merge: object }
  | { readonly strategic: object }
  | { readonly json: readonly JsonPatchOperation[] };

/** Only that incarnation, only that version; otherwise `conflict` and nothing changes. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/** What goes over the wire. Each form carries its preconditions as metadata, which the server compares. */
export function patchBody(
  patch: Patch,
  { uid, resourceVersion }: Preconditions,
): { contentType: string; body: unknown } {
  const pinned = Object.entries({ uid, resourceVersion }).filter(([, value]) => value !== undefined);
  if ("json" in patch) {
    const pins = pinned.map(([field, value]) => ({ op: "replace", path: `/metadata/${field}`, value }));
    return { contentType: "application/json-patch+json", body: [...pins, ...patch.json] };
  }
  const [strategy, change] = "merge" in patch ? ["merge", patch.merge] : ["strategic-merge", patch.strategic];
  const metadata = { ...(change as { metadata?: object }).metadata, ...Object.fromEntries(pinned) };
  return {
    contentType: `application/${strategy}-patch+json`,
    body: pinned.length === 0 ? change : { ...change, metadata },
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Are two pieces of JSON equal? The order of an object's fields does not matter; `undefined` counts as absent. */
export function sameJson(a: unknown, b: unknown, besides?: string): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  for (const field in a) if (field !== besides && !sameJson(a[field], b[field])) return false;
  for (const field in b) if (field !== besides && a[field] === undefined && b[field] !== undefined) return false;
  return true;
}

interface Versioned {
  readonly metadata: { readonly resourceVersion: string };
}

/** A write that touched only what a projection drops (heartbeats, managed fields) changes nothing for its readers. */
export function sameBesidesVersion(a: Versioned, b: Versioned): boolean {
  return sameJson(a.metadata, b.metadata, "resourceVersion") && sameJson(a, b, "metadata");
}
