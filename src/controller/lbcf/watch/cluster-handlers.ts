/** Enqueues the groups, Binds, records and gates that a change of a pod, Service or node affects. */
import { desiredAdminState } from "../../../core/admin-state/reconcile-admin-state.ts";
import type { BackendGroup, Pod } from "../../../core/lbcf/objects/objects.ts";
import { isSelected } from "../../../core/lbcf/pods/pods.ts";
import type { Node, Service } from "../../../core/model/kubernetes.ts";
import type { Change } from "../../../kube/cache/store.ts";
import { keyOf, type KubeObject } from "../../../kube/client/resources.ts";
import { sameLabelsAndAddresses, sameRegistration } from "./change-predicates.ts";
import type { WatchHandlersOptions } from "./watch-handlers.ts";

export type ClusterHandlersOptions = Pick<
  WatchHandlersOptions,
  "cache" | "groups" | "binds" | "records" | "gates" | "states"
>;

export class ClusterHandlers {
  readonly #options: ClusterHandlersOptions;

  constructor(options: ClusterHandlersOptions) {
    this.#options = options;
  }

  pod(change: Change<Pod>): void {
    const { cache, records, gates } = this.#options;
    const { object } = change;
    gates.enqueue(object);
    const old = change.kind === "updated" ? change.old : undefined;
    if (old !== undefined && sameRegistration(old, object)) return;
    records.enqueue(cache.records.objects.by("pod", keyOf(object)));
    this.#enqueueSelecting(object, old);
  }

  #enqueueSelecting(pod: Pod, old: Pod | undefined): void {
    const { cache, groups, binds } = this.#options;
    const selects = ({ spec: { backends } }: BackendGroup): boolean =>
      backends.kind === "Pod" &&
      (isSelected(pod, backends.select) || (old !== undefined && isSelected(old, backends.select)));
    const { namespace } = pod.metadata;
    for (const group of cache.groups.objects.by("namespace", namespace))
      if (selects(group)) groups.enqueue(keyOf(group));
    for (const bind of cache.binds.objects.by("namespace", namespace))
      if (selects(bind.group)) binds.enqueue(keyOf(bind));
  }

  service(service: Service & KubeObject): void {
    const { cache, groups } = this.#options;
    for (const group of cache.groups.objects.by("service", keyOf(service))) groups.enqueue(keyOf(group));
  }

  node(change: Change<Node & KubeObject>): void {
    const { cache, groups, records, states } = this.#options;
    const { object } = change;
    const old = change.kind === "updated" ? change.old : undefined;
    const isDownNow = change.kind !== "deleted" && desiredAdminState(object) === "Down";
    const wasDown = old !== undefined && desiredAdminState(old) === "Down";
    if (isDownNow !== wasDown && change.kind !== "deleted") void states.sync("drain");
    const isSame = old !== undefined && sameLabelsAndAddresses(old, object);
    if (isSame) return;
    records.enqueue(cache.records.objects.by("node", object.metadata.name));
    for (const group of cache.groups.objects.store.values()) {
      if (group.spec.backends.kind === "Service") groups.enqueue(keyOf(group));
    }
  }
}
