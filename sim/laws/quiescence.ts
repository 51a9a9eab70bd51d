/**
 * What must be true once everything has settled: Azure is as the cluster asks (`served.ts`), the core would do nothing more
 * (`remaining-plan.ts`), nothing is left of deleted objects (`leaks.ts`), and no reference dangles.
 */
import { readForwarding } from "../../sandbox/azure/data-plane/read-forwarding.ts";
import { danglingReferences } from "../../sandbox/azure/model/laws.invariants.ts";
import { serviceKey } from "../../src/core/model/kubernetes.ts";
import { observeCluster } from "../environment/observe-cluster.ts";
import type { Simulation } from "../environment/simulation.ts";
import { LOAD_BALANCER, partsOf, resourcesOf } from "./azure-state.ts";
import type { Report } from "./law.ts";
import { leaks, type Exemptions } from "./leaks.ts";
import type { RemainingPlan } from "./remaining-plan.ts";
import { unserved } from "./served.ts";

/** Another Service at the same address can cause these refusals, whatever the Service asks for. */
const CAUSED_BY_OTHERS = new Set(["PortConflict", "FrontendShared", "ConflictConfiguration", "LoadBalancerFull"]);

export function checkQuiescence(
  simulation: Simulation,
  plan: RemainingPlan,
  exemptions: Exemptions,
  report: Report,
): void {
  const { azure } = simulation;
  const { steps, refusals: rejected, failing } = plan;
  const refusals = new Set([...rejected.keys(), ...failing]);
  if (steps.length > 0) report("settled", `steps remain: ${steps.slice(0, 4).join("; ")}`);
  for (const dangling of danglingReferences(azure.state)) report("dangling", dangling);
  const forwarding = readForwarding(azure.state);
  const observation = observeCluster(simulation, undefined);
  for (const key of refusals) {
    const why = rejected.get(key) ?? "Azure";
    const isCausedByOthers = CAUSED_BY_OTHERS.has(why) || (why === "Azure" && hasForeignOutbound(simulation));
    if (simulation.users.isPlain(key) && !isCausedByOthers) report("served", `${key} is refused: ${why}`);
  }
  for (const service of observation.services) {
    if (refusals.has(serviceKey(service))) continue;
    for (const what of unserved({ simulation, forwarding, ...exemptions }, service))
      report("served", `${serviceKey(service)}: ${what}`);
  }
  for (const what of leaks(simulation, exemptions, refusals)) report("leak", what);
}

/** If an outbound rule of another client uses the cluster's pool and frontend, Azure refuses rules there that do source NAT. */
function hasForeignOutbound({ azure }: Simulation): boolean {
  return resourcesOf(azure.state, LOAD_BALANCER).some((resource) => partsOf(resource, "outboundRules").length > 0);
}
