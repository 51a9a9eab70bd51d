/** What the phases of a Service are made of: what each asks for, and how one round follows from all. */
import type { Kind } from "../resources/azure-step.ts";
import type { Reconciled } from "../resources/reconciled.ts";
import type { AzureStep, Decision, Step } from "../steps.ts";
import type { Rejection, Warning } from "../outcome.ts";

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

/** What became of one resource, as what comes next for the Service. */
export function roundOf(result: Reconciled<Kind>, warnings: readonly Warning[] = []): Decision | undefined {
  switch (result.kind) {
    case "settled":
      return undefined;
    case "act":
      return act(result.steps, warnings);
    case "stale":
      return wait("the load balancer is being changed by others");
    case "reject":
      return reject(result.rejection);
  }
}

export function isAzureStep(step: Step): step is AzureStep {
  return "id" in step;
}
