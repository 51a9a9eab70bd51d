/** What becomes of differences between Azure and a Service that did not change: the policy, and what it concerns. */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { DriftPolicy } from "../intent/service-intent.ts";
import { parseService } from "../intent/parse-service.ts";
import type { Service } from "../model/kubernetes.ts";
import { isOwnedByService } from "../resources/kinds.ts";
import type { AzureStep, Step } from "../steps.ts";
import { isApplied } from "./applied-state.ts";
import { isAzureStep } from "./rounds.ts";

/** From the annotation `azlb.io/drift-policy`, else `byDefault`. */
export function driftPolicyOf(service: Service, config: ClusterConfig, byDefault: DriftPolicy): DriftPolicy {
  const parsed = parseService(service, config);
  return ("intent" in parsed ? parsed.intent.driftPolicy : undefined) ?? byDefault;
}

/** May what the Service owns in Azure be written now? */
export function mayRepair(service: Service, config: ClusterConfig, byDefault: DriftPolicy): boolean {
  return driftPolicyOf(service, config, byDefault) === "enforce" || !isApplied(service, config);
}

/**
 * Writes to what the Service owns. Pools, and security rules that name nodes, follow the nodes and the config, and the status
 * is written, whatever the drift policy.
 */
export function isRepair(step: Step): step is AzureStep {
  return isAzureStep(step) && isOwnedByService(step) && !isMigration(step) && !followsNodes(step);
}

function followsNodes(step: AzureStep): boolean {
  return step.kind === "securityGroup" && step.fragment.followsNodes === true;
}

function isMigration(step: AzureStep): boolean {
  return step.kind === "loadBalancer" && step.fragment.migration !== undefined;
}
