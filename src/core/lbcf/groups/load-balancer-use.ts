/**
 * Whether a group may use one of the load balancers that it names, and what happens to its records there.
 *
 *   load balancer                                          | the group's records there
 *   -------------------------------------------------------|-------------------------------------------------
 *   cannot be looked up                                    | held: none is created; deleted only if the backend is gone
 *   does not exist, is being deleted, or its scope         | leaving: all are deleted
 *     excludes the group's namespace                       |
 *   is not created yet; its driver is draining and has     | held
 *     not accepted the group before; its driver refused    |
 *     the parameters or did not answer                     |
 *   anything else                                          | usable
 *
 * "Does not exist" is what the API server answered: a cache miss alone does not count while records remain.
 */
import type { Problem, ProblemReason } from "./candidates.ts";
import { isTrue } from "../objects/conditions.ts";
import type { ValidationResult } from "../drivers/driver-answers.ts";
import type { DriverState } from "../drivers/reconcile-driver.ts";
import type { Acceptance, BackendGroup, LoadBalancer, StringMap } from "../objects/objects.ts";
import { stringMapOf } from "../objects/read-json.ts";
import { allowsNamespace, isBeingDeleted } from "../objects/references.ts";

export type Lookup =
  | { readonly kind: "found"; readonly loadBalancer: LoadBalancer; readonly driver: DriverState }
  | { readonly kind: "missing" }
  | { readonly kind: "unknown"; readonly message: string };

export type LoadBalancerUse =
  | { readonly kind: "usable"; readonly loadBalancer: LoadBalancer; readonly lbInfo: StringMap }
  | ({ readonly kind: "held" } & Problem)
  | ({ readonly kind: "leaving" } & Problem)
  /** The driver must validate the group's parameters first. */
  | { readonly kind: "unvalidated"; readonly loadBalancer: LoadBalancer };

export interface UseInput {
  readonly group: BackendGroup;
  readonly name: string;
  readonly lookup: Lookup;
  readonly validation: ValidationResult | undefined;
}

export function loadBalancerUse({ group, name, lookup, validation }: UseInput): LoadBalancerUse {
  const what = `load balancer "${name}"`;
  if (lookup.kind === "unknown") return held("LoadBalancerUnknown", `${what} cannot be looked up: ${lookup.message}`);
  if (lookup.kind === "missing") {
    return leaving("LoadBalancerNotFound", `there is no ${what}: create it, or fix loadBalancers`);
  }
  const { loadBalancer, driver } = lookup;
  const { namespace } = group.metadata;
  if (!allowsNamespace(loadBalancer, namespace)) {
    return leaving(
      "OutOfScope",
      `${what} does not serve namespace "${namespace}": add it to the load balancer's scope`,
    );
  }
  if (isBeingDeleted(loadBalancer.metadata)) return leaving("LoadBalancerDeleting", `${what} is being deleted`);
  if (!isTrue(loadBalancer.status.conditions, "Created")) {
    return held("LoadBalancerNotCreated", `${what} is not created yet; its conditions say why`);
  }
  const before = acceptanceOf(group, name);
  if (driver === "draining" && before?.accepted !== true) {
    return held(
      "DriverDraining",
      `driver "${loadBalancer.spec.lbDriver}" of ${what} is draining and takes nothing new`,
    );
  }
  if (driver === "missing") {
    return held("DriverNotFound", `driver "${loadBalancer.spec.lbDriver}" of ${what} does not exist`);
  }
  if (before?.accepted === true && before.parameters === parametersKey(group)) return usable(loadBalancer);
  if (validation === undefined) return { kind: "unvalidated", loadBalancer };
  switch (validation.kind) {
    case "valid":
      return usable(loadBalancer);
    case "refused":
      return held("BackendRefused", `the driver of ${what} refuses these backends: ${validation.message}`);
    case "failed":
      return held("WebhookFailed", `the driver of ${what} could not be asked: ${validation.message}`);
  }
}

export function acceptanceOf({ status }: BackendGroup, name: string): Acceptance | undefined {
  return status.loadBalancers.find((each) => each.name === name);
}

/** A string that is equal for equal parameters; stored in the group's status. */
export function parametersKey({ spec: { parameters } }: BackendGroup): string {
  return JSON.stringify(Object.entries(parameters).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The inverse of `parametersKey`; empty when the text is not such a key. */
export function parametersOf(key: string): StringMap {
  try {
    return stringMapOf(Object.fromEntries(JSON.parse(key) as [string, unknown][]));
  } catch {
    return {};
  }
}

function usable(loadBalancer: LoadBalancer): LoadBalancerUse {
  return { kind: "usable", loadBalancer, lbInfo: loadBalancer.status.lbInfo ?? loadBalancer.spec.lbSpec };
}

function held(reason: ProblemReason, message: string): LoadBalancerUse {
  return { kind: "held", reason, message };
}

function leaving(reason: ProblemReason, message: string): LoadBalancerUse {
  return { kind: "leaving", reason, message };
}
