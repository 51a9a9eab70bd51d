/** The state of the pod, node or address that a record refers to. */
import type { Node } from "../../model/kubernetes.ts";
import { recordName } from "../objects/names.ts";
import type { BackendRecord, Pod } from "../objects/objects.ts";
import { graceEndMs, isAvailable, isTerminating } from "../pods/pods.ts";

export type BackendState =
  /** `source`: what an address would be generated from now. */
  | { readonly kind: "present"; readonly source: string }
  /** It exists, but must not be registered if it is not yet. */
  | { readonly kind: "unready"; readonly source: string | undefined }
  /** A terminating pod; its connections may last until then. */
  | { readonly kind: "ending"; readonly untilMs: number }
  | { readonly kind: "gone" };

export interface RecordReferences {
  /** The pod that the record names; `undefined` when there is none of that name. */
  readonly pod: Pod | undefined;
  /** The node of a Service backend. */
  readonly node: Node | undefined;
}

export function backendState(record: BackendRecord, { pod, node }: RecordReferences): BackendState {
  const { backend } = record.spec;
  switch (backend.kind) {
    case "Static":
      return { kind: "present", source: backend.address };
    case "Service": {
      const address = node?.status.addresses?.find(({ type }) => type === "InternalIP")?.address;
      if (node === undefined) return { kind: "gone" };
      if (address === undefined) return { kind: "unready", source: undefined };
      return { kind: "present", source: `${address}:${backend.nodePort}` };
    }
    case "Pod":
      if (pod === undefined || !isRecordOf(record, pod)) return { kind: "gone" };
      if (isTerminating(pod)) return { kind: "ending", untilMs: graceEndMs(pod) };
      if (isAvailable(pod) && pod.ip !== undefined) return { kind: "present", source: pod.ip };
      return { kind: "unready", source: pod.ip };
  }
}

/** Another pod may have the name by now. Records of an older LBCF hold the pod's uid only as part of their own name. */
export function isRecordOf({ metadata, spec: { lbName, backend } }: BackendRecord, pod: Pod): boolean {
  if (backend.kind !== "Pod") return false;
  const { uid } = pod.metadata;
  if (backend.uid !== undefined) return backend.uid === uid;
  const { owner } = metadata;
  if (owner === undefined || owner.kind !== "BackendGroup") return true;
  const group = { kind: "BackendGroup" as const, metadata: { ...metadata, name: owner.name } };
  return recordName(group, lbName, { ...backend, uid }) === metadata.name;
}
