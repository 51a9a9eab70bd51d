/**
 * Laws of groups and records over random histories: pods come, go, change address and readiness; groups are deleted and
 * made again; lookups fail; and the controller dies between any two steps, also right after a driver did what it was
 * asked and before that was stored. Two groups select the same pods, so that addresses are shared and reused.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { group, loadBalancer, meta, pod } from "../../../test/support/lbcf-objects.ts";
import { backendState } from "./records/backend-state.ts";
import { DEFAULT_DEREGISTRATION_LIMIT } from "./groups/deregistration-limit.ts";
import type { BackendGroup, BackendRecord, Pod } from "./objects/objects.ts";
import { isAvailable } from "./pods/pods.ts";
import { reconcileBackendGroup } from "./groups/reconcile-backend-group.ts";
import {
  addressKey,
  isLive,
  isRegistered,
  reconcileBackendRecord,
  type RecordStep,
} from "./records/reconcile-backend-record.ts";
import { afterDeregister, afterEnsure, afterGenerate, withoutAddress } from "./records/record-status.ts";
import { newRecord, type RecordDraft } from "./records/record-spec.ts";
import { readBackendRecord } from "./records/read-backend-record.ts";

const LB = loadBalancer("lb");
const NAMES = ["web-0", "web-1", "web-2"] as const;
/** Fewer addresses than pods can have over time: they are reused. */
const IPS = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"] as const;
const GROUPS = ["one", "two"] as const;

type Crash = "never" | "before" | "after";

type Action =
  | { readonly kind: "addPod" | "endPod" | "removePod"; readonly pod: number }
  | { readonly kind: "movePod"; readonly pod: number; readonly ip: number }
  | { readonly kind: "setReady"; readonly pod: number; readonly ready: boolean }
  | { readonly kind: "toggleGroup"; readonly group: number }
  | { readonly kind: "sync"; readonly group: number; readonly lookupFails: boolean; readonly diesAfter: number }
  | { readonly kind: "step"; readonly record: number; readonly crash: Crash };

class World {
  readonly pods = new Map<string, Pod>();
  readonly groups = new Map<string, BackendGroup>();
  readonly records = new Map<string, BackendRecord>();
  /** The controller's entries in the load balancer. */
  readonly servers = new Set<string>();
  #made = 0;

  act(action: Action): void {
    switch (action.kind) {
      case "addPod":
        return this.#addPod(NAMES[action.pod] ?? "");
      case "removePod":
        return void this.pods.delete(NAMES[action.pod] ?? "");
      case "endPod":
        return this.#changePod(action.pod, (old) => ({
          ...old,
          metadata: { ...old.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
        }));
      case "movePod":
        return this.#move(action.pod, IPS[action.ip] ?? "");
      case "setReady":
        return this.#changePod(action.pod, (old) => ({ ...old, ready: action.ready, containersReady: action.ready }));
      case "toggleGroup":
        return this.#toggle(GROUPS[action.group] ?? "");
      case "sync":
        return this.sync(GROUPS[action.group] ?? "", action.lookupFails, action.diesAfter);
      case "step": {
        const names = [...this.records.keys()];
        return void this.step(names[action.record % Math.max(1, names.length)] ?? "", action.crash);
      }
    }
  }

  #addPod(name: string): void {
    if (this.pods.has(name)) return;
    const ip = this.#freeIp();
    if (ip === undefined) return;
    this.pods.set(name, pod(name, { ip }, { uid: `uid-${++this.#made}` }));
  }

  #freeIp(): string | undefined {
    const taken = new Set([...this.pods.values()].map(({ ip }) => ip));
    return IPS.find((ip) => !taken.has(ip));
  }

  #move(at: number, ip: string): void {
    const isTaken = [...this.pods.values()].some((each) => each.ip === ip);
    if (!isTaken) this.#changePod(at, (old) => ({ ...old, ip }));
  }

  #changePod(at: number, change: (old: Pod) => Pod): void {
    const name = NAMES[at] ?? "";
    const old = this.pods.get(name);
    if (old !== undefined) this.pods.set(name, change(old));
  }

  #toggle(name: string): void {
    if (this.groups.delete(name)) return;
    this.groups.set(name, group(name, {}, { uid: `uid-${name}-${++this.#made}` }));
  }

  /** Deletes, changes, creates, as the shell does it, and dies after so many writes. */
  sync(name: string, lookupFails: boolean, diesAfter: number): void {
    const own = this.groups.get(name);
    if (own === undefined) return this.#deleteRecordsWithoutOwner(name);
    const records = [...this.records.values()].filter(({ metadata }) => metadata.owner?.uid === own.metadata.uid);
    const decision = reconcileBackendGroup({
      group: own,
      cluster: { pods: [...this.pods.values()], podNamed: this.pods, service: undefined, nodes: [] },
      loadBalancers: new Map([
        ["lb", lookupFails ? { kind: "unknown", message: "" } : { kind: "found", loadBalancer: LB, driver: "ready" }],
      ]),
      records,
      validations: new Map(),
      judged: undefined,
      isTaken: () => false,
      isConfirmed: true,
      deregistrationLimit: DEFAULT_DEREGISTRATION_LIMIT,
    });
    assert.equal(decision.kind, "act");
    if (decision.kind !== "act") return;
    for (const { record } of decision.deletes) this.#mustBeGone(record);
    if (lookupFails) assert.deepEqual(decision.creates, []);
    const writes = [
      ...decision.deletes.map(
        ({ record }) =>
          () =>
            this.#delete(record),
      ),
      ...decision.updates.map(
        ({ record, spec }) =>
          () =>
            this.#put({ ...record, spec }),
      ),
      ...decision.creates.map((draft) => () => this.#create(own, draft)),
    ];
    for (const write of writes.slice(0, diesAfter)) write();
    this.#deleteRecordsWithoutOwner(name);
  }

  /** Law: only a record whose pod is known not to be there, ready and its own is deleted. */
  #mustBeGone({ spec: { backend } }: BackendRecord): void {
    const found = backend.kind === "Pod" ? this.pods.get(backend.name) : undefined;
    const isAlive =
      found !== undefined && backend.kind === "Pod" && found.metadata.uid === backend.uid && isAvailable(found);
    assert.ok(!isAlive, "a record of an available pod was deleted");
  }

  #deleteRecordsWithoutOwner(name: string): void {
    for (const record of this.records.values()) {
      const { owner } = record.metadata;
      if (owner?.name === name && owner.uid !== this.groups.get(name)?.metadata.uid) this.#delete(record);
    }
  }

  #create(owner: BackendGroup, draft: RecordDraft): void {
    const { metadata, spec } = newRecord(owner, draft);
    if (this.records.has(draft.name)) return;
    const uid = `uid-${++this.#made}`;
    const stored = { metadata: { ...meta(draft.name), ...metadata, uid }, spec };
    this.records.set(draft.name, readBackendRecord(stored));
  }

  #delete(record: BackendRecord): void {
    if (!isLive(record)) return;
    this.#put({ ...record, metadata: { ...record.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  }

  #put(record: BackendRecord): void {
    this.records.set(record.metadata.name, record);
  }

  /** One step of one record; whether anything was done. */
  step(name: string, crash: Crash): boolean {
    const record = this.records.get(name);
    if (record === undefined) return false;
    const { backend } = record.spec;
    const found = backend.kind === "Pod" ? this.pods.get(backend.name) : undefined;
    const address = addressKey(record);
    const decision = reconcileBackendRecord({
      record,
      backend: backendState(record, { pod: found, node: undefined }),
      driver: { kind: "found", canDrain: false },
      others: [...this.records.values()].filter(
        (other) => other !== record && addressKey(other) === address && address,
      ),
      isForgotten: false,
      sinceEnsuredMs: undefined,
      nowMs: 0,
    });
    if (decision.kind !== "step" || crash === "before") return false;
    this.#take(record, decision.step, crash);
    return true;
  }

  #take(record: BackendRecord, step: RecordStep, crash: Crash): void {
    const store = (status: BackendRecord["status"]): void => {
      if (crash !== "after") this.#put({ ...record, status });
    };
    switch (step.kind) {
      case "generateAddress":
        return store(
          afterGenerate(record, step.source, { status: "Succ", msg: "", backendAddr: step.source }, 0).status,
        );
      case "ensure":
        this.servers.add(record.status.backendAddr);
        return store(afterEnsure(record, { status: "Succ", msg: "", injectedInfo: {} }, 0).status);
      case "deregister":
        this.#mayLeave(record);
        this.servers.delete(record.status.backendAddr);
        if (step.thenRelease) return crash === "after" ? undefined : void this.records.delete(record.metadata.name);
        return store(afterDeregister(record, false, { status: "Succ", msg: "" }, 0).status);
      case "forgetAddress":
        return store(withoutAddress(record, 0));
      case "removeFinalizer":
        this.records.delete(record.metadata.name);
        return;
      case "addFinalizer":
      case "drain":
        assert.fail(`unexpected step ${step.kind}`);
    }
  }

  /** Law: no registered backend is removed by another record, nor by its own while its pod exists. */
  #mayLeave(record: BackendRecord): void {
    const { backendAddr } = record.status;
    for (const other of this.records.values()) {
      if (other === record || other.status.backendAddr !== backendAddr) continue;
      assert.ok(!(isLive(other) && isRegistered(other)), "a registered server was taken out by another record");
    }
    const { backend } = record.spec;
    const found = backend.kind === "Pod" ? this.pods.get(backend.name) : undefined;
    if (isLive(record)) assert.notEqual(found?.ip, backendAddr);
  }

  /** Law: whatever stands in the load balancer has a record with its address, so that it can be taken out again. */
  check(): void {
    const remembered = new Set([...this.records.values()].map(({ status }) => status.backendAddr));
    for (const server of this.servers) assert.ok(remembered.has(server), `${server} is forgotten`);
  }

  /** Runs every controller, without crashes, until nothing changes. */
  settle(): void {
    for (let round = 0; round < 50; round++) {
      for (const name of GROUPS) this.sync(name, false, Number.MAX_SAFE_INTEGER);
      let isMoving = false;
      for (const name of this.records.keys()) isMoving = this.step(name, "never") || isMoving;
      this.check();
      if (!isMoving) return;
    }
    assert.fail("it never settles");
  }
}

const podAt = fc.integer({ min: 0, max: NAMES.length - 1 });
const groupAt = fc.integer({ min: 0, max: GROUPS.length - 1 });
const crash = fc.constantFrom<Crash>("never", "never", "before", "after");
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("addPod" as const), pod: podAt }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("endPod" as const, "removePod" as const), pod: podAt }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("movePod" as const), pod: podAt, ip: fc.integer({ min: 0, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("setReady" as const), pod: podAt, ready: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("toggleGroup" as const), group: groupAt }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("sync" as const),
      group: groupAt,
      lookupFails: fc.boolean(),
      diesAfter: fc.integer({ min: 0, max: 6 }),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("step" as const), record: fc.nat(20), crash }) },
);

test("any crash point is safe: nothing is left behind, no live backend is removed, and the state settles as desired", () => {
  fc.assert(
    fc.property(fc.array(action, { minLength: 30, maxLength: 150, size: "max" }), (actions) => {
      const observed = new World();
      for (const at of GROUPS.keys()) observed.act({ kind: "toggleGroup", group: at });
      for (const at of NAMES.keys()) observed.act({ kind: "addPod", pod: at });
      for (const each of actions) {
        observed.act(each);
        observed.check();
      }
      observed.settle();
      const available = [...observed.pods.values()].filter(isAvailable).map(({ ip }) => ip ?? "");
      const expected = observed.groups.size === 0 ? [] : available.sort();
      assert.deepEqual([...observed.servers].sort(), expected);
      assert.equal(observed.records.size, observed.groups.size * available.length);
      assert.ok([...observed.records.values()].every(isRegistered));
    }),
    { numRuns: 500 },
  );
});
