/**
 * Where a Service stands, in lines for a person: what it asks for, what it has, and the one thing that comes next or
 * stands in the way.
 */
import { keyOf } from "../kubernetes.ts";
import type { Decision } from "../plan.ts";
import { planService, type ServicePlan } from "../render-plan.ts";
import type { Observed } from "../world.ts";
import { isApplied, markOf } from "./applied.ts";
import { parseService } from "./parse-service.ts";
import { publishedIngress } from "./reconcile-service.ts";
import type { ServiceIntent } from "./service-intent.ts";

export function explain(observed: Observed): string[] {
  const { service, config } = observed;
  const parsed = parseService(service, config);
  return [
    `Service     ${keyOf(service)}`,
    ...("intent" in parsed ? [`asks for    ${wishText(parsed.intent)}`] : []),
    `published   ${(service.status.loadBalancer.ingress ?? []).map(({ ip }) => ip).join(", ") || "no address yet"}`,
    `in Azure    ${azureText(observed)}`,
    `stands      ${standText(observed)}`,
    ...("intent" in parsed ? parsed.warnings.map(({ message }) => `note        ${message}`) : []),
  ];
}

function wishText({ scope, families, ports, highAvailabilityPorts }: ServiceIntent): string {
  const which = highAvailabilityPorts
    ? "all ports"
    : `port ${ports.map(({ port, protocol }) => `${port}/${protocol}`).join(", ")}`;
  return `an ${scope} address (${families.join(" and ")}), ${which}`;
}

function azureText(observed: Observed): string {
  const found = publishedIngress(observed);
  if (found.kind === "look") return "not looked at";
  if (found.kind === "absent") return "nothing of it";
  return found.ingress.map(({ ip }) => ip).join(", ") || "a public IP without a frontend";
}

function standText(observed: Observed): string {
  const { service, config } = observed;
  const plan = planService(observed);
  const [next] = plan.steps;
  if (next === undefined) return endText(plan.end);
  const left = plan.steps.length === 1 ? "1 step" : `${plan.steps.length} steps`;
  if (markOf(service) !== undefined && isApplied(service, config)) {
    return `drifted: Azure was changed under it; ${left} would restore it, the first: ${next.verb} ${next.id} (${next.why})`;
  }
  return `${left} to go, next: ${next.verb} ${next.id} (${next.why})${afterThat(plan)}`;
}

function afterThat({ end }: ServicePlan): string {
  return end.kind === "settled" ? "" : `; then ${endText(end)}`;
}

function endText(end: Decision): string {
  switch (end.kind) {
    case "settled":
      return "everything is as it asks";
    case "reject":
      return `refused: ${end.rejection.reason}: ${end.rejection.message}`;
    case "wait":
      return `waiting: ${end.why}`;
    case "look":
    case "act":
      return "more to find out";
  }
}
