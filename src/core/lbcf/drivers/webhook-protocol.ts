/**
 * LBCF's webhooks on the wire: what is sent (what an answer means stands in `webhook-answers.ts`). Empty maps travel as
 * `null`, as drivers know it.
 * Fields that LBCF documents and forgets to fill (`lbInfo` when a load balancer is ensured, `parameters` when an address
 * is asked for) are filled here: a driver that does not expect them does not notice.
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

/** `undefined` and empty are `null` on the wire. */
function map(value: StringMap | undefined): StringMap | null {
  return value === undefined || Object.keys(value).length === 0 ? null : value;
}

/** `recordID` stays the same over all retries, `retryID` never does. */
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

/** The old parameters go in both spellings: LBCF's code sends one, its documents show the other. */
export function validateBackendRequest({ backendType, lbInfo, operation, parameters, oldParameters }: BackendQuestion) {
  const old = Object.keys(oldParameters).length === 0 ? {} : { OldParameters: oldParameters, oldParameters };
  return { backendType, lbInfo: map(lbInfo), operation, parameters: map(parameters), ...old, dryRun: false };
}

/** The object behind the backend, as the API server has it. */
export type BackendSubject =
  | { readonly kind: "Pod"; readonly pod: object }
  | { readonly kind: "Service"; readonly service: object; readonly nodeAddresses: readonly object[] };

export function generateBackendAddrRequest(
  { metadata, spec }: BackendRecord,
  subject: BackendSubject,
  retryID: string,
) {
  const { lbInfo, lbAttributes, parameters, backend } = spec;
  const common = {
    ...retryable("generateBackendAddr", metadata.uid, retryID),
    lbInfo: map(lbInfo),
    lbAttributes: map(lbAttributes),
    parameters: map(parameters),
  };
  const port = backend.kind === "Static" ? undefined : portOnWire(backend.port);
  if (subject.kind === "Pod") return { ...common, podBackend: { pod: subject.pod, port } };
  const nodeName = backend.kind === "Service" ? backend.nodeName : undefined;
  const { service, nodeAddresses } = subject;
  return { ...common, serviceBackend: { service, port, nodeName, nodeAddresses } };
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
