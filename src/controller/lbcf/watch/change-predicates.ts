/** Which changes of an object affect others. */
import { findCondition } from "../../../core/lbcf/objects/conditions.ts";
import type { BackendRecord, Pod } from "../../../core/lbcf/objects/objects.ts";
import { isAvailable } from "../../../core/lbcf/pods/pods.ts";
import type { Node } from "../../../core/model/kubernetes.ts";
import type { Change } from "../../../kube/cache/store.ts";
import { type KubeObject, sameJson } from "../../../kube/client/resources.ts";

/** Whether both versions of the pod are registered alike: same readiness, address, phase, deletion and labels. */
export function sameRegistration(old: Pod, now: Pod): boolean {
  return (
    isAvailable(old) === isAvailable(now) &&
    old.ip === now.ip &&
    old.phase === now.phase &&
    old.metadata.deletionTimestamp === now.metadata.deletionTimestamp &&
    sameJson(old.metadata.labels, now.metadata.labels)
  );
}

/** Only the status changed: the controller wrote it, and its reconciliation continues by itself. */
export function isStatusOnly<T extends KubeObject>(change: Change<T>): boolean {
  return change.kind === "updated" && sameJson(change.old.metadata, change.object.metadata, "resourceVersion");
}

/** A change that affects other records of the address, or the pod's readiness gate. */
export function changesRegistration(old: BackendRecord, now: BackendRecord): boolean {
  return (
    changesCount(old, now) ||
    old.status.backendAddr !== now.status.backendAddr ||
    old.status.registeredAddr !== now.status.registeredAddr ||
    old.metadata.deletionTimestamp !== now.metadata.deletionTimestamp
  );
}

/** A change of the owner's count of registered backends, and of nothing else that the owner looks at. */
export function changesCount(old: BackendRecord, now: BackendRecord): boolean {
  return registered(old) !== registered(now);
}

function registered({ status }: BackendRecord): string | undefined {
  return findCondition(status.conditions, "Registered")?.status;
}

export function isUnsettled({ metadata, status }: BackendRecord): boolean {
  return metadata.deletionTimestamp !== undefined || findCondition(status.conditions, "Registered")?.status !== "True";
}

/** Its registration was not answered yet, neither well nor badly. */
export function isUnanswered(record: BackendRecord): boolean {
  return record.metadata.deletionTimestamp === undefined && registered(record) === undefined;
}

/** Whether both versions of the node have the same labels and addresses. */
export function sameLabelsAndAddresses(old: Node, now: Node): boolean {
  return sameJson(old.metadata.labels, now.metadata.labels) && sameJson(old.status.addresses, now.status.addresses);
}
