/**
 * Azure's codes that mean something else than their status says, or come without one (as the end of an operation).
 * A code that is not here is judged by the status; in an operation, as a refusal.
 */
import type { FailureKind } from "../../core/retry.ts";

const KINDS: Readonly<Partial<Record<FailureKind, readonly string[]>>> = {
  notFound: [
    "ResourceNotFound",
    "NotFound",
    "ParentResourceNotFound",
    "ResourceGroupNotFound",
    "SubscriptionNotFound",
    "InvalidSubscriptionId",
  ],
  conflict: ["PreconditionFailed", "PreconditionFailedEtagMismatch"],
  superseded: ["CanceledAndSupersededDueToAnotherOperation", "OperationPreempted"],
  busy: [
    "RetryableError",
    "RetryableErrorDueToAnotherOperation",
    "AnotherOperationInProgress",
    "ConcurrentOperation",
    "Canceled",
    "Cancelled",
  ],
  notProvisioned: ["ReferencedResourceNotProvisioned", "ParentResourceIsInFailedState"],
  throttled: ["SubscriptionRequestsThrottled", "TooManyRequests", "TooManyRequestsReceived"],
  quota: ["QuotaExceeded"],
  invalid: ["InvalidResourceLocation", "MissingSubscriptionRegistration", "InvalidResourceReference"],
  locked: ["ScopeLocked", "ResourceGroupBeingDeleted"],
  denied: ["AuthorizationFailed", "LinkedAuthorizationFailed", "RequestDisallowedByPolicy"],
  unauthenticated: ["AuthenticationFailed", "InvalidAuthenticationToken", "ExpiredAuthenticationToken"],
  transient: [
    "GatewayError",
    "GatewayTimeout",
    "InternalError",
    "InternalServerError",
    "NetworkingInternalOperationError",
    "OperationTimedOut",
    "ServerTimeout",
    "ServiceUnavailable",
  ],
  inUse: ["PublicIPAddressCannotBeDeleted"],
};

const KIND_OF_CODE: ReadonlyMap<string, FailureKind> = new Map(
  Object.entries(KINDS).flatMap(([kind, codes]) => codes.map((code) => [code.toLowerCase(), kind as FailureKind])),
);

/** Families of codes: Azure names a new limit or a new holder by the same pattern. */
const PATTERNS: readonly (readonly [RegExp, FailureKind])[] = [
  [/LimitReached(For\w+)?$|LimitExceeded$/i, "quota"],
  [/^InUse\w+CannotBeDeleted$|InUseByVirtualMachineScaleSet$|^NotAllowedToDelete\w+InUse/i, "inUse"],
];

/** Undefined where the status should decide. */
export function kindOfCode(code: string, status: number | undefined): FailureKind | undefined {
  const kind = KIND_OF_CODE.get(code.toLowerCase()) ?? PATTERNS.find(([pattern]) => pattern.test(code))?.[1];
  // "not found" inside another refusal is about something that the body names
  return kind === "notFound" && status !== undefined && status !== 404 ? undefined : kind;
}
