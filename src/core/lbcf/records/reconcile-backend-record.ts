/**
 * One look at a record, one step. The stored object says where we are, so any crash between two steps loses nothing:
 *
 *   stored                                                   | next step
 *   ---------------------------------------------------------|---------------------------------------------------
 *   live, without our finalizer                              | add it
 *   live, no address; backend there                          | ask the driver for an address, store it
 *   live, address made from what the backend no longer has   | deregister that address, then forget it
 *   live, address stored, not registered (for this spec)     | ensure
 *   live, registered; Always, and the period is over         | ensure
 *   live, registered                                         | nothing
 *   deleting, no address, or let go by hand                  | take the finalizer away
 *   deleting, address; another live record has it registered | take the finalizer away: that one answers for it now
 *   deleting, address; its pod still ends                    | drain, until its grace is over
 *   deleting, address                                        | deregister, then take the finalizer away
 *
 * Two records with one address take turns: one that is not registered yet waits until one that is being deregistered
 * is gone. Both rules look at stored objects only, so they hold across restarts.
 *
 * @design BackendRecord
 */
import { canonicalAddress } from "../../util/cidr.ts";
import type { BackendState } from "./backend-state.ts";
import { findCondition, isTrue } from "../objects/conditions.ts";
import { ANNOTATION, AZURE_DRIVER, FINALIZER, isSystemName } from "../objects/names.ts";
import type { BackendRecord } from "../objects/objects.ts";

export interface RecordWorld {
  readonly record: BackendRecord;
  readonly backend: BackendState;
  /** `canDrain`: knows how to keep new connections away without cutting old ones. */
  readonly driver: { readonly kind: "found"; readonly canDrain: boolean } | { readonly kind: "missing" };
  /** The others that name the same address in the same load balancer. */
  readonly others: readonly BackendRecord[];
  /** Somebody has let go of its load balancer as a whole. */
  readonly isForgotten: boolean;
  /** When it was last ensured, on this process's clock; `undefined`: not since it started. */
  readonly ensuredMs: number | undefined;
  readonly nowMs: number;
}

export type RecordStep =
  | { readonly kind: "addFinalizer" }
  | { readonly kind: "generateAddress"; readonly source: string }
  | { readonly kind: "ensure" }
  | { readonly kind: "drain"; readonly untilMs: number }
  /** `thenRelease`: the record goes; else only this address does. */
  | { readonly kind: "deregister"; readonly thenRelease: boolean }
  | { readonly kind: "forgetAddress" }
  | { readonly kind: "removeFinalizer"; readonly why: "neverRegistered" | "claimed" | "forgotten" };

export type RecordDecision =
  | { readonly kind: "settled"; readonly againAfterMs?: number }
  /** Somebody else has to do something first; `reason` and `message` go on the object. */
  | { readonly kind: "wait"; readonly reason: WaitReason; readonly message: string; readonly againAfterMs?: number }
  | { readonly kind: "step"; readonly step: RecordStep };

export type WaitReason = "BackendNotReady" | "DriverNotFound" | "DelayedEnsureBackend";

const DELAYED_AGAIN_MS = 10_000;

export function reconcileBackendRecord(world: RecordWorld): RecordDecision {
  const isHeld = world.record.metadata.finalizers?.includes(FINALIZER.record) ?? false;
  if (world.record.metadata.deletionTimestamp !== undefined) return isHeld ? leave(world) : { kind: "settled" };
  return isHeld ? stay(world) : step({ kind: "addFinalizer" });
}

function leave(world: RecordWorld): RecordDecision {
  const { record, backend, driver, others, nowMs } = world;
  if (world.isForgotten || record.metadata.annotations?.[ANNOTATION.forget] === "true") {
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

function stay(world: RecordWorld): RecordDecision {
  const { record, backend, driver, others } = world;
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
  if (isRegistered(record)) return keep(world);
  if (backend.kind !== "present") return notReady();
  if (others.some((other) => !isLive(other))) return delayed(backendAddr);
  return step({ kind: "ensure" });
}

/** For one that is registered. */
function keep({ record, ensuredMs, nowMs }: RecordWorld): RecordDecision {
  const { ensurePolicy } = record.spec;
  if (!isUpToDate(record)) return step({ kind: "ensure" });
  if (ensurePolicy.policy !== "Always") return { kind: "settled" };
  const dueMs = ensuredMs === undefined ? nowMs : ensuredMs + ensurePolicy.periodMs;
  return nowMs >= dueMs ? step({ kind: "ensure" }) : { kind: "settled", againAfterMs: dueMs - nowMs };
}

/** The driver has confirmed the present address, once; a later failure does not take that back. */
export function isRegistered({ status }: BackendRecord): boolean {
  if (status.backendAddr === "") return false;
  // records that an earlier LBCF made have the condition alone
  return status.registeredAddr === undefined
    ? isTrue(status.conditions, "Registered")
    : status.registeredAddr === status.backendAddr;
}

/** Its last success was for the spec it has now. */
function isUpToDate({ metadata, status }: BackendRecord): boolean {
  const condition = findCondition(status.conditions, "Registered");
  if (condition?.status !== "True") return false;
  return condition.observedGeneration === undefined || condition.observedGeneration >= metadata.generation;
}

export function isLive({ metadata }: BackendRecord): boolean {
  return metadata.deletionTimestamp === undefined;
}

/**
 * Two records with the same key stand for the same server in the same load balancer; `undefined`: for none yet. What
 * tells load balancers apart is the driver's to know, so all of lbInfo counts; of our own driver's, the pool does.
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
