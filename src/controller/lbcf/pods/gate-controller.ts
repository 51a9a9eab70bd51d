/**
 * Sets the readiness gate of pods once their records are registered. A pod is enqueued when it or one of its records
 * changes.
 */
import type { BackendGroup, BackendRecord, Pod } from "../../../core/lbcf/objects/objects.ts";
import { isRecordOf } from "../../../core/lbcf/records/backend-state.ts";
import { isSelected } from "../../../core/lbcf/pods/pods.ts";
import { reconcileReadinessGate } from "../../../core/lbcf/pods/readiness-gate.ts";
import { allowsNamespace, isBeingDeleted, referencedKey } from "../../../core/lbcf/objects/references.ts";
import { keyOf, PODS } from "../../../kube/client/resources.ts";
import type { Job, Verdict } from "../../../kube/work-queue.ts";
import { DONE, type LbcfContext, LbcfLoop, MANY } from "../lbcf-loop.ts";

export class GateController {
  readonly loop: LbcfLoop;
  readonly #options: LbcfContext;

  constructor(options: LbcfContext) {
    this.#options = options;
    this.loop = new LbcfLoop(PODS, options, (job) => this.#reconcile(job), MANY);
  }

  enqueue(pod: Pod): void {
    if (pod.gate !== undefined) this.loop.enqueue(keyOf(pod));
  }

  enqueuePodOf({ metadata: { namespace }, spec: { backend } }: BackendRecord): void {
    const pod = backend.kind === "Pod" ? this.#options.cache.pods.store.get(`${namespace}/${backend.name}`) : undefined;
    if (pod !== undefined) this.enqueue(pod);
  }

  async #reconcile({ key }: Job): Promise<Verdict> {
    const { cache, writer } = this.#options;
    const pod = cache.pods.store.get(key);
    if (pod === undefined) return DONE;
    const records = cache.records.objects.by("pod", key).filter((record) => isRecordOf(record, pod));
    const decision = reconcileReadinessGate({ pod, records, wanted: () => this.#wanted(pod) });
    if (decision !== undefined) await writer.setGate(pod, decision);
    return DONE;
  }

  /** The number of records that the groups selecting the pod want for it. */
  #wanted(pod: Pod): number | undefined {
    const { groups, binds } = this.#options.cache;
    const { namespace } = pod.metadata;
    const all = [
      ...groups.objects.by("namespace", namespace),
      ...binds.objects.by("namespace", namespace).map((bind) => bind.group),
    ];
    const selecting = all.filter(
      ({ metadata, spec: { backends } }) =>
        backends.kind === "Pod" && isSelected(pod, backends.select) && !isBeingDeleted(metadata),
    );
    if (selecting.length === 0) return undefined;
    return selecting.reduce((sum, group) => sum + this.#recordsOf(group), 0);
  }

  #recordsOf({ kind, metadata: { namespace }, spec: { backends, loadBalancers } }: BackendGroup): number {
    const ports = backends.kind === "Pod" ? backends.ports.length : 0;
    const serving = loadBalancers.filter((name) => kind === "Bind" || this.#serves(name, namespace));
    return ports * serving.length;
  }

  /** The gate does not wait for a load balancer that is being deleted or does not serve the namespace. */
  #serves(name: string, namespace: string): boolean {
    const lb = this.#options.cache.loadBalancers.objects.get(referencedKey(name, namespace));
    return lb === undefined || (!isBeingDeleted(lb.metadata) && allowsNamespace(lb, namespace));
  }
}
