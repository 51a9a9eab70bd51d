/**
 * Sets the admin states of pool entries as their nodes require: one write per pool, however many backends a node has.
 * Runs when a node's desired admin state changes, at the start and at every resync, since a state set before a restart
 * must be reset too. It never adds entries.
 */
import type { AdminState } from "../../../core/model/arm.ts";
import type { ClusterConfig } from "../../../core/config/cluster-config.ts";
import { nameOfId, parentId, virtualNetworkId } from "../../../core/model/ids.ts";
import { poolOf, recordMistake } from "../../../core/lbcf/azure/azure-record.ts";
import { entryName } from "../../../core/lbcf/azure/merge-backends.ts";
import { AZURE_DRIVER } from "../../../core/lbcf/objects/names.ts";
import type { BackendRecord } from "../../../core/lbcf/objects/objects.ts";
import { isLive } from "../../../core/lbcf/records/reconcile-backend-record.ts";
import { referencedKey } from "../../../core/lbcf/objects/references.ts";
import type { Log } from "../../../core/util/log.ts";
import type { BackendBatcher } from "./backend-batcher.ts";
import type { WriteThroughStore } from "../../../kube/cache/store.ts";

export interface BackendAdminStatesOptions {
  readonly config: ClusterConfig;
  readonly records: WriteThroughStore<BackendRecord>;
  readonly batcher: BackendBatcher;
  /** Name of the node that the backend is on. */
  readonly nodeOf: (record: BackendRecord) => string | undefined;
  readonly adminStateOf: (record: BackendRecord) => AdminState | undefined;
  readonly log: Log;
}

const DEDUP_KEY = "states";

export class BackendAdminStates {
  readonly #options: BackendAdminStatesOptions;

  constructor(options: BackendAdminStatesOptions) {
    this.#options = options;
  }

  /** `load balancer/pool` of those that records of the node are in, once it is Down there; `undefined`: it is not yet. */
  async down(node: string): Promise<readonly string[] | undefined> {
    const mine = this.#live().filter((record) => this.#options.nodeOf(record) === node);
    const pools = [...new Set(mine.map(poolOf))];
    if (pools.length === 0) return [];
    const failed = await this.sync("drain");
    if (pools.some((id) => failed.includes(id))) return undefined;
    return pools.map((id) => `${nameOfId(parentId(id))}/${nameOfId(id)}`);
  }

  /** The pools that were not written. Never throws: a failed write is logged, and repeated at the next run. */
  async sync(priority: "drain" | "resync"): Promise<readonly string[]> {
    const { config, batcher, log } = this.#options;
    if (!config.enableAdminState) return [];
    const failed: string[] = [];
    const network = virtualNetworkId(config);
    const writes = [...this.#statesByPool()].map(async ([poolId, states]) => {
      const change = { virtualNetworkId: network, change: { kind: "states", states } as const };
      try {
        const committed = await batcher.submit({ poolId, change, dedupKey: DEDUP_KEY, priority, readFirst: false });
        if (committed.kind !== "failed") return;
        failed.push(poolId);
        log.warn(`admin states of ${poolId}: ${committed.failure.message}`);
      } catch (error) {
        failed.push(poolId);
        log.warn(`admin states of ${poolId}: ${String(error)}`);
      }
    });
    await Promise.all(writes);
    return failed;
  }

  /** Of live records, including those about to be registered; a record being deleted drains by itself. */
  #statesByPool(): Map<string, Map<string, AdminState>> {
    const { config, adminStateOf } = this.#options;
    const pools = new Map<string, Map<string, AdminState>>();
    for (const record of this.#live()) {
      const poolId = poolOf(record);
      const state = adminStateOf(record);
      if (state === undefined) continue;
      const states = pools.get(poolId) ?? new Map<string, AdminState>();
      pools.set(poolId, states);
      states.set(entryName(config.clusterName, poolId, record.status.backendAddr).toLowerCase(), state);
    }
    return pools;
  }

  #live(): BackendRecord[] {
    const { config, records } = this.#options;
    const all = [...records.by("driver", referencedKey(AZURE_DRIVER, ""))];
    return all.filter((record) => isLive(record) && recordMistake(record, config) === undefined);
  }
}
