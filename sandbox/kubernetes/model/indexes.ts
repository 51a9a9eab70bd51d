/** Indexes over the stored objects. They derive from the objects and can be rebuilt. */
import type { KubeObject } from "./contract.ts";
import { asArray, asObject, asString, scalarText } from "./json.ts";

/** Identifies a stored object. */
export interface ObjectRef {
  readonly collection: string;
  readonly key: string;
}

export interface Indexes {
  readonly byUid: Map<string, ObjectRef>;
  /** Owner's uid → its dependents by their uid. */
  readonly dependents: Map<string, Map<string, ObjectRef>>;
  /** Cluster IPs and node ports in use → the uid of the Service that has them. */
  readonly clusterIPs: Map<string, string>;
  readonly nodePorts: Map<string, string>;
}

export function newIndexes(): Indexes {
  return { byUid: new Map(), dependents: new Map(), clusterIPs: new Map(), nodePorts: new Map() };
}

export function indexObject(
  indexes: Indexes,
  collection: string,
  before: KubeObject | undefined,
  after: KubeObject | undefined,
): void {
  if (before !== undefined) unindex(indexes, collection, before);
  if (after !== undefined) index(indexes, collection, after);
}

function refOf(collection: string, object: KubeObject): ObjectRef {
  const { namespace, name = "" } = object.metadata;
  return { collection, key: namespace === undefined ? name : `${namespace}/${name}` };
}

function index(indexes: Indexes, collection: string, object: KubeObject): void {
  const uid = object.metadata.uid ?? "";
  const ref = refOf(collection, object);
  indexes.byUid.set(uid, ref);
  for (const owner of object.metadata.ownerReferences ?? []) {
    let dependents = indexes.dependents.get(owner.uid);
    if (dependents === undefined) indexes.dependents.set(owner.uid, (dependents = new Map()));
    dependents.set(uid, ref);
  }
  if (collection !== "services") return;
  for (const ip of clusterIPsOf(object)) indexes.clusterIPs.set(ip, uid);
  for (const port of nodePortsOf(object)) indexes.nodePorts.set(port, uid);
}

function unindex(indexes: Indexes, collection: string, object: KubeObject): void {
  const uid = object.metadata.uid ?? "";
  indexes.byUid.delete(uid);
  for (const owner of object.metadata.ownerReferences ?? []) {
    const dependents = indexes.dependents.get(owner.uid);
    dependents?.delete(uid);
    if (dependents?.size === 0) indexes.dependents.delete(owner.uid);
  }
  if (collection !== "services") return;
  for (const ip of clusterIPsOf(object)) indexes.clusterIPs.delete(ip);
  for (const port of nodePortsOf(object)) indexes.nodePorts.delete(port);
}

function clusterIPsOf(service: KubeObject): string[] {
  return asArray(asObject(service["spec"])["clusterIPs"])
    .map(asString)
    .filter((ip) => ip !== "" && ip !== "None");
}

/** `31000/TCP`; the health-check port is reserved for every protocol. */
function nodePortsOf(service: KubeObject): string[] {
  const spec = asObject(service["spec"]);
  const ports = asArray(spec["ports"]).map(asObject);
  const taken = ports.filter((port) => port["nodePort"] !== undefined);
  const health = spec["healthCheckNodePort"];
  return [
    ...taken.map((port) => `${scalarText(port["nodePort"])}/${scalarText(port["protocol"])}`),
    ...(health === undefined ? [] : [`${scalarText(health)}/TCP`]),
  ];
}
