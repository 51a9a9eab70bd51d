/**
 * The next step for a LoadBalancer of LBCF. As with records, all progress is in the stored object:
 *
 *   stored                                                  | next step
 *   --------------------------------------------------------|--------------------------------------------------------
 *   live, without the finalizer                             | add it
 *   live, not Created                                       | ask the driver to validate it, mark it, create it
 *   live, attributes differ from those last ensured         | ask the driver to validate them, ensure
 *   live, Always, and the period is over                    | ensure
 *   deleting, blocked by the label do-not-delete            | as live
 *   deleting, records still name it                         | wait for them
 *   deleting, never marked as creating; or to be forgotten  | remove the finalizer
 *   deleting                                                | ask the driver to delete it, then remove the finalizer
 */
import type { EventReason } from "../../events/event-reasons.ts";
import { findCondition, isTrue } from "../objects/conditions.ts";
import type { DriverState } from "../drivers/reconcile-driver.ts";
import type { ValidationResult } from "../drivers/driver-answers.ts";
import { ANNOTATION, FINALIZER, LABEL } from "../objects/names.ts";
import type { LoadBalancer, StringMap } from "../objects/objects.ts";
import { sameMap } from "../records/record-spec.ts";
import { isBeingDeleted, isDeletionBlocked } from "../objects/references.ts";

export interface ObservedLoadBalancer {
  readonly loadBalancer: LoadBalancer;
  readonly driver: DriverState;
  /** Why its name is not allowed in its namespace. */
  readonly invalidName: string | undefined;
  /** The number of records that name it, including those being deleted. */
  readonly records: number;
  /** The driver's answer for the current lbSpec and attributes. */
  readonly validation: ValidationResult | undefined;
  /** How long ago this process last ensured it, by a clock that never jumps; `undefined` when it has not yet. */
  readonly sinceEnsuredMs: number | undefined;
}

export type LoadBalancerStep =
  | { readonly kind: "addFinalizer" }
  /** Stored before the first call: from then on the driver may have created something. */
  | { readonly kind: "markCreating" }
  | { readonly kind: "create" }
  | { readonly kind: "ensure" }
  | { readonly kind: "delete" }
  | { readonly kind: "removeFinalizer"; readonly why: "neverCreated" | "forgotten" };

export type LoadBalancerDecision =
  | { readonly kind: "settled"; readonly againAfterMs?: number }
  | { readonly kind: "wait"; readonly reason: EventReason; readonly message: string }
  | { readonly kind: "validate"; readonly operation: "Create" | "Update"; readonly oldAttributes: StringMap }
  | { readonly kind: "step"; readonly step: LoadBalancerStep };

export function reconcileLoadBalancerObject(observed: ObservedLoadBalancer): LoadBalancerDecision {
  const { metadata, status } = observed.loadBalancer;
  const hasFinalizer = metadata.finalizers?.includes(FINALIZER.loadBalancer) ?? false;
  if (isBeingDeleted(metadata)) return hasFinalizer ? reconcileDeleted(observed) : { kind: "settled" };
  if (observed.invalidName !== undefined) return wait("InvalidName", observed.invalidName);
  if (!hasFinalizer && metadata.deletionTimestamp === undefined) return step({ kind: "addFinalizer" });
  return isTrue(status.conditions, "Created") ? reconcileCreated(observed) : reconcileMissing(observed);
}

function reconcileDeleted({ loadBalancer, driver, records }: ObservedLoadBalancer): LoadBalancerDecision {
  // also when it is to be forgotten: its records read that annotation from it
  if (records > 0) return wait("RecordsRemain", "backend records that name it are being deregistered first");
  if (isForgotten(loadBalancer)) return step({ kind: "removeFinalizer", why: "forgotten" });
  if (findCondition(loadBalancer.status.conditions, "Created") === undefined) {
    return step({ kind: "removeFinalizer", why: "neverCreated" });
  }
  return driver === "missing" ? driverMissing(loadBalancer) : step({ kind: "delete" });
}

function reconcileMissing({ loadBalancer, driver, validation }: ObservedLoadBalancer): LoadBalancerDecision {
  if (driver === "missing") return driverMissing(loadBalancer);
  const isBegun = findCondition(loadBalancer.status.conditions, "Created") !== undefined;
  if (driver === "draining" && !isBegun) {
    return wait("DriverDraining", `driver "${loadBalancer.spec.lbDriver}" is draining and takes nothing new`);
  }
  const refused = refusal(validation, "Create", {});
  if (refused !== undefined) return refused;
  return step({ kind: isBegun ? "create" : "markCreating" });
}

function reconcileCreated({
  loadBalancer,
  driver,
  validation,
  sinceEnsuredMs,
}: ObservedLoadBalancer): LoadBalancerDecision {
  const { spec, status } = loadBalancer;
  if (driver === "missing") return driverMissing(loadBalancer);
  const { lastSyncedAttributes: synced } = status;
  const isChanged = synced !== undefined && !sameMap(synced, spec.attributes);
  const refused = isChanged ? refusal(validation, "Update", synced) : undefined;
  if (refused !== undefined) return refused;
  // an older LBCF did not store what was ensured: ensure once
  if (isChanged || synced === undefined || !isTrue(status.conditions, "AttributesSynced")) {
    return step({ kind: "ensure" });
  }
  if (spec.ensurePolicy.policy !== "Always") return { kind: "settled" };
  const leftMs = sinceEnsuredMs === undefined ? 0 : spec.ensurePolicy.periodMs - sinceEnsuredMs;
  return leftMs <= 0 ? step({ kind: "ensure" }) : { kind: "settled", againAfterMs: leftMs };
}

function refusal(
  validation: ValidationResult | undefined,
  operation: "Create" | "Update",
  oldAttributes: StringMap,
): LoadBalancerDecision | undefined {
  switch (validation?.kind) {
    case undefined:
      return { kind: "validate", operation, oldAttributes };
    case "valid":
      return undefined;
    case "refused":
      return wait("Refused", `the driver refuses it: ${validation.message}`);
    case "failed":
      return wait("WebhookFailed", `the driver could not be asked whether it is valid: ${validation.message}`);
  }
}

/** The condition of an object that the label keeps from being deleted. */
export function deletionBlockOf({
  metadata,
}: Pick<LoadBalancer, "metadata">): { reason: string; message: string } | undefined {
  if (!isDeletionBlocked(metadata)) return undefined;
  return { reason: "DoNotDelete", message: `it is kept, and goes on, until label ${LABEL.doNotDelete} is removed` };
}

function isForgotten({ metadata }: Pick<LoadBalancer, "metadata">): boolean {
  return metadata.annotations?.[ANNOTATION.forget] === "true";
}

function step(next: LoadBalancerStep): LoadBalancerDecision {
  return { kind: "step", step: next };
}

function wait(reason: EventReason, message: string): LoadBalancerDecision {
  return { kind: "wait", reason, message };
}

function driverMissing({ spec: { lbDriver } }: LoadBalancer): LoadBalancerDecision {
  return wait(
    "DriverNotFound",
    `driver "${lbDriver}" does not exist: create it (names with lbcf- belong in kube-system), or fix lbDriver`,
  );
}
