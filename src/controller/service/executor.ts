/**
 * What the loop of a Service (`cloud-load-balancer.ts`) needs of the executor that reads and writes for it
 * (`step-executor.ts`; tests have their own).
 */
import type { Service } from "../../core/model/kubernetes.ts";
import type { Observed } from "../../core/observed.ts";
import type { Rejection } from "../../core/outcome.ts";
import type { ReadRequest, Step } from "../../core/steps.ts";

export interface StepExecutor {
  /** Everything the core may look at for this Service, with what it asked to read; throws where a read fails. */
  observe(service: Service, needs: readonly ReadRequest[], signal: AbortSignal): Promise<Observed>;
  /** What was seen may be old: the next `observe` reads Azure itself. */
  refresh(): void;
  /** Makes one step true; resolves with the Service as it is afterwards where the step wrote to it. */
  apply(service: Service, step: Step, signal: AbortSignal): Promise<Service | undefined>;
}

/** A merge found that the Service's part cannot stand where it would go, until a user changes something. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    super(rejection.message);
    this.rejection = rejection;
  }
}
