/**
 * The state of one Bind during one reconciliation. Its load balancers are reconciled concurrently and share one status,
 * which is written serially.
 */
import {
  loadBalancerOf,
  withLoadBalancerStatus,
  withoutLoadBalancer,
} from "../../../core/lbcf/binds/bind-load-balancers.ts";
import type { BackendRecord, Bind, GroupStatus, LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import { keyOf, sameJson } from "../../../kube/client/resources.ts";
import type { LbcfContext } from "../lbcf-loop.ts";
import type { LoadBalancerStorage } from "../load-balancers/load-balancer-steps.ts";
import { BINDS } from "../objects/resources.ts";

type BindStorageOptions = Pick<LbcfContext, "cache" | "writer" | "events" | "clock">;

export class BindStorage {
  bind: Bind;
  readonly #options: BindStorageOptions;
  #group: GroupStatus;
  #writing: Promise<void> = Promise.resolve();

  constructor(bind: Bind, options: BindStorageOptions) {
    this.bind = bind;
    this.#options = options;
    this.#group = bind.group.status;
  }

  get records(): BackendRecord[] {
    const records = this.#options.cache.records.objects.by("owner", `Bind ${keyOf(this.bind)}`);
    return records.filter(({ metadata }) => metadata.owner?.uid === this.bind.metadata.uid);
  }

  get isEmpty(): boolean {
    return this.records.length === 0 && this.bind.status.loadBalancerStatuses.length === 0;
  }

  setGroupStatus(status: GroupStatus): void {
    if (!sameJson(status, this.bind.group.status)) {
      this.#group = status;
      void this.#write(); // `stored` waits for it
    }
  }

  /** Resolves once every write is done; rejects with a write's error. */
  stored(): Promise<void> {
    return this.#writing;
  }

  storageOf(name: string): LoadBalancerStorage {
    const { cache, events, clock } = this.#options;
    const key = `bind ${keyOf(this.bind)}/${name}`;
    return {
      current: () => loadBalancerOf(this.bind, name, clock.nowMs()),
      store: (lb, status) => this.#change(withLoadBalancerStatus(this.bind, lb, status)),
      addFinalizer: () => Promise.resolve(),
      release: (lb) => this.#change(withoutLoadBalancer(this.bind, lb)),
      records: () => cache.records.objects.by("loadBalancer", key).length,
      invalidName: () => undefined,
      emit: (_lb: LoadBalancer, text) => events.emit(BINDS, this.bind, text),
    };
  }

  #change(bind: Bind): Promise<void> {
    this.bind = bind;
    return this.#write();
  }

  #write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const { writer, cache } = this.#options;
      const { loadBalancers, ...group } = this.#group;
      const status = {
        ...group,
        loadBalancerNames: this.bind.spec.loadBalancers.map(({ name }) => name).join(","),
        acceptedLoadBalancers: loadBalancers,
        loadBalancerStatuses: this.bind.status.loadBalancerStatuses,
      };
      cache.binds.wrote(await writer.storeStatus(BINDS, this.bind, status));
    });
    return this.#writing;
  }
}
