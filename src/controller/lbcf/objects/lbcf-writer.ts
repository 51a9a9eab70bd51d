/**
 * All writes to LBCF's objects and to the readiness gate of pods. Each has the object's uid as a precondition; the result
 * goes into the store at once. A missing object is not a failure: there is nothing left to write.
 */
import type { Clock } from "../../../core/util/clock.ts";
import { timestamp } from "../../../core/lbcf/objects/conditions.ts";
import { FINALIZER, REGISTERED_GATE } from "../../../core/lbcf/objects/names.ts";
import type { BackendGroup, BackendRecord, Pod, RecordSpec, RecordStatus } from "../../../core/lbcf/objects/objects.ts";
import { newRecord, type RecordDraft, recordSpecOnWire } from "../../../core/lbcf/records/record-spec.ts";
import { readBackendRecord } from "../../../core/lbcf/records/read-backend-record.ts";
import type { GateDecision } from "../../../core/lbcf/pods/readiness-gate.ts";
import type { KubeClient } from "../../../kube/client/kube-client.ts";
import { isFailure, unlessGone } from "../../../kube/client/kube-failure.ts";
import { type Patch, PODS, type KubeObject, type Resource } from "../../../kube/client/resources.ts";
import type { WriteThroughStore } from "../../../kube/cache/store.ts";
import type { LbcfMetrics } from "../lbcf-metrics.ts";
import type { ConcurrencyLimit } from "../concurrency-limit.ts";
import { BACKEND_RECORDS } from "./resources.ts";

export interface LbcfWriterOptions {
  /** Fenced: it writes only while the lease is held. */
  readonly client: KubeClient;
  readonly records: WriteThroughStore<BackendRecord>;
  readonly metrics: LbcfMetrics;
  /** Bounds concurrent writes. */
  readonly limit: ConcurrencyLimit;
  readonly clock: Clock;
}

/** Replaces the status: a merge patch would keep removed keys of maps. The controller is its only writer. */
function wholeStatus(status: object): Patch {
  return { json: [{ op: "add", path: "/status", value: status }] };
}

type Operation = "Create" | "Update" | "UpdateStatus" | "Delete";

const CONFLICT_TRIES = 5;

export class LbcfWriter {
  readonly #options: LbcfWriterOptions;

  constructor(options: LbcfWriterOptions) {
    this.#options = options;
  }

  /**
   * A record that exists already was created by this controller or its predecessor: the watch will deliver it. One of
   * another owner has the name by chance: the failure is retried, and the group then chooses another name.
   */
  async createRecord(group: BackendGroup, draft: RecordDraft): Promise<void> {
    const body = newRecord(group, draft);
    try {
      const stored = await this.#timed("Create", () => this.#options.client.create<KubeObject>(BACKEND_RECORDS, body));
      this.#options.records.wrote(readBackendRecord(stored));
    } catch (error) {
      if (!isFailure(error, "alreadyExists")) throw error;
      const { namespace, name } = body.metadata;
      const there = await unlessGone(() => this.#options.client.get<KubeObject>(BACKEND_RECORDS, { namespace, name }));
      if (there === undefined || readBackendRecord(there).metadata.owner?.uid !== group.metadata.uid) throw error;
    }
  }

  async updateRecord(record: BackendRecord, spec: RecordSpec): Promise<void> {
    await this.#record("Update", record, { json: [{ op: "replace", path: "/spec", value: recordSpecOnWire(spec) }] });
  }

  async storeRecordStatus(record: BackendRecord, status: RecordStatus): Promise<void> {
    await this.#record("UpdateStatus", record, wholeStatus(status), "status");
  }

  async deleteRecord(record: BackendRecord): Promise<void> {
    const { namespace, name, uid } = record.metadata;
    await unlessGone(() =>
      this.#timed("Delete", () => this.#options.client.delete(BACKEND_RECORDS, { namespace, name }, { uid })),
    );
  }

  async addRecordFinalizer(record: BackendRecord): Promise<void> {
    const stored = await this.addFinalizer(BACKEND_RECORDS, record, FINALIZER.record);
    if (stored !== undefined) this.#options.records.wrote(readBackendRecord(stored));
  }

  async releaseRecord(record: BackendRecord): Promise<void> {
    const stored = await this.removeFinalizer(BACKEND_RECORDS, record, FINALIZER.record);
    this.#options.records.released(record, stored && readBackendRecord(stored));
  }

  /** For any kind. `undefined` when the object is gone. */
  async storeStatus(resource: Resource, object: KubeObject, status: object): Promise<KubeObject | undefined> {
    const { namespace, name, uid } = object.metadata;
    const place = { namespace, name, subresource: "status" } as const;
    return unlessGone(() =>
      this.#limited(() => this.#options.client.patch<KubeObject>(resource, place, wholeStatus(status), { uid })),
    );
  }

  addFinalizer(resource: Resource, object: KubeObject, finalizer: string): Promise<KubeObject | undefined> {
    return this.#changeFinalizers(resource, object, (all) => (all.includes(finalizer) ? all : [...all, finalizer]));
  }

  removeFinalizer(resource: Resource, object: KubeObject, finalizer: string): Promise<KubeObject | undefined> {
    return this.#changeFinalizers(resource, object, (all) => all.filter((each) => each !== finalizer));
  }

  async setGate(pod: Pod, { status, reason, message }: GateDecision): Promise<void> {
    const { namespace, name, uid } = pod.metadata;
    const lastTransitionTime = timestamp(this.#options.clock.nowMs());
    const condition = { type: REGISTERED_GATE, status, reason, message, lastTransitionTime };
    const patch = { strategic: { status: { conditions: [condition] } } };
    const place = { namespace, name, subresource: "status" } as const;
    await unlessGone(() => this.#limited(() => this.#options.client.patch(PODS, place, patch, { uid })));
  }

  /**
   * Returns the stored object; `undefined` when nothing had to change, or the object is gone. A merge patch replaces the
   * list, so it has the resourceVersion as a precondition: finalizers of other controllers are safe.
   */
  async #changeFinalizers(
    resource: Resource,
    object: KubeObject,
    change: (all: readonly string[]) => readonly string[],
  ): Promise<KubeObject | undefined> {
    const { client } = this.#options;
    const { namespace, name, uid } = object.metadata;
    let current: KubeObject = object;
    for (let tries = 1; ; tries++) {
      const before = current.metadata.finalizers ?? [];
      const finalizers = change(before);
      // `object` is a projection, not the stored object: a caller must not project it again
      if (finalizers.length === before.length) return current === object ? undefined : current;
      const only = { uid, resourceVersion: current.metadata.resourceVersion };
      const write = (): Promise<KubeObject> =>
        client.patch<KubeObject>(resource, { namespace, name }, { merge: { metadata: { finalizers } } }, only);
      try {
        const isRecord = resource === BACKEND_RECORDS;
        return await unlessGone(() => (isRecord ? this.#timed("Update", write) : this.#limited(write)));
      } catch (error) {
        if (!isFailure(error, "conflict") || tries === CONFLICT_TRIES) throw error;
        const fresh = await unlessGone(() => client.get<KubeObject>(resource, { namespace, name }));
        if (fresh === undefined || fresh.metadata.uid !== uid) return undefined;
        current = fresh;
      }
    }
  }

  async #record(operation: Operation, record: BackendRecord, patch: Patch, subresource?: "status"): Promise<void> {
    const { namespace, name, uid } = record.metadata;
    const stored = await unlessGone(() =>
      this.#timed(operation, () =>
        this.#options.client.patch<KubeObject>(BACKEND_RECORDS, { namespace, name, subresource }, patch, { uid }),
      ),
    );
    if (stored === undefined) this.#options.records.lost(record);
    else this.#options.records.wrote(readBackendRecord(stored));
  }

  #limited<T>(write: () => Promise<T>): Promise<T> {
    return this.#options.limit.run(write);
  }

  /** LBCF measures writes of records only. */
  #timed<T>(type: Operation, write: () => Promise<T>): Promise<T> {
    const { clock, metrics } = this.#options;
    return this.#limited(async () => {
      const startMs = clock.monotonicMs();
      try {
        return await write();
      } finally {
        const seconds = (clock.monotonicMs() - startMs) / 1_000;
        metrics.operations.observe({ k8s_op_obj: "BackendRecord", k8s_op_type: type }, seconds);
      }
    });
  }
}
