/**
 * The requests of LBCF's webhooks; `webhook-answers.ts` parses the answers. Empty maps are sent as `null`, as LBCF does.
 * Fields that LBCF documents but never fills (`lbInfo` in ensureLoadBalancer, `parameters` in generateBackendAddr) are
 * filled: drivers that do not expect them ignore them.
 */
import type { BackendRecord, LoadBalancer, StringMap } from "../objects/objects.ts";
import { portOnWire } from "../records/record-spec.ts";

export const HOOKS = [
  "validateLoadBalancer",
  "createLoadBalancer",
  "ensureLoadBalancer",
  "deleteLoadBalancer",
  "validateBackend",
  "generateBackendAddr",
  "ensureBackend",
  "deregisterBackend",
  "judgePodDeregister",
  "healthz",
] as const;
export type Hook = (typeof HOOKS)[number];

export const DEFAULT_TIMEOUT_MS = 10_000;

/** Absent and empty maps are `null` on the wire. */
function map(value: StringMap | undefined): StringMap | null {
  return value === undefined || Object.keys(value).length === 0 ? null : value;
}

/** `recordID` is the same for all retries of one operation, `retryID` differs for each call. */
function retryable(hook: Hook, uid: string, retryID: string) {
  return { recordID: `${hook}(${uid})`, retryID, dryRun: false };
}

export function validateLoadBalancerRequest(
  { spec }: Pick<LoadBalancer, "spec">,
  operation: "Create" | "Update",
  oldAttributes: StringMap,
) {
  const old = Object.keys(oldAttributes).length === 0 ? {} : { oldAttributes };
  return { lbSpec: map(spec.lbSpec), operation, attributes: map(spec.attributes), ...old, dryRun: false };
}

export function createLoadBalancerRequest({ metadata, spec }: LoadBalancer, retryID: string) {
  const ids = retryable("createLoadBalancer", metadata.uid, retryID);
  return { ...ids, lbSpec: map(spec.lbSpec), attributes: map(spec.attributes) };
}

export function loadBalancerRequest(
  hook: "ensureLoadBalancer" | "deleteLoadBalancer",
  { metadata, spec, status }: LoadBalancer,
  retryID: string,
) {
  const lbInfo = map(status.lbInfo ?? spec.lbSpec);
  return { ...retryable(hook, metadata.uid, retryID), lbInfo, attributes: map(spec.attributes) };
}

export interface BackendQuestion {
  readonly backendType: "Pod" | "Service" | "Static";
  readonly lbInfo: StringMap;
  readonly operation: "Create" | "Update";
  readonly parameters: StringMap;
  readonly oldParameters: StringMap;
}

/** The old parameters are sent in both spellings: LBCF's code uses one, its documents the other. */
export function validateBackendRequest({ backendType, lbInfo, operation, parameters, oldParameters }: BackendQuestion) {
  const old = Object.keys(oldParameters).length === 0 ? {} : { OldParameters: oldParameters, oldParameters };
  return { backendType, lbInfo: map(lbInfo), operation, parameters: map(parameters), ...old, dryRun: false };
}

/** The objects of a backend, as the API server returns them. */
export type BackendObject =
  | { readonly kind: "Pod"; readonly pod: object }
  | { readonly kind: "Service"; readonly service: object; readonly nodeAddresses: readonly object[] };

/** LBCF sends `null` for the kind of backend that it is not. */
export function generateBackendAddrRequest({ metadata, spec }: BackendRecord, object: BackendObject, retryID: string) {
  const { lbInfo, lbAttributes, parameters, backend } = spec;
  const common = {
    ...retryable("generateBackendAddr", metadata.uid, retryID),
    lbInfo: map(lbInfo),
    lbAttributes: map(lbAttributes),
    parameters: map(parameters),
  };
  const port = backend.kind === "Static" ? undefined : portOnWire(backend.port);
  if (object.kind === "Pod") return { ...common, podBackend: { pod: object.pod, port }, serviceBackend: null };
  const nodeName = backend.kind === "Service" ? backend.nodeName : undefined;
  const { service, nodeAddresses } = object;
  return { ...common, podBackend: null, serviceBackend: { service, port, nodeName, nodeAddresses } };
}

export function backendRequest(
  hook: "ensureBackend" | "deregisterBackend",
  { metadata, spec, status }: BackendRecord,
  retryID: string,
) {
  return {
    ...retryable(hook, metadata.uid, retryID),
    lbInfo: map(spec.lbInfo),
    backendAddr: status.backendAddr,
    parameters: map(spec.parameters),
    injectedInfo: map(status.injectedInfo),
  };
}

export function judgePodDeregisterRequest(notReadyPods: readonly object[]) {
  return { notReadyPods, dryRun: false };
}
