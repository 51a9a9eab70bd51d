/**
 * Objects and answers of any shape: wrong types, nulls, huge and strange texts, impossible numbers. Schemas refuse most of
 * it, but objects may have been stored before there was one, and drivers answer what they like. Nothing throws, a group
 * comes to rest, and no backend that is live is taken out.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import {
  anyObject,
  groupObject,
  hostile,
  map,
  number,
  or,
  podSelection,
  recordObject,
  shape,
  text,
} from "../../../test/support/hostile-lbcf-objects.ts";
import { group as plainGroup, loadBalancer, meta, pod, registered } from "../../../test/support/lbcf-objects.ts";
import type { BackendState } from "./records/backend-state.ts";
import { DEFAULT_DEREGISTRATION_LIMIT } from "./groups/deregistration-limit.ts";
import { groupStatus, groupEvents } from "./groups/group-status.ts";
import type { BackendGroup, BackendRecord, Pod } from "./objects/objects.ts";
import { readBackendGroup } from "./groups/read-backend-group.ts";
import { readBackendRecord } from "./records/read-backend-record.ts";
import { readBind } from "./binds/read-bind.ts";
import { readDriver } from "./drivers/read-driver.ts";
import { readLoadBalancer } from "./load-balancers/read-load-balancer.ts";
import { readPod } from "./pods/read-pod.ts";
import type { Stored } from "./objects/read-common.ts";
import { type GroupActions, reconcileBackendGroup } from "./groups/reconcile-backend-group.ts";
import { addressKey, reconcileBackendRecord } from "./records/reconcile-backend-record.ts";
import { reconcileDriver } from "./drivers/reconcile-driver.ts";
import { reconcileLoadBalancerObject } from "./load-balancers/reconcile-load-balancer-object.ts";
import { newRecord } from "./records/record-spec.ts";
import {
  addressAnswer,
  createAnswer,
  ensureAnswer,
  healthOf,
  judgedPodsOf,
  validationOf,
} from "./drivers/webhook-answers.ts";

const stored = (object: unknown): Stored => object as Stored;

const PODS: readonly Pod[] = [pod("web-0"), pod("web-1", { ip: "10.0.0.2" }), pod("web-2", { ready: false })];

function lookAt(group: BackendGroup, records: readonly BackendRecord[]): GroupActions {
  const validations = new Map(group.spec.loadBalancers.map((name) => [name, { kind: "valid" } as const]));
  const loadBalancers = new Map(
    group.spec.loadBalancers.map((name) => [
      name,
      { kind: "found", loadBalancer: loadBalancer(name), driver: "ready" } as const,
    ]),
  );
  const podNamed = new Map(PODS.map((each) => [each.metadata.name, each]));
  const decision = reconcileBackendGroup({
    group,
    cluster: { pods: PODS, podNamed, service: undefined, nodes: [] },
    loadBalancers,
    records,
    validations,
    judged: { kind: "failed", message: "" },
    isTaken: () => false,
    isConfirmed: true,
    deregistrationLimit: DEFAULT_DEREGISTRATION_LIMIT,
  });
  assert.equal(decision.kind, "act");
  return decision;
}

/** As the API server would store it and the controller would read it back. */
function stores(group: BackendGroup, { creates }: GroupActions): BackendRecord[] {
  return creates.map((draft) => {
    const made = JSON.parse(JSON.stringify(newRecord(group, draft))) as { metadata: object };
    return readBackendRecord({ ...made, metadata: { ...made.metadata, uid: draft.name, generation: 1 } });
  });
}

test("anything reads without a throw", () => {
  fc.assert(
    fc.property(fc.oneof(anyObject, groupObject, recordObject), (object) => {
      for (const read of [readDriver, readLoadBalancer, readBackendGroup, readBackendRecord, readBind, readPod]) {
        read(stored(object));
      }
    }),
  );
});

test("a group of any shape comes to rest: what it made it does not make again, change or take away", () => {
  fc.assert(
    fc.property(groupObject, (object) => {
      const group = readBackendGroup(stored(object));
      const first = lookAt(group, []);
      const records = stores(group, first);
      const second = lookAt(group, records);
      assert.deepEqual([second.creates, second.updates, second.deletes], [[], [], []]);
      const rest = { registered: 0, disagreement: undefined, judged: undefined, failed: undefined, nowMs: 0 };
      groupStatus({ group, actions: second, ...rest });
      groupEvents({ group, actions: second, ...rest });
    }),
  );
});

test("a group whose load balancers or pods cannot be read deregisters nothing, and reports it", () => {
  const lost = fc.oneof(
    hostile.map((spec) => ({ static: [], ...(spec as object), loadBalancers: null, lbName: null })),
    hostile.map((pods) => ({ loadBalancers: ["lb"], pods: { ...(pods as object), ports: 5, port: null } })),
    or(podSelection).map((pods) => ({ loadBalancers: ["lb"], pods: { ...(pods as object), byLabel: {}, byName: 5 } })),
  );
  fc.assert(
    fc.property(lost, (spec) => {
      const before = plainGroup("web");
      const own = stores(before, lookAt(before, []));
      assert.equal(own.length, 2);
      const after = readBackendGroup(stored({ metadata: before.metadata, spec }));
      const { deletes, problem } = lookAt(after, own);
      assert.deepEqual(deletes, []);
      assert.equal(problem?.reason, "InvalidSpec");
    }),
  );
});

test("a record of any shape gets a next step, and leaves only if it was deleted or its address has changed", () => {
  const backend = fc.constantFrom<BackendState>(
    { kind: "present", source: "10.0.0.1" },
    { kind: "unready", source: undefined },
    { kind: "ending", untilMs: 5 },
    { kind: "gone" },
  );
  fc.assert(
    fc.property(recordObject, backend, fc.boolean(), (object, state, isDeleted) => {
      const read = readBackendRecord(stored(object));
      const record = isDeleted
        ? { ...read, metadata: { ...read.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }
        : read;
      addressKey(record);
      const decision = reconcileBackendRecord({
        record,
        backend: state,
        driver: { kind: "found", canDrain: true },
        others: [],
        isForgotten: false,
        sinceEnsuredMs: undefined,
        nowMs: 0,
      });
      const step = decision.kind === "step" ? decision.step : undefined;
      if (step?.kind !== "deregister") return;
      assert.equal(step.thenRelease, isDeleted);
      if (!isDeleted) assert.notEqual(record.status.generatedFrom, "10.0.0.1");
    }),
  );
});

test("a record made by hand for a server that a live record holds takes nothing out when it goes", () => {
  const live = { ...readBackendRecord({ metadata: meta("live") }), status: registered("10.0.0.1") };
  fc.assert(
    fc.property(map, (more) => {
      const spec = { ...live.spec, lbDriver: "lbcf-azure", lbInfo: { pool: "/pool" } };
      const holder = { ...live, spec };
      const lbInfo = {
        ...readBackendRecord(stored({ metadata: {}, spec: { lbInfo: more } })).spec.lbInfo,
        pool: "/POOL",
      };
      const byHand: BackendRecord = {
        metadata: meta("hand", {
          deletionTimestamp: "2026-01-01T00:00:00Z",
          finalizers: ["lbcf.tkestack.io/deregister-backend"],
        }),
        spec: { ...spec, lbInfo },
        status: registered("10.0.0.1"),
      };
      assert.equal(addressKey(byHand), addressKey(holder));
      const decision = reconcileBackendRecord({
        record: byHand,
        backend: { kind: "gone" },
        driver: { kind: "found", canDrain: true },
        others: [holder],
        isForgotten: false,
        sinceEnsuredMs: undefined,
        nowMs: 0,
      });
      assert.deepEqual(decision, { kind: "step", step: { kind: "removeFinalizer", why: "claimed" } });
    }),
  );
});

test("drivers and load balancers of any shape get a decision", () => {
  fc.assert(
    fc.property(anyObject, fc.constantFrom("ready", "draining", "missing"), (object, driver) => {
      reconcileDriver({
        driver: readDriver(stored(object)),
        loadBalancers: 0,
        records: 0,
        health: undefined,
        nowMs: 0,
      });
      reconcileLoadBalancerObject({
        loadBalancer: readLoadBalancer(stored(object)),
        driver,
        invalidName: undefined,
        records: 0,
        validation: { kind: "valid" },
        sinceEnsuredMs: undefined,
      });
    }),
  );
});

test("any answer of a driver is parsed or reported as invalid, in few words", () => {
  const answer = shape({
    status: fc.constantFrom("Succ", "Fail", "Running"),
    succ: fc.boolean(),
    msg: text,
    minRetryDelayInSeconds: number,
    lbInfo: map,
    injectedInfo: map,
    backendAddr: text,
    doNotDeregister: fc.array(or(shape({ metadata: map }))),
    healthy: fc.boolean(),
  });
  const body = fc.oneof(
    or(answer).map((json) => JSON.stringify(json)),
    text,
  );
  fc.assert(
    fc.property(body, fc.constantFrom(200, 204, 404, 500), (sent, status) => {
      const reply = { status, body: sent };
      for (const { msg } of [addressAnswer(reply), createAnswer(reply), ensureAnswer(reply)]) {
        assert.ok(msg.length < 1_500);
      }
      validationOf("validateBackend", reply);
      judgedPodsOf(reply);
      healthOf(reply);
    }),
  );
});
