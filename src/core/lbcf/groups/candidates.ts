/**
 * The backends that a group selects now, independent of the load balancers that it names. An unknown set is not an empty
 * one: a Service that is missing or of the wrong type is reported as a problem, and the group's records stay as they are.
 */
import type { EventReason } from "../../events/event-reasons.ts";
import type { Node, Service } from "../../model/kubernetes.ts";
import type { JudgedPods } from "../drivers/driver-answers.ts";
import type { BackendGroup, Backends, KeepPolicy, Pod, Port, RecordedBackend, StringMap } from "../objects/objects.ts";
import { isAvailable, isSelected, isTerminating, matches, mayStay } from "../pods/pods.ts";

export interface Candidate {
  readonly backend: RecordedBackend;
  /** The pod's address. */
  readonly ip?: string;
  /** May be registered now; otherwise an existing record stays, and none is created. */
  readonly isFresh: boolean;
}

/** Conditions tell apart a load balancer that is not there and one that cannot be looked up; events do not. */
export type ProblemReason = EventReason | "LoadBalancerNotFound" | "LoadBalancerUnknown";

export interface Problem {
  readonly reason: ProblemReason;
  /** Names the key, the value and the fix. */
  readonly message: string;
}

export type Candidates =
  | { readonly kind: "known"; readonly candidates: readonly Candidate[] }
  /** No record is created or deleted until the user has fixed this. */
  | { readonly kind: "unknown"; readonly problem: Problem };

export interface Cluster {
  /** Pods of the group's namespace; a superset of those that it selects. */
  readonly pods: readonly Pod[];
  /** Any pod of the namespace. */
  readonly podNamed: { get(name: string): Pod | undefined };
  /** The Service that the group names; `undefined` when it does not exist. */
  readonly service: Service | undefined;
  readonly nodes: readonly Node[];
}

export function candidatesOf(group: BackendGroup, cluster: Cluster, judged: JudgedPods | undefined): Candidates {
  const { backends } = group.spec;
  switch (backends.kind) {
    case "Static":
      return known(backends.addresses.map((address) => ({ backend: { kind: "Static", address }, isFresh: true })));
    case "Service":
      return serviceCandidates(group, cluster);
    case "Pod": {
      const mistake = podsMistake(backends);
      if (mistake !== undefined) return unknown("InvalidSpec", mistake);
      const selected = cluster.pods.filter((pod) => isSelected(pod, backends.select));
      return known(selected.flatMap((pod) => podCandidates(pod, backends.ports, keeps(group, pod, judged))));
    }
  }
}

/** The schema refuses these. An object stored before the schema existed must not deregister every backend. */
function podsMistake({ ports, select }: Extract<Backends, { kind: "Pod" }>): string | undefined {
  if (ports.length === 0) return "pods.ports has no port: give at least one";
  if ("names" in select || Object.keys(select.labels).length > 0) return undefined;
  return "pods selects no pod: give byLabel.selector or byName";
}

function known(candidates: readonly Candidate[]): Candidates {
  return { kind: "known", candidates };
}

function podCandidates(pod: Pod, ports: readonly Port[], keep: boolean): Candidate[] {
  const isFresh = isAvailable(pod);
  if (!isFresh && !keep) return [];
  const { name, uid } = pod.metadata;
  return ports.map((port) => ({
    backend: { kind: "Pod", name, uid, port },
    isFresh,
    ...(pod.ip !== undefined && { ip: pod.ip }),
  }));
}

/** Does a pod that is not available keep the records it has? */
export function keeps(group: BackendGroup, pod: Pod, judged: JudgedPods | undefined): boolean {
  const { deregister } = group.spec;
  if (isTerminating(pod)) return false;
  if (deregister.policy !== "Webhook") return mayStay(pod, deregister.policy);
  if (judged?.kind === "judged") return judged.keep.has(pod.metadata.uid);
  return deregister.onFailure === "DoNothing" || mayStay(pod, deregister.onFailure satisfies KeepPolicy);
}

/** The recorded pods that the driver must judge: not available, but not terminating either. */
export function podsToJudge(group: BackendGroup, { pods }: Cluster, isRecorded: (uid: string) => boolean): Pod[] {
  const { backends, deregister } = group.spec;
  if (backends.kind !== "Pod" || deregister.policy !== "Webhook") return [];
  return pods.filter(
    (pod) =>
      isRecorded(pod.metadata.uid) && isSelected(pod, backends.select) && !isAvailable(pod) && !isTerminating(pod),
  );
}

function serviceCandidates({ spec: { backends } }: BackendGroup, { service, nodes }: Cluster): Candidates {
  if (backends.kind !== "Service") return known([]);
  const { service: name, port, nodeSelector } = backends;
  if (service === undefined) {
    return unknown(
      "ServiceNotFound",
      `there is no Service "${name}" in this namespace: create it, or fix service.name`,
    );
  }
  if (service.spec.type !== "NodePort") {
    const message = `Service "${name}" is of type ${service.spec.type}: make it NodePort, or name another`;
    return unknown("ServiceNotNodePort", message);
  }
  const found = service.spec.ports.find((each) => each.port === port.port && each.protocol === port.protocol);
  if (found?.nodePort === undefined) {
    const message = `Service "${name}" has no port ${port.port}/${port.protocol} with a node port: fix service.port`;
    return unknown("ServicePortNotFound", message);
  }
  return known(
    nodeCandidates(nodes, nodeSelector, { kind: "Service", name, port, nodePort: found.nodePort, nodeName: "" }),
  );
}

function nodeCandidates(
  nodes: readonly Node[],
  selector: StringMap,
  backend: Extract<RecordedBackend, { kind: "Service" }>,
): Candidate[] {
  return nodes
    .filter(({ metadata: { labels = {} } }) => matches(labels, selector))
    .map(({ metadata: { name } }) => ({ backend: { ...backend, nodeName: name }, isFresh: true }));
}

function unknown(reason: ProblemReason, message: string): Candidates {
  return { kind: "unknown", problem: { reason, message } };
}
