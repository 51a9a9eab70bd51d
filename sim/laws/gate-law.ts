/**
 * The readiness gate of pods: it says that a pod is in the load balancers, and nothing less.
 *
 *   checked             | what must not happen
 *   --------------------|---------------------------------------------------------------------------------------
 *   at every change     | it opens for a pod that nobody has put into any pool
 *   at every change     | it closes although the pod has had no other address since it opened
 *   at rest             | it is closed where the pod is in every pool that anything wants it in
 */
import type { HistoryEntry } from "../../sandbox/kubernetes/model/contract.ts";
import type { ArmWrite } from "../environment/simulated-azure.ts";
import type { ClusterSide } from "../environment/simulated-kubernetes.ts";
import { addressOfPod, GATE, isGated, isTrue } from "../actions/pods.ts";
import type { Law, Report } from "./law.ts";
import { placesIn, type RecordLaw } from "./record-law.ts";

export interface GateLawOptions {
  readonly report: Report;
  readonly cluster: ClusterSide;
  readonly records: RecordLaw;
}

export class GateLaw implements Law {
  readonly #options: GateLawOptions;
  /** Addresses that a write has ever put into a pool. */
  readonly #registered = new Set<string>();
  /** uid of a pod → all addresses that it has had. */
  readonly #addresses = new Map<string, Set<string>>();

  constructor(options: GateLawOptions) {
    this.#options = options;
  }

  onOurWrite({ touched }: ArmWrite): void {
    for (const { after } of touched)
      for (const place of placesIn(after)) this.#registered.add(place.slice(place.lastIndexOf(" ") + 1));
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
      // none, and one
      this.#options.report("gate", `the gate of ${name} closes, and its address is what it was`);
  }

  judgeSettled(): void {
    const { cluster, report, records } = this.#options;
    const found = new Set(records.entries());
    for (const pod of cluster.objects("pods")) {
      if (!isGated(pod) || pod.metadata.deletionTimestamp !== undefined || !isTrue(pod, "ContainersReady")) continue;
      const places = records.placesOf(pod);
      const isIn = places.length > 0 && places.every((place) => found.has(place));
      if (isIn && !(isTrue(pod, GATE) && isTrue(pod, "Ready")))
        report("gate", `${pod.metadata.name} is in all its pools, and its gate is closed`);
    }
  }
}
