/**
 * A LoadBalancerDriver's conditions, and whether its finalizer stays.
 *
 *   deleted | used by load balancers or records | finalizer
 *   --------|-----------------------------------|------------------------------------------------
 *   no      | any                               | is set
 *   yes     | yes                               | stays; the driver accepts nothing new meanwhile
 *   yes     | no                                | is removed
 */
import { withCondition, withoutCondition } from "../objects/conditions.ts";
import { AZURE_DRIVER, FINALIZER, LABEL } from "../objects/names.ts";
import type { Condition, Driver } from "../objects/objects.ts";
import { invalidName } from "../objects/references.ts";
import { pluralize } from "../../util/text.ts";

/** As the objects that name the driver see it. A draining driver accepts no new objects. */
export type DriverState = "ready" | "draining" | "missing";

export interface ObservedDriver {
  readonly driver: Driver;
  readonly loadBalancers: number;
  readonly records: number;
  /** The last answer of its healthz; `undefined` when it has none, or was not asked yet. */
  readonly health: { readonly healthy: boolean; readonly message: string } | undefined;
  readonly nowMs: number;
}

export interface DriverDecision {
  readonly finalizer: "add" | "remove" | undefined;
  /** The driver's own list when nothing changes. */
  readonly conditions: readonly Condition[];
}

export function reconcileDriver(observed: ObservedDriver): DriverDecision {
  const { metadata } = observed.driver;
  const hasFinalizer = metadata.finalizers?.includes(FINALIZER.driver) ?? false;
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const conditions = healthy(accepted(observed.driver.status.conditions, observed), observed);
  if (!isDeleted) return { finalizer: hasFinalizer ? undefined : "add", conditions };
  const isUsed = observed.loadBalancers + observed.records > 0;
  return {
    finalizer: hasFinalizer && !isUsed ? "remove" : undefined,
    conditions: isUsed ? stillUsed(conditions, observed) : conditions,
  };
}

/** Base64 with white space. No two parts match the same characters, so that a long value takes linear time. */
const BASE64 = /^[A-Za-z0-9+/\s]*(=\s*){0,2}$/;

/** Why the driver cannot be used; `undefined` when it can. */
export function driverProblem({ metadata, spec }: Driver): { reason: string; message: string } | undefined {
  const wrongPlace = invalidName("LoadBalancerDriver", metadata);
  if (wrongPlace !== undefined) return { reason: "InvalidName", message: wrongPlace };
  if (metadata.name === AZURE_DRIVER) {
    return { reason: "InvalidName", message: `${AZURE_DRIVER} is built in and needs no object: choose another name` };
  }
  if (!/^https?:\/\/[^/?#\s]+(\/[^?#\s]*)?$/.test(spec.url)) {
    return { reason: "InvalidURL", message: `url "${spec.url}" is no http or https URL without ? and #` };
  }
  if (!BASE64.test(spec.caBundle ?? "")) {
    return { reason: "InvalidCABundle", message: "caBundle is no base64: encode the PEM file, as base64 -w0 does" };
  }
  return undefined;
}

function accepted(conditions: readonly Condition[], { driver, nowMs }: ObservedDriver): readonly Condition[] {
  const problem = driverProblem(driver);
  const status = problem === undefined ? "True" : "False";
  return withCondition(conditions, { type: "Accepted", status, ...problem }, nowMs);
}

function healthy(conditions: readonly Condition[], { health, nowMs }: ObservedDriver): readonly Condition[] {
  if (health === undefined) return withoutCondition(conditions, "Healthy");
  const update = health.healthy
    ? ({ type: "Healthy", status: "True" } as const)
    : ({ type: "Healthy", status: "False", reason: "Unhealthy", message: health.message } as const);
  return withCondition(conditions, update, nowMs);
}

function stillUsed(
  conditions: readonly Condition[],
  { loadBalancers, records, nowMs }: ObservedDriver,
): readonly Condition[] {
  const message =
    `still used by ${pluralize(loadBalancers, "load balancer")} and ${pluralize(records, "backend record")}; ` +
    `it takes on nothing new meanwhile, as with label ${LABEL.draining}`;
  return withCondition(conditions, { type: "Deletable", status: "False", reason: "StillUsed", message }, nowMs);
}
