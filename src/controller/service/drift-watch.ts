/**
 * What happens when Azure differs from a Service that did not change, because a person or a tool edited it there.
 *
 *   policy  | what the controller does
 *   --------|-----------------------------------------------------------------------------
 *   report  | an event and a metric; nothing is written until the Service itself changes. What is gone entirely is made
 *           | again (`core/service/total-loss.ts`)
 *   enforce | it is written as the Service asks
 *   ignore  | nothing
 *
 * Whether a Service changed stands on the Service (`core/service/applied-state.ts`), so a restart forgets nothing. Policies
 * come from the annotation `azlb.io/drift-policy`, else from `--drift-policy`.
 */
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import { serviceKey, type Service } from "../../core/model/kubernetes.ts";
import { driftPolicyOf, mayRepair } from "../../core/service/drift-policy.ts";
import type { DriftPolicy } from "../../core/intent/service-intent.ts";
import type { SyncOutcome } from "./cloud-load-balancer.ts";
import type { Metrics } from "../metrics.ts";

export class DriftWatch {
  readonly #config: ClusterConfig;
  readonly #byDefault: DriftPolicy;
  readonly #metrics: Metrics;
  /** Services that differ, with the policy that left them so. */
  readonly #drifted = new Map<string, DriftPolicy>();

  constructor(config: ClusterConfig, byDefault: DriftPolicy, metrics: Metrics) {
    this.#config = config;
    this.#byDefault = byDefault;
    this.#metrics = metrics;
  }

  policyOf(service: Service): DriftPolicy {
    return driftPolicyOf(service, this.#config, this.#byDefault);
  }

  /** May what the Service owns in Azure be written now? */
  mayRepair(service: Service): boolean {
    return mayRepair(service, this.#config, this.#byDefault);
  }

  note(service: Service, outcome: SyncOutcome): void {
    if (outcome.kind === "drifted") this.#drifted.set(serviceKey(service), this.policyOf(service));
    else this.#drifted.delete(serviceKey(service));
    this.#measure();
  }

  forget(key: string): void {
    if (this.#drifted.delete(key)) this.#measure();
  }

  #measure(): void {
    const count = { report: 0, enforce: 0, ignore: 0 };
    for (const policy of this.#drifted.values()) count[policy] += 1;
    for (const [policy, services] of Object.entries(count)) this.#metrics.drift.set({ policy }, services);
  }
}
