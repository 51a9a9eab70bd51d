/**
 * Kubernetes objects, reduced to the fields that decisions read. The caches keep only these; writes are patches, so no
 * other field is ever written back.
 */

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

export type Protocol = "TCP" | "UDP" | "SCTP";

export interface ServicePort {
  readonly name?: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly nodePort?: number;
  readonly targetPort?: number | string;
  readonly appProtocol?: string;
}

export interface Ingress {
  readonly ip?: string;
  readonly hostname?: string;
  readonly ipMode?: string;
}

export interface Service {
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly type: string;
    readonly ports: readonly ServicePort[];
    readonly loadBalancerClass?: string;
    readonly loadBalancerIP?: string;
    readonly loadBalancerSourceRanges?: readonly string[];
    readonly externalTrafficPolicy?: "Cluster" | "Local";
    readonly healthCheckNodePort?: number;
    readonly sessionAffinity?: "None" | "ClientIP";
    readonly ipFamilies?: readonly ("IPv4" | "IPv6")[];
    readonly allocateLoadBalancerNodePorts?: boolean;
  };
  readonly status: { readonly loadBalancer: { readonly ingress?: readonly Ingress[] } };
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface Node {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly providerID?: string; readonly taints?: readonly Taint[]; readonly unschedulable?: boolean };
  readonly status: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
  /** Has a taint of the config's `loadBalancerAdminStateTaints`; not of the API. */
  readonly hasConfiguredTaint?: boolean;
}

/** Labels of namespaces, by name. */
export type NamespaceLabels = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** As much of an EndpointSlice as pools depend on. */
export interface EndpointSlice {
  /** `namespace/name` of its Service. */
  readonly service: string;
  readonly addressType: string;
  /** Nodes with an endpoint that serves; each once, sorted. */
  readonly nodeNames: readonly string[];
}

/** `namespace/name`, as Services are named in tags, map keys and messages. */
export function serviceKey(object: { readonly metadata: ObjectMeta }): string {
  return `${object.metadata.namespace ?? "default"}/${object.metadata.name}`;
}

/** Of a key that `serviceKey` made. */
export function namespaceOfKey(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

/** Sorts by creation; equal ones by UID, so that of two objects exactly one is the older. */
export function ageOf({ metadata }: { readonly metadata: ObjectMeta }): string {
  return `${metadata.creationTimestamp ?? ""} ${metadata.uid}`;
}
