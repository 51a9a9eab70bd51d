/** How a group's decision is carried out when the caches and the API server disagree. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Registry } from "prom-client";
import { group, loadBalancer, meta, pod, record, registered } from "../../../../test/support/lbcf-objects.ts";
import { VirtualClock } from "../../../../test/support/virtual-clock.ts";
import { DEFAULT_DEREGISTRATION_LIMIT } from "../../../core/lbcf/groups/deregistration-limit.ts";
import type { Cluster } from "../../../core/lbcf/groups/candidates.ts";
import { findCondition } from "../../../core/lbcf/objects/conditions.ts";
import { recordName } from "../../../core/lbcf/objects/names.ts";
import type { BackendRecord, Pod } from "../../../core/lbcf/objects/objects.ts";
import { Store, WriteThroughStore } from "../../../kube/cache/store.ts";
import type { Drivers } from "../drivers/drivers.ts";
import { ValidationMemo } from "../drivers/validation-memo.ts";
import { GroupSync } from "./group-sync.ts";
import { LbcfMetrics } from "../lbcf-metrics.ts";

const PODS: readonly Pod[] = [0, 1, 2, 3, 4].map((at) => pod(`web-${at}`, { ip: `10.0.0.${at}` }));
const OWNER = group("web");

function recordOf({ metadata: { name, uid }, ip = "" }: Pod): BackendRecord {
  const backend = { kind: "Pod", name, uid, port: { port: 80, protocol: "TCP" } } as const;
  const owner = { kind: "BackendGroup", name: "web", uid: OWNER.metadata.uid };
  return record(registered(ip), meta(recordName(OWNER, "lb", backend), { uid: `record-${name}`, owner }), { backend });
}

function clusterOf(pods: readonly Pod[]): Cluster {
  return { pods, podNamed: new Map(pods.map((each) => [each.metadata.name, each])), service: undefined, nodes: [] };
}

/** All five are registered; the watch shows `known`, the API server answers with `confirmed`. */
function setUp(known: readonly Pod[], confirmed: () => Promise<Cluster>) {
  const indexers = { owner: () => ["BackendGroup default/web"] };
  const records = new WriteThroughStore<BackendRecord>(
    { subscribe: () => {}, onRewind: () => {}, store: new Store() },
    indexers,
  );
  for (const each of PODS) records.wrote(recordOf(each));
  const deleted: string[] = [];
  let asked = 0;
  const sync = new GroupSync({
    records,
    cluster: {
      known: () => clusterOf(known),
      confirmed: () => {
        asked += 1;
        return confirmed();
      },
    },
    drivers: {} as Drivers,
    validations: new ValidationMemo(new VirtualClock()),
    writer: {
      createRecord: () => Promise.resolve(),
      updateRecord: () => Promise.resolve(),
      deleteRecord: ({ metadata }) => Promise.resolve(void deleted.push(metadata.uid)),
    },
    metrics: new LbcfMetrics(new Registry()),
    deregistrationLimit: DEFAULT_DEREGISTRATION_LIMIT,
    clock: new VirtualClock(),
  });
  const lookups = new Map([["lb", { kind: "found", loadBalancer: loadBalancer("lb"), driver: "ready" } as const]]);
  return { run: () => sync.run(OWNER, lookups), deleted, asked: () => asked };
}

describe("when most of a group is gone from the watch", () => {
  test("what the API server still has stays, and the group says so until they agree", async () => {
    const { run, deleted } = setUp([], () => Promise.resolve(clusterOf(PODS.slice(0, 4))));
    const { status, texts, againAfterMs } = await run();
    assert.deepEqual(deleted, ["record-web-4"]);
    const held = findCondition(status.conditions, "Held");
    assert.deepEqual([held?.status, held?.reason], ["True", "Disagreement"]);
    assert.match(held?.message ?? "", /4 of 5/);
    assert.ok(texts.some(({ reason }) => reason === "Disagreement"));
    assert.ok(againAfterMs !== undefined, "it looks again by itself");
  });

  test("what the API server has not either goes", async () => {
    const { run, deleted } = setUp([], () => Promise.resolve(clusterOf([])));
    const { status } = await run();
    assert.equal(deleted.length, 5);
    assert.equal(findCondition(status.conditions, "Held"), undefined);
  });

  test("no record is deleted while the API server cannot be read", async () => {
    const { run, deleted } = setUp([], () => Promise.reject(new Error("connection refused")));
    await assert.rejects(run(), /connection refused/);
    assert.deepEqual(deleted, []);
  });

  test("a few go without a question", async () => {
    const { run, deleted, asked } = setUp(PODS.slice(0, 3), () => assert.fail());
    await run();
    assert.deepEqual([deleted.length, asked()], [2, 0]);
  });
});
