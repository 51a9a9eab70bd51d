/** Which sync runs when: a Service that is deleted is not kept waiting by what was being done for it. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { CoreWorld } from "../../../test/support/core-world.ts";
import { seededRandom, settled, VirtualClock } from "../../../test/support/virtual-clock.ts";
import { ArmError, type ArmFailure, plainFailure } from "../../azure/arm/failures.ts";
import { FINALIZER } from "../../core/intent/ownership.ts";
import { BACKOFF, DELAY } from "../../core/retry.ts";
import { unlessAborted } from "../../core/util/clock.ts";
import { SILENT_LOG } from "../../core/util/log.ts";
import { Store, type Subscriber } from "../../kube/cache/store.ts";
import { Metrics } from "../metrics.ts";
import { projectService, type CachedService } from "../projections.ts";
import { serviceKey } from "../../core/model/kubernetes.ts";
import type { Step } from "../../core/steps.ts";
import type { TakenAway } from "../taken-away.ts";
import type { SyncOutcome } from "./cloud-load-balancer.ts";
import { ServiceController } from "./service-controller.ts";

/** One sync of a Service that is to go: what it writes, and whether it fails after that. */
interface Deletion {
  readonly steps: readonly Step[];
  readonly error?: Error;
}

/** A controller whose syncs of a Service that is to be served never end by themselves, unless they are given an outcome. */
function rig(outcome?: SyncOutcome | Error, deletions: readonly Deletion[] = []) {
  const clock = new VirtualClock();
  const store = new Store<CachedService>();
  const calls: string[] = [];
  const failures: unknown[] = [];
  let notify: Subscriber<CachedService> = () => {};
  let mayRepair = true;
  const done: SyncOutcome = { kind: "settled", steps: [], warnings: [] };
  const metrics = new Metrics();
  const controller = new ServiceController({
    services: { store, subscribe: (subscriber) => (notify = subscriber) },
    written: store,
    cloud: {
      ensureLoadBalancer: (_, { signal, mayRepair }) => {
        calls.push(mayRepair ? "ensure" : "compare");
        return outcome === undefined
          ? unlessAborted(() => new Promise<SyncOutcome>(() => {}), signal)
          : outcome instanceof Error
            ? Promise.reject(outcome)
            : Promise.resolve(outcome);
      },
      ensureLoadBalancerDeleted: async (_, { onStep }) => {
        const { steps = [], error } = deletions[calls.filter((call) => call === "delete").length] ?? {};
        calls.push("delete");
        for (const step of steps) onStep?.(step);
        if (error !== undefined) throw error;
        return { ...done, steps };
      },
    },
    events: {
      settled: () => {},
      warned: () => {},
      rejected: () => {},
      waiting: () => {},
      drifted: () => {},
      failed: (_, error) => void failures.push(error),
      forget: () => {},
    },
    drift: { policyOf: () => "report", mayRepair: () => mayRepair, note: () => {}, forget: () => {} },
    metrics,
    clock,
    random: seededRandom(1),
    log: SILENT_LOG,
    classFilter: undefined,
    workers: 4,
    turns: { next: async () => {} },
    onLeftUnfinished: () => void calls.push("left unfinished"),
    onMachinesLeft: () => void calls.push("machines left"),
    onLoadBalancerChanged: () => void calls.push("load balancer changed"),
  });
  controller.start();
  const change = async (service: CachedService): Promise<void> => {
    for (const each of store.put(service)) void notify(each);
    await settled();
  };
  const remove = async (service: CachedService): Promise<void> => {
    for (const each of store.remove(serviceKey(service))) void notify(each);
    await settled();
  };
  const lookAgain = async (taken: TakenAway): Promise<void> => {
    controller.lookAgain(taken);
    await settled();
  };
  return { clock, calls, failures, metrics, change, remove, lookAgain, leaveDrift: () => void (mayRepair = false) };
}

function aService(change: object = {}): CachedService {
  const world = new CoreWorld();
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  const { metadata, ...rest } = world.service("web");
  return projectService({
    ...rest,
    metadata: { ...metadata, finalizers: [FINALIZER], resourceVersion: "1", ...change },
  });
}

test("a deletion ends the sync that serves the Service, without a failure, and runs at once", async () => {
  const { clock, calls, failures, metrics, change } = rig();
  await change(aService());
  await change(aService({ resourceVersion: "2", annotations: { "azlb.io/drift-policy": "enforce" } }));
  assert.deepEqual(calls, ["ensure"], "a change waits for the sync that runs");
  await change(aService({ resourceVersion: "3", deletionTimestamp: "2026-01-01T00:00:00Z" }));
  assert.deepEqual(calls, ["ensure", "delete"]);
  assert.equal(clock.monotonicMs(), 0);
  assert.deepEqual(failures, []);
  const { values } = await metrics.operationFailures.get();
  assert.deepEqual(values, []);
});

test("what a refused Service may have begun is left to others once for each thing that it asks for", async () => {
  const rejection = { kind: "rejection", reason: "InvalidAnnotation", message: "not a number" } as const;
  const { clock, calls, change } = rig({ kind: "rejected", rejection });
  await change(aService({ finalizers: [] }));
  assert.deepEqual(calls, ["ensure"], "it has nothing in Azure");
  await change(aService({ resourceVersion: "2", annotations: { "azlb.io/drift-policy": "enforce" } }));
  assert.deepEqual(calls.splice(0), ["ensure", "ensure", "left unfinished"]);
  await clock.advance(DELAY.refusedMs);
  assert.deepEqual(calls.splice(0), ["ensure"], "it was left already");
  await change(aService({ resourceVersion: "3", annotations: { "azlb.io/drift-policy": "report" } }));
  assert.deepEqual(calls, ["ensure", "left unfinished"]);
});

test("what a Service may have begun is left to others, too, where Azure refuses what it asks for since", async () => {
  const invalid = { ...plainFailure("busy", "not in the subnet"), kind: "invalid", target: undefined } as ArmFailure;
  const { clock, calls, change } = rig(new ArmError(invalid, "writing the load balancer"));
  await change(aService());
  assert.deepEqual(calls.splice(0), ["ensure", "left unfinished"]);
  await clock.advance(BACKOFF.requeue.capMs);
  assert.ok(calls.length > 0 && calls.every((call) => call === "ensure"), "it was left already");
  const busy = rig(new ArmError(plainFailure("busy", "another operation runs"), "writing the load balancer"));
  await busy.change(aService());
  assert.deepEqual(busy.calls, ["ensure"], "it goes on soon");
});

const LEAVE = {
  join: [],
  leave: [{ pool: "/loadBalancers/kubernetes/backendAddressPools/kubernetes", family: "IPv4" }],
};
const MACHINE_LEAVES = {
  kind: "nicPools",
  id: "/networkInterfaces/nic",
  fragment: { resource: "networkInterface", ...LEAVE },
  why: "it was the last",
} as unknown as Step;
const LEAVES = {
  kind: "loadBalancer",
  id: "/loadBalancers/kubernetes",
  fragment: {},
  why: "it goes",
} as unknown as Step;
const FINALIZER_GOES: Step = { kind: "removeFinalizer", why: "nothing is left" };
const GOING = { resourceVersion: "2", deletionTimestamp: "2026-01-01T00:00:00Z" };

test("pools are looked at after machines have left, also where the sync that took them out has failed", async () => {
  const { clock, calls, change } = rig(undefined, [
    { steps: [MACHINE_LEAVES, LEAVES, FINALIZER_GOES], error: new Error("the Service has changed (409)") },
    { steps: [FINALIZER_GOES] },
  ]);
  await change(aService(GOING));
  assert.deepEqual(calls, ["delete"], "the Service may still be there");
  await clock.advance(BACKOFF.requeue.capMs);
  assert.deepEqual(calls, ["delete", "delete", "machines left", "load balancer changed"]);
});

test("the same where the answer to the last write was lost, and the Service is gone", async () => {
  const lost = { steps: [MACHINE_LEAVES, FINALIZER_GOES], error: new Error("no answer") };
  const { clock, calls, change, remove } = rig(undefined, [lost]);
  await change(aService(GOING));
  await remove(aService(GOING));
  await clock.advance(BACKOFF.requeue.capMs);
  assert.deepEqual(calls, ["delete", "machines left"]);
});

test("a Service that was found settled while a write took something away is looked at again; that is no drift", async () => {
  const { clock, calls, change, lookAgain, leaveDrift } = rig({ kind: "settled", steps: [], warnings: [] });
  await clock.advance(1_000);
  await change(aService());
  leaveDrift();
  assert.deepEqual(calls.splice(0), ["ensure"]);
  await lookAgain({ sinceMs: 2_000, by: [] });
  assert.deepEqual(calls, [], "it was settled before that write was decided");
  await lookAgain({ sinceMs: 500, by: ["default/web"] });
  assert.deepEqual(calls, [], "it looks again after its own write anyway");
  await lookAgain({ sinceMs: 500, by: ["default/other"] });
  assert.deepEqual(calls.splice(0), ["ensure"]);
  await change(aService({ resourceVersion: "2", annotations: { "azlb.io/drift-policy": "report" } }));
  assert.deepEqual(calls, ["compare"], "from then on a difference is drift again");
});

test("so is one that is being looked at; one that is to go is not", async () => {
  const { calls, change, lookAgain } = rig();
  await change(aService());
  await lookAgain({ sinceMs: 0, by: [] });
  assert.deepEqual(calls, ["ensure"], "once the look that runs is over");
  await change(aService(GOING));
  assert.deepEqual(calls.splice(0), ["ensure", "delete"]);
  await lookAgain({ sinceMs: 0, by: [] });
  assert.deepEqual(calls, []);
});
