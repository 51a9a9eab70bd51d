/** Which observations a plan can be made of: one Service whose own plan fails must not cost the plan of all. */
import { serviceKey } from "../model/kubernetes.ts";
import type { Observed } from "../observed.ts";
import { errorText } from "../util/text.ts";
import { planCluster } from "./plan-cluster.ts";
import type { Unreadable } from "./plan-report.ts";

export interface SoundObservations {
  readonly sound: readonly Observed[];
  readonly failed: readonly Unreadable[];
}

export function soundObservations(observed: readonly Observed[]): SoundObservations {
  const problems = new Map(observed.map((one) => [one, problemOf(one)]));
  const failed = [...problems].flatMap(([one, message]) =>
    message === undefined ? [] : [{ service: serviceKey(one.service), message }],
  );
  return { sound: observed.filter((one) => problems.get(one) === undefined), failed };
}

/** Why no plan can be made of a Service alone. */
function problemOf(observed: Observed): string | undefined {
  try {
    planCluster([observed]);
    return undefined;
  } catch (error) {
    return `no plan can be made: ${errorText(error)}`;
  }
}
