/**
 * The readiness gate of LBCF (lb-controlling-framework): it is open if and only if the pod is in its load balancers.
 *
 *   checked             | what must not happen
 *   --------------------|---------------------------------------------------------------------------------------
 *   at every change     | it opens for a pod that has not been added to any pool
 *   at every change     | it closes although the pod's address has not changed since it opened
 *   settled             | it is closed although the pod is in every pool that should have it
 */
import type { HistoryEntry } from "../../sandbox/kubernetes/model/contract.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import type { SimulatedKubernetes } from "../environment/simulated-kubernetes.ts";
import { addressOfPod, GATE, isGated, isTrue } from "../actions/pods.ts";
import type { Law, Report } from "./law.ts";
import { entriesIn, type RecordLaw } from "./record-law.ts";

export interface GateLawOptions {
  readonly report: Report;
  readonly cluster: SimulatedKubernetes;
  readonly records: RecordLaw;
}

export class GateLaw implements Law {
  readonly #options: GateLawOptions;
  /** Addresses that a write has ever added to a pool. */
  readonly #registered = new Set<string>();
  /** uid of a pod → all addresses that it has had. */
  readonly #addresses = new Map<string, Set<string>>();

  constructor(options: GateLawOptions) {
    this.#options = options;
  }

  onOurWrite({ touched }: ArmWrite): void {
    for (const { after } of touched)
      for (const key of entriesIn(after)) this.#registered.add(key.slice(key.lastIndexOf(" ") + 1));
  }

  onChange({ collection, object, previous }: HistoryEntry): void {
    if (collection !== "pods" || !isGated(object)) return;
    const { uid = "", name } = object.metadata;
    const addresses = this.#addresses.get(uid) ?? new Set();
    this.#addresses.set(uid, addresses.add(addressOfPod(object)));
    const [was, is] = [previous !== undefined && isTrue(previous, GATE), isTrue(object, GATE)];
    if (is && !was && ![...addresses].some((address) => this.#registered.has(address)))
      this.#options.report("gate", `the gate of ${name} opens, and it is in no pool`);
    if (was && !is && addresses.size === 2)
      // the initial empty one, and one more
      this.#options.report("gate", `the gate of ${name} closes, and its address has not changed`);
  }

  checkSettled(): void {
    const { cluster, report, records } = this.#options;
    const found = new Set(records.entries());
    for (const pod of cluster.objects("pods")) {
      if (!isGated(pod) || pod.metadata.deletionTimestamp !== undefined || !isTrue(pod, "ContainersReady")) continue;
      const wanted = records.wantedEntriesOf(pod);
      const isIn = wanted.length > 0 && wanted.every((key) => found.has(key));
      if (isIn && !(isTrue(pod, GATE) && isTrue(pod, "Ready")))
        report("gate", `${pod.metadata.name} is in all its pools, and its gate is closed`);
    }
  }
}
