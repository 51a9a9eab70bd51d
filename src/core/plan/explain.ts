/**
 * Where a Service stands, in lines for a person: first what is wrong and what to change, if anything is; then what it
 * asks for, what it has, and what comes next.
 */
import { pluralize } from "../util/text.ts";
import { serviceKey } from "../model/kubernetes.ts";
import type { Decision } from "../steps.ts";
import { planService, type ServicePlan } from "./plan-cluster.ts";
import { resourceText } from "./resource-text.ts";
import type { Observed } from "../observed.ts";
import { isApplied, readAppliedState } from "../service/applied-state.ts";
import { parseService } from "../intent/parse-service.ts";
import { publishedIngress } from "../service/reconcile-service.ts";
import { getServiceLoadBalancer } from "../resources/load-balancer/get-service-load-balancer.ts";
import type { ServiceIntent } from "../intent/service-intent.ts";

/** What the lines say, for programs, in the API's words. */
export interface Stand {
  readonly state: "served" | "pending" | "refused";
  readonly reason?: string;
  readonly message?: string;
  readonly isDrifted: boolean;
  readonly stands: string;
  readonly remarks: readonly Pick<Warning, "reason" | "message">[];
}

export function explain(observed: Observed): { readonly lines: readonly string[]; readonly stand: Stand } {
  const { service, config } = observed;
  const parsed = parseService(service, config);
  const plan = planService(observed);
  const warnings = (plan.end.kind === "settled" ? plan.end : parsed).warnings ?? [];
  const ignored = warnings.filter(({ reason }) => IGNORED.has(reason));
  const notes = warnings.filter((warning) => !ignored.includes(warning));
  const rejection = plan.end.kind === "reject" ? plan.end.rejection : undefined;
  const stands = standText(observed, plan, ignored);
  const lines = [
    ...(rejection === undefined ? [] : [`refused     ${rejection.reason}: ${rejection.message}`]),
    `Service     ${serviceKey(service)}`,
    ...("intent" in parsed ? [`asks for    ${askedText(parsed.intent)}`] : []),
    `published   ${(service.status.loadBalancer.ingress ?? []).map(({ ip }) => ip).join(", ") || "no address yet"}`,
    `in Azure    ${azureText(observed)}`,
    ...("intent" in parsed ? placedText(observed, parsed.intent) : []),
    `stands      ${stands}`,
    ...(isSettled(plan) ? [] : ignored.map(({ message }) => `ignored     ${message}`)),
    ...notes.map(({ message }) => `note        ${message}`),
  ];
  const drifted = isDrifted(observed, plan);
  const state = rejection !== undefined ? "refused" : isSettled(plan) || drifted ? "served" : "pending";
  const why = rejection && { reason: rejection.reason, message: rejection.message };
  const remarks = warnings.map(({ reason, message }) => ({ reason, message }));
  return { lines, stand: { state, ...why, isDrifted: drifted, stands, remarks } };
}

type Warning = Extract<Decision, { kind: "settled" }>["warnings"][number];

/** Warnings about what a user has written and the Service is served without. */
const IGNORED: ReadonlySet<Warning["reason"]> = new Set<Warning["reason"]>([
  "AnnotationHasNoEffect",
  "ConflictConfiguration",
  "InvalidAllowedIPRanges",
  "InvalidAnnotation",
  "InvalidSourceRanges",
  "UnknownAnnotation",
]);

/** Of several load balancers, or of a fleet. */
function placedText(observed: Observed, intent: ServiceIntent): string[] {
  const placement = getServiceLoadBalancer(observed, intent);
  if ("kind" in placement || placement.why === undefined) return [];
  return [`placed on   load balancer "${placement.name}": ${placement.why}`];
}

function askedText({ scope, families, ports, highAvailabilityPorts }: ServiceIntent): string {
  const which = highAvailabilityPorts
    ? "all ports"
    : `port ${ports.map(({ port, protocol }) => `${port}/${protocol}`).join(", ")}`;
  return `an ${scope} address (${families.join(" and ")}), ${which}`;
}

function azureText(observed: Observed): string {
  const found = publishedIngress(observed);
  if (found.kind === "read") return "not looked at";
  if (found.kind === "absent") return "nothing of it";
  return found.ingress.map(({ ip }) => ip).join(", ") || "a public IP, and no frontend";
}

function isSettled({ steps, end }: ServicePlan): boolean {
  return steps.length === 0 && end.kind === "settled";
}

/** It was as it asks, and another client has changed that in Azure. */
function isDrifted({ service, config }: Observed, { steps }: ServicePlan): boolean {
  return steps.length > 0 && readAppliedState(service) !== undefined && isApplied(service, config);
}

function standText(observed: Observed, plan: ServicePlan, ignored: readonly Warning[]): string {
  if (isSettled(plan) && ignored.length > 0) {
    return `works, but ignored: ${ignored.map(({ message }) => message).join("; ")}`;
  }
  const [next] = plan.steps;
  if (next === undefined) return endText(plan.end);
  const left = pluralize(plan.steps.length, "step");
  const first = `${next.verb} ${resourceText(next.id, observed.config.resourceGroup)} (${next.why})`;
  if (isDrifted(observed, plan)) {
    return `drifted: Azure was changed under it; ${left} would restore it, the first: ${first}`;
  }
  return `${left} to go, next: ${first}${afterThat(plan)}`;
}

function afterThat({ end }: ServicePlan): string {
  return end.kind === "settled" ? "" : `; then ${endText(end)}`;
}

function endText(end: Decision): string {
  switch (end.kind) {
    case "settled":
      return "everything is as it asks";
    case "reject":
      return "refused, as told above; what it may have in Azure is left as it is";
    case "wait":
      return `waiting: ${end.why}`;
    case "read":
    case "act":
      return "more to find out";
  }
}
