/**
 * LBCF's objects as decisions use them. The readers (`read-common.ts` and one per kind) make them from what the API
 * server sends: defaults filled in, deprecated spellings translated, so that each setting has one representation.
 */
import type { ObjectMeta } from "../../model/kubernetes.ts";

/** Opaque to the controller: the driver defines the keys. */
export type StringMap = Readonly<Record<string, string>>;

export interface OwnerReference {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** All of LBCF's kinds are namespaced custom resources, so they have a generation. */
export interface Meta extends ObjectMeta {
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** The controlling owner reference. */
  readonly owner?: OwnerReference;
}

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

export type EnsurePolicy =
  /** Not again after a success, until the spec changes. */
  { readonly policy: "IfNotSucc" } | { readonly policy: "Always"; readonly periodMs: number };

export interface Port {
  readonly port: number;
  readonly protocol: "TCP" | "UDP";
  /** Of the protocol, as the user wrote it, where that differs: part of the names of a Bind's records. */
  readonly spelling?: string;
}

export interface Driver {
  readonly metadata: Meta;
  readonly spec: {
    readonly url: string;
    /** PEM in base64. */
    readonly caBundle?: string;
    readonly timeoutsMs: Readonly<Record<string, number>>;
  };
  readonly status: { readonly conditions: readonly Condition[] };
}

export interface LoadBalancer {
  readonly metadata: Meta;
  readonly spec: {
    readonly lbDriver: string;
    readonly lbSpec: StringMap;
    readonly attributes: StringMap;
    readonly scope: readonly string[];
    readonly ensurePolicy: EnsurePolicy;
  };
  readonly status: LoadBalancerStatus;
}

export interface LoadBalancerStatus {
  readonly lbInfo?: StringMap;
  readonly lastSyncedAttributes?: StringMap;
  readonly conditions: readonly Condition[];
}

export type PodSelection =
  | { readonly labels: StringMap; readonly except: readonly string[] }
  | { readonly names: readonly string[] };

export type Backends =
  | { readonly kind: "Pod"; readonly ports: readonly Port[]; readonly select: PodSelection }
  | { readonly kind: "Service"; readonly service: string; readonly port: Port; readonly nodeSelector: StringMap }
  | { readonly kind: "Static"; readonly addresses: readonly string[] };

export type KeepPolicy = "IfNotReady" | "IfNotRunning";

export type DeregisterPolicy =
  | { readonly policy: KeepPolicy }
  | { readonly policy: "Webhook"; readonly driver: string; readonly onFailure: KeepPolicy | "DoNothing" };

/** A BackendGroup, or the part of a Bind that describes its pods. */
export interface BackendGroup {
  readonly kind: "BackendGroup" | "Bind";
  readonly metadata: Meta;
  readonly spec: {
    readonly loadBalancers: readonly string[];
    readonly backends: Backends;
    readonly parameters: StringMap;
    readonly deregister: DeregisterPolicy;
    readonly ensurePolicy: EnsurePolicy;
  };
  readonly status: GroupStatus;
}

/** Whether the driver of one load balancer accepted the group. `parameters`: the `parametersKey` that it accepted. */
export interface Acceptance {
  readonly name: string;
  readonly accepted: boolean;
  readonly parameters?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface GroupStatus {
  readonly observedGeneration?: number;
  readonly backends: number;
  readonly registeredBackends: number;
  readonly loadBalancers: readonly Acceptance[];
  readonly conditions: readonly Condition[];
}

export type RecordedBackend =
  /** `uid` is absent on records that an older LBCF created. */
  | { readonly kind: "Pod"; readonly name: string; readonly uid?: string; readonly port: Port }
  | {
      readonly kind: "Service";
      readonly name: string;
      readonly port: Port;
      readonly nodePort: number;
      readonly nodeName: string;
    }
  | { readonly kind: "Static"; readonly address: string };

export interface RecordSpec {
  readonly lbName: string;
  readonly lbDriver: string;
  readonly lbInfo: StringMap;
  readonly lbAttributes: StringMap;
  readonly parameters: StringMap;
  readonly ensurePolicy: EnsurePolicy;
  readonly backend: RecordedBackend;
}

export interface RecordStatus {
  /** Empty while the driver has generated none: nothing is registered. */
  readonly backendAddr: string;
  /** What the address was generated from; absent on records that an older LBCF created. */
  readonly generatedFrom?: string;
  /** The address that the driver last confirmed as registered. */
  readonly registeredAddr?: string;
  readonly injectedInfo: StringMap;
  readonly conditions: readonly Condition[];
}

export interface BackendRecord {
  readonly metadata: Meta;
  readonly spec: RecordSpec;
  readonly status: RecordStatus;
}

export interface BindLoadBalancer {
  readonly name: string;
  readonly driver: string;
  readonly spec: StringMap;
  readonly attributes: StringMap;
}

export interface BindLoadBalancerStatus extends LoadBalancerStatus {
  readonly name: string;
  readonly driver: string;
  /** The lbSpec that it was created from, kept for when it is removed from the Bind's spec. */
  readonly spec?: StringMap;
  readonly deletionTimestamp?: string;
}

export interface Bind {
  readonly metadata: Meta;
  readonly spec: { readonly loadBalancers: readonly BindLoadBalancer[] };
  /** Its pods, as a group of backends. */
  readonly group: BackendGroup;
  readonly status: {
    readonly loadBalancerStatuses: readonly BindLoadBalancerStatus[];
    readonly conditions: readonly Condition[];
  };
}

export interface Pod {
  readonly metadata: ObjectMeta & { readonly namespace: string; readonly resourceVersion: string };
  readonly nodeName?: string;
  readonly ip?: string;
  readonly phase: string;
  readonly ready: boolean;
  readonly containersReady: boolean;
  /** Present when the pod has the readiness gate `lbcf.tkestack.io/registered`. */
  readonly gate?: "True" | "False";
}
