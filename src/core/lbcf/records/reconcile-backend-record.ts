/**
 * The next step for a record. All progress is in the stored object, so a crash between two steps loses nothing:
 *
 *   stored                                                   | next step
 *   ---------------------------------------------------------|---------------------------------------------------
 *   live, no address, without the finalizer                  | add it
 *   live, no address; backend present                        | ask the driver for an address, store it
 *   live, address generated from an outdated source          | deregister that address, then clear it
 *   live, address stored, not registered (for this spec)     | ensure
 *   live, registered; Always, and the period is over         | ensure
 *   live, registered                                         | nothing
 *   deleting, no address, or annotated to be forgotten       | remove the finalizer
 *   deleting, address; another live record has it registered | remove the finalizer: that record owns the entry now
 *   deleting, address; its pod is terminating                | drain, until its grace period is over
 *   deleting, address                                        | deregister, then remove the finalizer
 *
 * Two records with the same address are serialized: one that is not registered yet waits until the one being
 * deregistered is gone. Both rules use stored objects only, so they hold across restarts.
 *
 * A record with an address has had the finalizer, so one without it was let go by a user, as LBCF's manual says: its
 * backend stays in the load balancer when the record is deleted.
 *
 * @design BackendRecord
 */
import { canonicalAddress } from "../../util/cidr.ts";
import type { BackendState } from "./backend-state.ts";
import { findCondition, isTrue } from "../objects/conditions.ts";
import { ANNOTATION, AZURE_DRIVER, FINALIZER, isSystemName } from "../objects/names.ts";
import type { BackendRecord } from "../objects/objects.ts";

export interface ObservedRecord {
  readonly record: BackendRecord;
  readonly backend: BackendState;
  /** `canDrain`: the driver can stop new connections without cutting existing ones. */
  readonly driver: { readonly kind: "found"; readonly canDrain: boolean } | { readonly kind: "missing" };
  /** Other records with the same address in the same load balancer. */
  readonly others: readonly BackendRecord[];
  /** Its LoadBalancer or Bind has the annotation `lbcf.tkestack.io/forget`. */
  readonly isForgotten: boolean;
  /** How long ago this process last ensured it, by a clock that never jumps; `undefined` when it has not yet. */
  readonly sinceEnsuredMs: number | undefined;
  readonly nowMs: number;
}

export type RecordStep =
  | { readonly kind: "addFinalizer" }
  | { readonly kind: "generateAddress"; readonly source: string }
  | { readonly kind: "ensure" }
  | { readonly kind: "drain"; readonly untilMs: number }
  /** `thenRelease`: remove the finalizer afterwards; otherwise only the address is cleared. */
  | { readonly kind: "deregister"; readonly thenRelease: boolean }
  | { readonly kind: "forgetAddress" }
  | { readonly kind: "removeFinalizer"; readonly why: "neverRegistered" | "claimed" | "forgotten" };

export type RecordDecision =
  | { readonly kind: "settled"; readonly againAfterMs?: number }
  /** Something outside must change first; `reason` and `message` become a condition. */
  | { readonly kind: "wait"; readonly reason: WaitReason; readonly message: string; readonly againAfterMs?: number }
  | { readonly kind: "step"; readonly step: RecordStep };

type WaitReason = "BackendNotReady" | "DriverNotFound" | "DelayedEnsureBackend";

const DELAYED_AGAIN_MS = 10_000;

export function reconcileBackendRecord(observed: ObservedRecord): RecordDecision {
  const hasFinalizer = observed.record.metadata.finalizers?.includes(FINALIZER.record) ?? false;
  if (observed.record.metadata.deletionTimestamp !== undefined)
    return hasFinalizer ? reconcileDeleted(observed) : { kind: "settled" };
  const mustAdd = !hasFinalizer && observed.record.status.backendAddr === "";
  return mustAdd ? step({ kind: "addFinalizer" }) : reconcileLive(observed);
}

function reconcileDeleted(observed: ObservedRecord): RecordDecision {
  const { record, backend, driver, others, nowMs } = observed;
  if (observed.isForgotten || record.metadata.annotations?.[ANNOTATION.forget] === "true") {
    return step({ kind: "removeFinalizer", why: "forgotten" });
  }
  if (record.status.backendAddr === "") return step({ kind: "removeFinalizer", why: "neverRegistered" });
  if (others.some((other) => isLive(other) && isRegistered(other))) {
    return step({ kind: "removeFinalizer", why: "claimed" });
  }
  if (driver.kind === "missing") return driverMissing(record);
  if (backend.kind === "ending" && driver.canDrain && nowMs < backend.untilMs) {
    return step({ kind: "drain", untilMs: backend.untilMs });
  }
  return step({ kind: "deregister", thenRelease: true });
}

function reconcileLive(observed: ObservedRecord): RecordDecision {
  const { record, backend, driver, others } = observed;
  const { backendAddr, generatedFrom } = record.status;
  if (driver.kind === "missing") return driverMissing(record);
  if (backendAddr === "") {
    return backend.kind === "present" ? step({ kind: "generateAddress", source: backend.source }) : notReady();
  }
  const source = "source" in backend ? backend.source : undefined;
  if (source !== undefined && generatedFrom !== undefined && generatedFrom !== source) {
    const isClaimed = others.some((other) => isLive(other) && isRegistered(other));
    return step(isClaimed ? { kind: "forgetAddress" } : { kind: "deregister", thenRelease: false });
  }
  if (isRegistered(record)) return reconcileRegistered(observed);
  if (backend.kind !== "present") return notReady();
  if (others.some(isBeingDeregistered)) return delayed(backendAddr);
  return step({ kind: "ensure" });
}

/** For a record that is registered. */
function reconcileRegistered({ record, sinceEnsuredMs }: ObservedRecord): RecordDecision {
  const { ensurePolicy } = record.spec;
  if (!isUpToDate(record)) return step({ kind: "ensure" });
  if (ensurePolicy.policy !== "Always") return { kind: "settled" };
  const leftMs = sinceEnsuredMs === undefined ? 0 : ensurePolicy.periodMs - sinceEnsuredMs;
  return leftMs <= 0 ? step({ kind: "ensure" }) : { kind: "settled", againAfterMs: leftMs };
}

/** The driver has confirmed the current address once; a later failure does not revoke that. */
export function isRegistered({ status }: BackendRecord): boolean {
  if (status.backendAddr === "") return false;
  // records of an older LBCF have the condition only
  return status.registeredAddr === undefined
    ? isTrue(status.conditions, "Registered")
    : status.registeredAddr === status.backendAddr;
}

/** The last success was for the current spec. */
function isUpToDate({ metadata, status }: BackendRecord): boolean {
  const condition = findCondition(status.conditions, "Registered");
  if (condition?.status !== "True") return false;
  return condition.observedGeneration === undefined || condition.observedGeneration >= metadata.generation;
}

/** Only until the controller's finalizer is gone: a finalizer of another client keeps no address. */
function isBeingDeregistered(record: BackendRecord): boolean {
  return !isLive(record) && (record.metadata.finalizers?.includes(FINALIZER.record) ?? false);
}

export function isLive({ metadata }: BackendRecord): boolean {
  return metadata.deletionTimestamp === undefined;
}

/**
 * Equal for records of the same address in the same load balancer; `undefined` while there is no address. Only a driver
 * knows what identifies its load balancers, so the key holds all of lbInfo; for `lbcf-azure` it holds the pool.
 */
export function addressKey({
  metadata,
  spec: { lbDriver, lbInfo },
  status: { backendAddr },
}: BackendRecord): string | undefined {
  if (backendAddr === "") return undefined;
  if (lbDriver === AZURE_DRIVER) {
    return JSON.stringify([lbDriver, lbInfo["pool"]?.toLowerCase() ?? "", canonicalAddress(backendAddr)]);
  }
  const scope = isSystemName(lbDriver) ? "" : metadata.namespace;
  const info = Object.entries(lbInfo).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([scope, lbDriver, info, backendAddr]);
}

function step(next: RecordStep): RecordDecision {
  return { kind: "step", step: next };
}

function notReady(): RecordDecision {
  return { kind: "wait", reason: "BackendNotReady", message: "its pod or node is not ready, or has no address" };
}

function driverMissing({ spec: { lbDriver } }: BackendRecord): RecordDecision {
  const message = `driver "${lbDriver}" does not exist: create it, or let go of the record with annotation ${ANNOTATION.forget}: "true"`;
  return { kind: "wait", reason: "DriverNotFound", message };
}

function delayed(address: string): RecordDecision {
  const message = `another record with address ${address} is being deregistered first`;
  return { kind: "wait", reason: "DelayedEnsureBackend", message, againAfterMs: DELAYED_AGAIN_MS };
}
