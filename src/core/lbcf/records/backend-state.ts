/** What has become of the pod, node or address that a record stands for. */
import type { Node } from "../../model/kubernetes.ts";
import { recordName } from "../objects/names.ts";
import type { BackendRecord, Pod } from "../objects/objects.ts";
import { graceEndMs, isAvailable, isTerminating } from "../pods/pods.ts";

export type BackendState =
  /** `source`: what an address would be made from now. */
  | { readonly kind: "present"; readonly source: string }
  /** There, but not to be registered anew. */
  | { readonly kind: "unready"; readonly source: string | undefined }
  /** A pod that ends; its connections have until then. */
  | { readonly kind: "ending"; readonly untilMs: number }
  | { readonly kind: "gone" };

export interface Surroundings {
  /** The pod, or the Service's node, that the record names; `undefined`: there is none of that name. */
  readonly pod: Pod | undefined;
  /** The node of either. */
  readonly node: Node | undefined;
}

export function backendState(record: BackendRecord, { pod, node }: Surroundings): BackendState {
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

/** Another pod may bear the name by now. Records that an earlier LBCF made have the uid in their own name alone. */
export function isRecordOf({ metadata, spec: { lbName, backend } }: BackendRecord, pod: Pod): boolean {
  if (backend.kind !== "Pod") return false;
  const { uid } = pod.metadata;
  if (backend.uid !== undefined) return backend.uid === uid;
  const { owner } = metadata;
  if (owner === undefined || owner.kind !== "BackendGroup") return true;
  const naming = { kind: "BackendGroup" as const, metadata: { ...metadata, name: owner.name } };
  return recordName(naming, lbName, { ...backend, uid }) === metadata.name;
}
