/**
 * Everything that a history leaves behind, in Azure and in Kubernetes, without what differs from run to run by chance:
 * two histories ended alike if these are equal. What a user asked for and got, addresses included, is all in it.
 */
import { baseName } from "../../src/core/model/names.ts";
import { DEFINITIONS_PATH, type AzureResource, type CrashBed, type KubeObject } from "./crash-bed.ts";

export interface EndState {
  readonly azure: Readonly<Record<string, unknown>>;
  readonly services: Readonly<Record<string, unknown>>;
  readonly memberLists: Readonly<Record<string, unknown>>;
  readonly taints: Readonly<Record<string, unknown>>;
  readonly pods: Readonly<Record<string, unknown>>;
  /** LBCF's objects, by kind and name. */
  readonly backends: Readonly<Record<string, LbcfState>>;
}

interface LbcfState {
  readonly isDeleting: boolean;
  /** Type → status and reason. */
  readonly conditions: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const NAMESPACE = "/api/v1/namespaces/default";
const LBCF = "/apis/lbcf.tkestack.io";
const LBCF_KINDS = ["v1beta1/loadbalancers", "v1beta1/backendgroups", "v1beta1/backendrecords", "v1/binds"];
/** Digests that depend on the uid: that they are there counts. */
const DIGESTS = /("azlb\.io\/applied":)"[^"]*"/g;
const POOL_TYPE = "loadBalancerBackendPoolConfigurationType";
const TIMES = /("lastTransitionTime":)"[^"]*"/g;

export async function endState(bed: CrashBed): Promise<EndState> {
  const services = bed.objects(`${NAMESPACE}/services`);
  const pods = bed.objects(`${NAMESPACE}/pods`);
  const lbcf = lbcfObjects(bed);
  const resources = await bed.resources();
  const state: EndState = {
    azure: byName(resources, ({ id }) => id, lasting),
    services: byName(services, nameOf, wanted),
    memberLists: byName(bed.objects("/api/v1/namespaces/kube-system/configmaps"), nameOf, (list) =>
      membersThatStand(list, resources, bed.cloudConfig()[POOL_TYPE] === "nodeIP"),
    ),
    taints: byName(bed.objects("/api/v1/nodes"), nameOf, ({ spec }) => (spec as { taints?: unknown }).taints ?? []),
    pods: byName(pods, nameOf, podState),
    backends: byName(lbcf, lbcfName, lbcfState),
  };
  return JSON.parse(withoutUids(JSON.stringify(state), services, [...pods, ...lbcf])) as EndState;
}

/** What is still being made, registered or taken out. A group may well be left without its load balancer. */
export function unsettled({ backends }: EndState): readonly string[] {
  return Object.entries(backends)
    .filter(([name, { isDeleting, conditions }]) => {
      const isMissing = Object.values(conditions).some((condition) => condition.startsWith("False"));
      return isDeleting || (isMissing && !name.startsWith("BackendGroup/"));
    })
    .map(([name]) => name);
}

function byName<Item, Value>(items: readonly Item[], name: (item: Item) => string, value: (item: Item) => Value) {
  return Object.fromEntries(items.map((item) => [name(item), value(item)]));
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name;
}

function lasting({ state, body, assigned }: AzureResource): unknown {
  return { state, body: inOrder(body), assigned };
}

/** Who was registered first is chance: what has names is put in their order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder).sort((one, other) => (nameIn(one) < nameIn(other) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, inOrder(part)]));
}

function nameIn(value: unknown): string {
  return typeof value === "object" && value !== null && "name" in value ? String(value.name) : JSON.stringify(value);
}

/**
 * A list may name a node too many after a kill just between the pool's write and its own, until the pool is written
 * again: that is its contract. A name too few is none of it. Which machines are in a pool of network interfaces the load
 * balancer does not say: there, the list is compared as it is.
 */
function membersThatStand({ data }: KubeObject, resources: readonly AzureResource[], hasAddresses: boolean): unknown {
  const { loadBalancer = "", members = "" } = (data ?? {}) as Record<string, string>;
  const found = resources.find(({ id }) => id.toLowerCase() === loadBalancer.toLowerCase());
  const { backendAddressPools = [] } = (found?.body as LoadBalancer | undefined)?.properties ?? {};
  const entries = backendAddressPools.flatMap(({ properties }) => properties.loadBalancerBackendAddresses ?? []);
  if (!hasAddresses || backendAddressPools.length === 0) return { loadBalancer, members };
  const standing = members.split("\n").filter((member) => entries.some(({ name }) => name === member));
  return { loadBalancer, members: standing.join("\n") };
}

interface LoadBalancer {
  readonly properties?: Properties;
}

interface Properties {
  readonly backendAddressPools?: readonly {
    readonly properties: { readonly loadBalancerBackendAddresses?: readonly { readonly name: string }[] };
  }[];
}

function wanted({ metadata, spec, status }: KubeObject): unknown {
  const { annotations, labels, finalizers, deletionTimestamp } = metadata;
  const { clusterIP: _one, clusterIPs: _all, ...rest } = spec as Record<string, unknown>;
  return { annotations, labels, finalizers, isDeleting: deletionTimestamp !== undefined, spec: rest, status };
}

function podState({ metadata, status }: KubeObject): unknown {
  const { podIP, conditions } = status as { podIP?: string; conditions?: readonly Condition[] };
  return { podIP, conditions: conditionsOf(conditions), isDeleting: metadata["deletionTimestamp"] !== undefined };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

function lbcfObjects(bed: CrashBed): readonly KubeObject[] {
  if (bed.objects(DEFINITIONS_PATH).length === 0) return [];
  return LBCF_KINDS.flatMap((kind) => {
    const [version, plural] = kind.split("/");
    return bed.objects(`${LBCF}/${version}/namespaces/default/${plural}`);
  });
}

/** A record's own name is made of the pod's uid. */
function lbcfName({ kind, metadata, spec }: KubeObject): string {
  if (kind !== "BackendRecord") return `${String(kind)}/${metadata.name}`;
  const { lbName, podBackend, serviceBackend } = spec as Record<string, unknown>;
  return `${kind}/${String(lbName)}/${JSON.stringify(podBackend ?? serviceBackend)}`;
}

function lbcfState({ metadata, spec, status = {} }: KubeObject): LbcfState {
  const { finalizers, labels, deletionTimestamp } = metadata;
  const { conditions, observedGeneration: _, ...rest } = status as Record<string, unknown>;
  return {
    finalizers,
    labels,
    isDeleting: deletionTimestamp !== undefined,
    spec,
    status: rest,
    conditions: conditionsOf(conditions as readonly Condition[] | undefined),
  };
}

function conditionsOf(conditions: readonly Condition[] = []): Record<string, string> {
  return byName(
    conditions,
    ({ type }) => type,
    ({ status, reason = "" }) => `${status} ${reason}`,
  );
}

function withoutUids(text: string, services: readonly KubeObject[], others: readonly KubeObject[]): string {
  let plain = text.replaceAll(DIGESTS, '$1"…"').replaceAll(TIMES, '$1"…"');
  for (const { metadata } of services) {
    plain = plain.replaceAll(baseName(metadata.uid), `<${metadata.name}>`).replaceAll(metadata.uid, metadata.name);
  }
  for (const { metadata } of others) plain = plain.replaceAll(metadata.uid, metadata.name);
  return plain;
}
