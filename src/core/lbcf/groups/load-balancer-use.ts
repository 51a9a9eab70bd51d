/**
 * What one load balancer is to a group at this moment.
 *
 *   load balancer                                          | its records
 *   -------------------------------------------------------|-------------------------------------------------
 *   cannot be looked up                                    | held: nothing comes, and only what is gone goes
 *   does not exist; is going; its scope leaves us out      | leave
 *   not created yet; a draining driver, and we are new;    | held
 *     its driver refused our parameters, or did not say    |
 *   anything else                                          | usable
 *
 * "Does not exist" must have been confirmed by the API server itself; a cache alone does not count.
 */
import type { Problem, ProblemReason } from "./candidates.ts";
import { isTrue } from "../objects/conditions.ts";
import type { Acceptance, BackendGroup, LoadBalancer, StringMap } from "../objects/objects.ts";
import { stringMapOf } from "../objects/read-json.ts";
import { allowsNamespace, isGoing } from "../objects/references.ts";

export type Lookup =
  | { readonly kind: "found"; readonly loadBalancer: LoadBalancer; readonly driver: DriverState }
  | { readonly kind: "missing" }
  | { readonly kind: "unknown"; readonly message: string };

export type DriverState = "ready" | "draining" | "missing";

/** What a driver said to the group's parameters. */
export type Verdict =
  | { readonly kind: "valid" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

export type LoadBalancerUse =
  | { readonly kind: "usable"; readonly loadBalancer: LoadBalancer; readonly lbInfo: StringMap }
  | ({ readonly kind: "held" } & Problem)
  | ({ readonly kind: "leaving" } & Problem)
  /** Its driver must be asked first. */
  | { readonly kind: "unvalidated"; readonly loadBalancer: LoadBalancer };

export interface UseInput {
  readonly group: BackendGroup;
  readonly name: string;
  readonly lookup: Lookup;
  readonly verdict: Verdict | undefined;
}

export function loadBalancerUse({ group, name, lookup, verdict }: UseInput): LoadBalancerUse {
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
  if (isGoing(loadBalancer.metadata)) return leaving("LoadBalancerDeleting", `${what} is being deleted`);
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
  if (verdict === undefined) return { kind: "unvalidated", loadBalancer };
  switch (verdict.kind) {
    case "valid":
      return usable(loadBalancer);
    case "refused":
      return held("BackendRefused", `the driver of ${what} refuses these backends: ${verdict.message}`);
    case "failed":
      return held("WebhookFailed", `the driver of ${what} could not be asked: ${verdict.message}`);
  }
}

export function acceptanceOf({ status }: BackendGroup, name: string): Acceptance | undefined {
  return status.loadBalancers.find((each) => each.name === name);
}

/** Equal parameters have equal keys. */
export function parametersKey({ spec: { parameters } }: BackendGroup): string {
  return JSON.stringify(Object.entries(parameters).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The parameters that a key was made of; none where it is no key. */
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
