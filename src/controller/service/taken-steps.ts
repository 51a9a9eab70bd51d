/**
 * Which kinds of steps a Service has taken since what follows from them was last done. A sync may write and then fail, and the
 * next one finds that write done: so what a write leads to is not read from the steps of the sync that ends well.
 */
import type { Step } from "../../core/steps.ts";

export interface Taken {
  readonly any: boolean;
  /** Out of the pools of a load balancer. */
  readonly machinesLeft: boolean;
  readonly loadBalancer: boolean;
}

const NOTHING: Taken = { any: false, machinesLeft: false, loadBalancer: false };

export class TakenSteps {
  readonly #byKey = new Map<string, Taken>();

  /** Before the step is taken: how it ended may stay unknown. */
  note(key: string, step: Step): void {
    const { machinesLeft, loadBalancer } = this.#byKey.get(key) ?? NOTHING;
    this.#byKey.set(key, {
      any: true,
      machinesLeft: machinesLeft || (step.kind === "nicPools" && step.fragment.leave.length > 0),
      loadBalancer: loadBalancer || step.kind === "loadBalancer",
    });
  }

  /** What the Service has taken, which is followed up now. */
  take(key: string): Taken {
    const taken = this.#byKey.get(key) ?? NOTHING;
    this.#byKey.delete(key);
    return taken;
  }
}
