/**
 * Pods that are added, removed, terminated, moved and change their readiness, and the kubelet's part in it: a pod is Ready
 * once its containers are and its readiness gates are open. The controller opens the gates.
 */
import type { KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { Random } from "../environment/random.ts";
import type { SimulatedKubernetes } from "../environment/simulated-kubernetes.ts";
import type { Timeline } from "../environment/timeline.ts";

export const POD_SLOTS = 6;
/** Label of the pods of even slots, and of odd ones. */
export const APPS = ["web", "api"] as const;
export const GATE = "lbcf.tkestack.io/registered";

export type PodAction = "add" | "remove" | "terminate" | "ready" | "unready" | "move";

export function drawPodAction(random: Random): PodAction {
  return random.weighted({ add: 6, remove: 2, terminate: 2, ready: 2, unready: 2, move: 1 });
}

const PODS = "/api/v1/namespaces/default/pods";
const GRACE_MS = 30_000;
const KUBELET_MS = 50;

export interface PodsOptions {
  readonly cluster: SimulatedKubernetes;
  readonly timeline: Timeline;
  readonly nodes: readonly string[];
  /** Some pods have LBCF's readiness gate. */
  readonly hasGates: boolean;
}

export class Pods {
  readonly #options: PodsOptions;

  constructor(options: PodsOptions) {
    this.#options = options;
    if (options.hasGates) options.cluster.api.subscribe(({ collection, object }) => this.#onChange(collection, object));
  }

  perform(how: PodAction, slot: number): void {
    const { cluster, timeline } = this.#options;
    const name = `pod-${slot}`;
    const original = `10.240.100.${10 + slot}`;
    switch (how) {
      case "add":
        if (this.#add(name, slot)) this.#patchStatus(name, { podIP: original, isReady: true });
        return;
      case "remove":
        return this.#kill(name);
      case "terminate": {
        const { uid } = cluster.send("DELETE", `${PODS}/${name}`)?.metadata ?? {};
        timeline.after(GRACE_MS, () => {
          if (this.#find(name)?.metadata.uid === uid) this.#kill(name);
        });
        return;
      }
      case "ready":
      case "unready":
        return this.#patchStatus(name, { isReady: how === "ready" });
      case "move": {
        const hasOriginal = addressOfPod(this.#find(name)) === original;
        return this.#patchStatus(name, { podIP: hasOriginal ? `10.240.101.${10 + slot}` : original, isReady: true });
      }
    }
  }

  #add(name: string, slot: number): boolean {
    const { cluster, nodes, hasGates } = this.#options;
    const metadata = { name, labels: { app: APPS[slot % APPS.length] } };
    const readinessGates = hasGates && slot % 3 === 0 ? [{ conditionType: GATE }] : [];
    const nodeName = nodes[slot % nodes.length];
    const spec = { nodeName, containers: [{ name: "c", image: "i" }], readinessGates };
    return cluster.send("POST", PODS, { metadata, spec }) !== undefined;
  }

  #patchStatus(name: string, { podIP, isReady }: { readonly podIP?: string; readonly isReady: boolean }): void {
    const pod = this.#find(name);
    if (pod === undefined) return;
    const address = podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] };
    const others = conditionsOf(pod).filter(({ type }) => type !== "Ready" && type !== "ContainersReady");
    const conditions = [
      ...others,
      { type: "Ready", status: isReady && isOpen(pod) ? "True" : "False" },
      { type: "ContainersReady", status: isReady ? "True" : "False" },
    ];
    const status = { phase: "Running", conditions, ...address };
    this.#options.cluster.send("PATCH", `${PODS}/${name}/status`, { status });
  }

  /** The kubelet updates Ready when a gate changes. */
  #onChange(collection: string, pod: KubeObject): void {
    const { name = "" } = pod.metadata;
    if (collection !== "pods" || !isGated(pod) || isReadyConsistent(pod)) return;
    this.#options.timeline.after(KUBELET_MS, () => {
      const now = this.#find(name);
      if (now !== undefined && !isReadyConsistent(now))
        this.#patchStatus(name, { isReady: isTrue(now, "ContainersReady") });
    });
  }

  #find(name: string): KubeObject | undefined {
    return this.#options.cluster.object("pods", `default/${name}`);
  }

  #kill(name: string): void {
    const query = { gracePeriodSeconds: "0" };
    const kind = "application/json";
    const path = `${PODS}/${name}`;
    this.#options.cluster.request({ method: "DELETE", path, query, accept: kind, contentType: kind, body: undefined });
  }
}

export function addressOfPod(pod: KubeObject | undefined): string {
  return (pod?.["status"] as { podIP?: string } | undefined)?.podIP ?? "";
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

function conditionsOf(pod: KubeObject): readonly Condition[] {
  return (pod["status"] as { conditions?: Condition[] } | undefined)?.conditions ?? [];
}

export function isTrue(pod: KubeObject, condition: string): boolean {
  return conditionsOf(pod).some(({ type, status }) => type === condition && status === "True");
}

/** Whether it has LBCF's readiness gate. */
export function isGated(pod: KubeObject): boolean {
  const { readinessGates = [] } = pod["spec"] as { readinessGates?: { conditionType: string }[] };
  return readinessGates.some(({ conditionType }) => conditionType === GATE);
}

function isOpen(pod: KubeObject): boolean {
  return !isGated(pod) || isTrue(pod, GATE);
}

function isReadyConsistent(pod: KubeObject): boolean {
  return isTrue(pod, "Ready") === (isTrue(pod, "ContainersReady") && isOpen(pod));
}
