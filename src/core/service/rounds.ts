/** Words of the story that a Service's reconciliation is told in: phases, and the rounds that they ask for. */
import type { AzureStep, Decision, Look, Step } from "../steps.ts";
import type { Observed } from "../observed.ts";
import type { Rejection, Warning } from "./service-intent.ts";

/** One thing to get right. `undefined`: it is, go on with the next. */
export type Phase<Context> = (context: Context) => Decision | undefined;

export function firstRound<Context>(phases: readonly Phase<Context>[], context: Context): Decision | undefined {
  for (const phase of phases) {
    const decision = phase(context);
    if (decision !== undefined) return decision;
  }
  return undefined;
}

export function act(steps: readonly Step[], warnings: readonly Warning[] = []): Decision | undefined {
  return steps.length === 0 ? undefined : { kind: "act", steps, warnings };
}

export function reject(rejection: Rejection): Decision {
  return { kind: "reject", rejection };
}

export function wait(why: string): Decision {
  return { kind: "wait", why };
}

export function isAzureStep(step: Step): step is AzureStep {
  return "id" in step;
}

/** Resource groups whose public IPs nobody has looked at yet, and the machines where they matter. */
export function looksFor(observed: Observed, groups: readonly string[]): Look[] {
  const { config, publicIPs, compute } = observed;
  const unseen = groups.filter((group) => !publicIPs.has(group.toLowerCase()));
  const needsMachines = config.poolType === "nodeIPConfiguration" || config.sku === "basic";
  return [
    ...unseen.map((resourceGroup): Look => ({ kind: "publicIPs", resourceGroup })),
    ...(needsMachines && compute === undefined ? [{ kind: "compute" as const }] : []),
  ];
}
