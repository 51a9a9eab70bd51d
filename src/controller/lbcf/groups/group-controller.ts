/**
 * Reconciles BackendGroups: finalizer, records (`group-sync.ts`) and status. The handlers in `watch/`
 * enqueue:
 *
 *   event                                                     | groups enqueued
 *   ----------------------------------------------------------|--------------------------------------------------
 *   a group changed, or exists at the start                   | that one
 *   a pod was added, deleted, or changed labels, address or   | those that select it, or did
 *     readiness                                               |
 *   a Service changed                                         | those that name it
 *   a node changed                                            | all with Service backends
 *   a load balancer or its driver changed                     | those that name it, in any namespace
 *   a record was deleted, or is to be                         | its owner
 *   a record was added or (de)registered                      | its owner, once a second while more follow
 */
import { withCondition } from "../../../core/lbcf/objects/conditions.ts";
import { sameStatus } from "../../../core/lbcf/groups/group-status.ts";
import { FINALIZER } from "../../../core/lbcf/objects/names.ts";
import type { BackendGroup, GroupStatus } from "../../../core/lbcf/objects/objects.ts";
import { isBeingDeleted } from "../../../core/lbcf/objects/references.ts";
import type { KubeClient } from "../../../kube/client/kube-client.ts";
import { keyOf } from "../../../kube/client/resources.ts";
import type { Job, Verdict } from "../../../kube/work-queue.ts";
import { CountPace } from "./count-pace.ts";
import type { GroupSync } from "./group-sync.ts";
import { DONE, later, type LbcfContext, LbcfLoop } from "../lbcf-loop.ts";
import type { LoadBalancerLookup } from "./load-balancer-lookup.ts";
import { deleteRecordsWithoutOwner } from "./records-without-owner.ts";
import { BACKEND_GROUPS } from "../objects/resources.ts";

export interface GroupControllerOptions extends LbcfContext {
  readonly sync: GroupSync;
  readonly lookup: LoadBalancerLookup;
  readonly client: KubeClient;
}

/** Pods and records change in bursts; a burst is one reconciliation. */
const DEBOUNCE_MS = 100;
const ORPHAN_FINALIZER = "orphan";

export class GroupController {
  readonly loop: LbcfLoop;
  readonly #options: GroupControllerOptions;
  readonly #counts: CountPace;

  constructor(options: GroupControllerOptions) {
    this.#options = options;
    this.#counts = new CountPace(options.clock);
    this.loop = new LbcfLoop(BACKEND_GROUPS, options, (job) => this.#reconcile(job));
  }

  enqueue(key: string, afterMs = DEBOUNCE_MS): void {
    this.loop.enqueue(key, afterMs);
  }

  enqueueCount(key: string): void {
    this.loop.enqueue(key, this.#counts.delayMs(key, DEBOUNCE_MS));
  }

  async #reconcile({ key }: Job): Promise<Verdict> {
    const { cache, writer } = this.#options;
    const group = cache.groups.objects.get(key);
    await deleteRecordsWithoutOwner(this.#options, BACKEND_GROUPS, key, group);
    this.#counts.counted(key, group !== undefined);
    if (group === undefined) return DONE;
    if (isBeingDeleted(group.metadata)) return this.#reconcileDeleted(group);
    const hasFinalizer = group.metadata.finalizers?.includes(FINALIZER.group) ?? false;
    if (!hasFinalizer && group.metadata.deletionTimestamp === undefined) {
      cache.groups.wrote(await writer.addFinalizer(BACKEND_GROUPS, group, FINALIZER.group));
    }
    return this.#reconcileLive(group);
  }

  async #reconcileLive(group: BackendGroup): Promise<Verdict> {
    const { sync, lookup, events } = this.#options;
    const { status, texts, failure, againAfterMs } = await sync.run(group, await lookup.of(group));
    for (const text of texts) events.emit(BACKEND_GROUPS, group, text);
    await this.#store(group, status);
    if (failure !== undefined) throw failure.error;
    return later(againAfterMs);
  }

  /** The finalizer stays until all records are gone: then the load balancers hold no backend of the group. */
  async #reconcileDeleted(group: BackendGroup): Promise<Verdict> {
    const { writer, cache } = this.#options;
    const finalizers = group.metadata.finalizers ?? [];
    if (!finalizers.includes(FINALIZER.group)) return DONE;
    const records = cache.records.objects.by("owner", `BackendGroup ${keyOf(group)}`);
    const own = records.filter(({ metadata }) => metadata.owner?.uid === group.metadata.uid);
    const isOver = own.length === 0 || finalizers.includes(ORPHAN_FINALIZER);
    if (isOver) {
      cache.groups.released(group, await writer.removeFinalizer(BACKEND_GROUPS, group, FINALIZER.group));
      return DONE;
    }
    for (const record of own) {
      if (record.metadata.deletionTimestamp === undefined) await writer.deleteRecord(record);
    }
    const message = "its backend records are being deregistered first";
    const update = { type: "Deletable", status: "False", reason: "RecordsRemain", message } as const;
    const conditions = withCondition(group.status.conditions, update, this.#options.clock.nowMs());
    await this.#store(group, { ...group.status, conditions });
    return DONE; // enqueued again when the records are deleted
  }

  async #store(group: BackendGroup, status: GroupStatus): Promise<void> {
    if (sameStatus(status, group.status)) return;
    const { cache, writer } = this.#options;
    cache.groups.wrote(await writer.storeStatus(BACKEND_GROUPS, group, status));
  }
}
