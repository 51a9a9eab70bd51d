/**
 * One look at a LoadBalancer of LBCF, one step. As with records, the stored object says where we are:
 *
 *   stored                                                  | next step
 *   --------------------------------------------------------|--------------------------------------------------------
 *   live, without our finalizer                             | add it
 *   live, not Created                                       | ask whether it is valid, mark it, create it
 *   live, attributes not those that were last ensured       | ask whether they are valid, ensure
 *   live, Always, and the period is over                    | ensure
 *   deleting, kept by the label do-not-delete               | as live
 *   deleting, records still name it                         | wait for them
 *   deleting, nobody ever tried to create it; or let go     | take the finalizer away
 *   deleting                                                | delete it at the driver, then take the finalizer away
 */
import type { EventReason } from "../../events/event-reasons.ts";
import { findCondition, isTrue } from "../objects/conditions.ts";
import type { DriverState, Verdict } from "../groups/load-balancer-use.ts";
import { ANNOTATION, FINALIZER, LABEL } from "../objects/names.ts";
import type { LoadBalancer, StringMap } from "../objects/objects.ts";
import { sameMap } from "../records/record-spec.ts";
import { isGoing, isHeld } from "../objects/references.ts";

export interface LoadBalancerWorld {
  readonly loadBalancer: LoadBalancer;
  readonly driver: DriverState;
  /** What its name or place makes impossible. */
  readonly misplaced: string | undefined;
  /** How many records name it, the ones being deleted included. */
  readonly records: number;
  /** What the driver said to the present lbSpec and attributes. */
  readonly verdict: Verdict | undefined;
  readonly ensuredMs: number | undefined;
  readonly nowMs: number;
}

export type LoadBalancerStep =
  | { readonly kind: "addFinalizer" }
  /** Before the first call: from now on the driver may have made something. */
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

export function reconcileLoadBalancerObject(world: LoadBalancerWorld): LoadBalancerDecision {
  const { metadata, status } = world.loadBalancer;
  const hasFinalizer = metadata.finalizers?.includes(FINALIZER.loadBalancer) ?? false;
  if (isGoing(metadata)) return hasFinalizer ? leave(world) : { kind: "settled" };
  if (world.misplaced !== undefined) return wait("InvalidName", world.misplaced);
  if (!hasFinalizer && metadata.deletionTimestamp === undefined) return step({ kind: "addFinalizer" });
  return isTrue(status.conditions, "Created") ? keep(world) : make(world);
}

function leave({ loadBalancer, driver, records }: LoadBalancerWorld): LoadBalancerDecision {
  // also where it was let go: its records are let go by looking at it
  if (records > 0) return wait("RecordsRemain", "backend records that name it are being deregistered first");
  if (isForgotten(loadBalancer)) return step({ kind: "removeFinalizer", why: "forgotten" });
  if (findCondition(loadBalancer.status.conditions, "Created") === undefined) {
    return step({ kind: "removeFinalizer", why: "neverCreated" });
  }
  return driver === "missing" ? driverMissing(loadBalancer) : step({ kind: "delete" });
}

function make({ loadBalancer, driver, verdict }: LoadBalancerWorld): LoadBalancerDecision {
  if (driver === "missing") return driverMissing(loadBalancer);
  const isBegun = findCondition(loadBalancer.status.conditions, "Created") !== undefined;
  if (driver === "draining" && !isBegun) {
    return wait("DriverDraining", `driver "${loadBalancer.spec.lbDriver}" is draining and takes nothing new`);
  }
  const refused = refusal(verdict, "Create", {});
  if (refused !== undefined) return refused;
  return step({ kind: isBegun ? "create" : "markCreating" });
}

function keep({ loadBalancer, driver, verdict, ensuredMs, nowMs }: LoadBalancerWorld): LoadBalancerDecision {
  const { spec, status } = loadBalancer;
  if (driver === "missing") return driverMissing(loadBalancer);
  const { lastSyncedAttributes: synced } = status;
  const isChanged = synced !== undefined && !sameMap(synced, spec.attributes);
  const refused = isChanged ? refusal(verdict, "Update", synced) : undefined;
  if (refused !== undefined) return refused;
  // one that an earlier LBCF made does not say what was ensured: that is made up for
  if (isChanged || synced === undefined || !isTrue(status.conditions, "AttributesSynced")) {
    return step({ kind: "ensure" });
  }
  if (spec.ensurePolicy.policy !== "Always") return { kind: "settled" };
  const dueMs = ensuredMs === undefined ? nowMs : ensuredMs + spec.ensurePolicy.periodMs;
  return nowMs >= dueMs ? step({ kind: "ensure" }) : { kind: "settled", againAfterMs: dueMs - nowMs };
}

function refusal(
  verdict: Verdict | undefined,
  operation: "Create" | "Update",
  oldAttributes: StringMap,
): LoadBalancerDecision | undefined {
  switch (verdict?.kind) {
    case undefined:
      return { kind: "validate", operation, oldAttributes };
    case "valid":
      return undefined;
    case "refused":
      return wait("Refused", `the driver refuses it: ${verdict.message}`);
    case "failed":
      return wait("WebhookFailed", `the driver could not be asked whether it is valid: ${verdict.message}`);
  }
}

/** Why a deleted one is still there; `undefined`: nobody deleted it. */
export function holdOf({ metadata }: Pick<LoadBalancer, "metadata">): { reason: string; message: string } | undefined {
  if (!isHeld(metadata)) return undefined;
  return { reason: "DoNotDelete", message: `it is kept, and goes on, until label ${LABEL.doNotDelete} is removed` };
}

export function isForgotten({ metadata }: Pick<LoadBalancer, "metadata">): boolean {
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
