/**
 * Reconciles LoadBalancers (`load-balancer-steps.ts`) and stores their state. One is enqueued when it or its driver
 * changes, when a record of it is deleted, and under `Always` every period.
 */
import { FINALIZER } from "../../../core/lbcf/objects/names.ts";
import type { LoadBalancer, LoadBalancerStatus } from "../../../core/lbcf/objects/objects.ts";
import { invalidName } from "../../../core/lbcf/objects/references.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import type { Job, Verdict } from "../../../kube/work-queue.ts";
import { type LbcfContext, LbcfLoop } from "../lbcf-loop.ts";
import type { LoadBalancerStorage, LoadBalancerSteps } from "./load-balancer-steps.ts";
import { LOAD_BALANCERS } from "../objects/resources.ts";

export interface LoadBalancerControllerOptions extends LbcfContext {
  readonly steps: LoadBalancerSteps;
}

export class LoadBalancerController {
  readonly loop: LbcfLoop;
  readonly #options: LoadBalancerControllerOptions;

  constructor(options: LoadBalancerControllerOptions) {
    this.#options = options;
    this.loop = new LbcfLoop(LOAD_BALANCERS, options, (job) => this.#reconcile(job));
  }

  #reconcile({ key }: Job): Promise<Verdict> {
    return this.#options.steps.run(this.#storageOf(key));
  }

  #storageOf(key: string): LoadBalancerStorage {
    const { cache, writer, events } = this.#options;
    const { objects, wrote, released } = cache.loadBalancers;
    return {
      current: () => objects.get(key),
      store: async (lb, status) => wrote(await writer.storeStatus(LOAD_BALANCERS, lb, onWire(lb, status))),
      addFinalizer: async (lb) => wrote(await writer.addFinalizer(LOAD_BALANCERS, lb, FINALIZER.loadBalancer)),
      release: async (lb) => released(lb, await writer.removeFinalizer(LOAD_BALANCERS, lb, FINALIZER.loadBalancer)),
      records: (lb) => cache.records.objects.by("loadBalancer", keyOf(lb)).length,
      invalidName: (lb) => invalidName("LoadBalancer", lb.metadata),
      emit: (lb, text) => events.emit(LOAD_BALANCERS, lb, text),
    };
  }
}

function onWire({ metadata }: LoadBalancer, status: LoadBalancerStatus): object {
  return { observedGeneration: metadata.generation, ...status };
}
