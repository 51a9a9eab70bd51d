/**
 * Reconciles Binds: load balancers and a group of pods in one object. Its load balancers are reconciled as LoadBalancers
 * are (`load-balancer-steps.ts`), concurrently, so that a failing one delays no other; its backends as a BackendGroup's
 * are (`group-sync.ts`), in the load balancers that are created. When it is deleted, its records are deleted first.
 */
import { pluralize } from "../../../core/util/text.ts";
import { loadBalancerOf, loadBalancersOf, nameInBind } from "../../../core/lbcf/binds/bind-load-balancers.ts";
import { type EventText, eventText } from "../../../core/events/event-reasons.ts";
import { FINALIZER } from "../../../core/lbcf/objects/names.ts";
import type { Bind } from "../../../core/lbcf/objects/objects.ts";
import type { Lookup } from "../../../core/lbcf/groups/load-balancer-use.ts";
import { isBeingDeleted } from "../../../core/lbcf/objects/references.ts";
import type { KubeClient } from "../../../kube/client/kube-client.ts";
import type { Job, Verdict } from "../../../kube/work-queue.ts";
import { CountPace } from "../groups/count-pace.ts";
import type { GroupSync } from "../groups/group-sync.ts";
import { DONE, later, type LbcfContext, LbcfLoop } from "../lbcf-loop.ts";
import type { LoadBalancerSteps } from "../load-balancers/load-balancer-steps.ts";
import { deleteRecordsWithoutOwner } from "../groups/records-without-owner.ts";
import { BINDS } from "../objects/resources.ts";
import { BindStorage } from "./bind-storage.ts";

export interface BindControllerOptions extends LbcfContext {
  readonly sync: GroupSync;
  readonly steps: LoadBalancerSteps;
  readonly client: KubeClient;
}

const DEBOUNCE_MS = 100;

export class BindController {
  readonly loop: LbcfLoop;
  readonly #options: BindControllerOptions;
  readonly #counts: CountPace;

  constructor(options: BindControllerOptions) {
    this.#options = options;
    this.#counts = new CountPace(options.clock);
    this.loop = new LbcfLoop(BINDS, options, (job) => this.#reconcile(job));
  }

  enqueue(key: string): void {
    this.loop.enqueue(key, DEBOUNCE_MS);
  }

  enqueueCount(key: string): void {
    this.loop.enqueue(key, this.#counts.delayMs(key, DEBOUNCE_MS));
  }

  async #reconcile({ key }: Job): Promise<Verdict> {
    const { cache, writer } = this.#options;
    const bind = cache.binds.objects.get(key);
    await deleteRecordsWithoutOwner(this.#options, BINDS, key, bind);
    this.#counts.counted(key, bind !== undefined);
    if (bind === undefined) return DONE;
    const hasFinalizer = bind.metadata.finalizers?.includes(FINALIZER.loadBalancer) ?? false;
    if (bind.metadata.deletionTimestamp !== undefined && !hasFinalizer) return DONE;
    if (!hasFinalizer) cache.binds.wrote(await writer.addFinalizer(BINDS, bind, FINALIZER.loadBalancer));
    const storage = new BindStorage(cache.binds.objects.get(key) ?? bind, this.#options);
    const names = loadBalancersOf(storage.bind, this.#nowMs()).map(nameInBind);
    const verdicts = await Promise.all(names.map((name) => this.#options.steps.run(storage.storageOf(name))));
    const backends = isBeingDeleted(bind.metadata) ? await this.#deleteRecords(storage) : await this.#sync(storage);
    await storage.stored();
    if (isBeingDeleted(bind.metadata) && storage.isEmpty) {
      cache.binds.released(bind, await writer.removeFinalizer(BINDS, bind, FINALIZER.loadBalancer));
    }
    return soonest([...verdicts, backends]);
  }

  async #sync(storage: BindStorage): Promise<Verdict> {
    const { sync, events } = this.#options;
    const { status, texts, failure, againAfterMs } = await sync.run(storage.bind.group, this.#lookups(storage.bind));
    for (const text of texts) events.emit(BINDS, storage.bind, text);
    storage.setGroupStatus(status);
    await storage.stored();
    if (failure !== undefined) throw failure.error;
    return later(againAfterMs);
  }

  async #deleteRecords(storage: BindStorage): Promise<Verdict> {
    const leaving = storage.records.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (leaving.length > 0) this.#options.events.emit(BINDS, storage.bind, deleteAllBackends(leaving.length));
    await Promise.all(leaving.map((record) => this.#options.writer.deleteRecord(record)));
    return DONE;
  }

  #lookups(bind: Bind): ReadonlyMap<string, Lookup> {
    const { drivers } = this.#options;
    const { namespace } = bind.metadata;
    return new Map(
      bind.spec.loadBalancers.map(({ name, driver }) => {
        const loadBalancer = loadBalancerOf(bind, name, this.#nowMs());
        const lookup: Lookup =
          loadBalancer === undefined
            ? { kind: "missing" }
            : { kind: "found", loadBalancer, driver: drivers.stateOf(driver, namespace) };
        return [name, lookup];
      }),
    );
  }

  #nowMs(): number {
    return this.#options.clock.nowMs();
  }
}

function deleteAllBackends(records: number): EventText {
  return eventText("DeleteAllBackends", `deregisters ${pluralize(records, "backend record")}`);
}

/** The result with the shortest delay. */
function soonest(verdicts: readonly Verdict[]): Verdict {
  const asked = verdicts.filter((verdict) => verdict.kind !== "done");
  const [first] = asked.sort((one, other) => (one.afterMs ?? 0) - (other.afterMs ?? 0));
  return first ?? DONE;
}
