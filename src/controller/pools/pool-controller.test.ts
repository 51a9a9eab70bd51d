/** When the pools count as right, on a cluster in memory whose Azure does as it is told, or does not. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { aNode, CoreWorld } from "../../../test/support/core-world.ts";
import { aService } from "../../../test/support/core-fixtures.ts";
import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { SILENT_LOG } from "../../core/util/log.ts";
import { PoolController } from "./pool-controller.ts";

/** A cluster with a Service and a node that joined later. */
function rig(isWriteKept: () => boolean) {
  const world = new CoreWorld();
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  world.settle();
  world.nodes = [...world.nodes, aNode("late", ["10.240.0.99"])];
  const clock = new VirtualClock();
  const said: string[] = [];
  const told: string[] = [];
  let writes = 0;
  let settled = 0;
  const pools = new PoolController({
    nodes: { subscribe: () => {} },
    observer: { awaitedMs: () => undefined, observePools: async () => world.observe(aService()) },
    executor: {
      write: async (step) => {
        writes += 1;
        if (isWriteKept()) world.write(aService(), [step]);
      },
    },
    events: { emit: (_, node, text) => told.push(`${node.metadata.name}: ${text?.message}`) },
    loopMetrics: { addQueue: () => {} },
    clock,
    random: () => 0.5,
    log: { ...SILENT_LOG, warn: (message) => said.push(message) },
    onSettled: () => {
      settled += 1;
    },
  });
  pools.start();
  pools.resync();
  return { world, clock, said, told, pools, counts: () => ({ writes, settled }) };
}

test("pools that a write brings into line are settled after it", async () => {
  const { clock, said, pools, counts } = rig(() => true);
  await clock.advance(1);
  assert.deepEqual(counts(), { writes: 1, settled: 1 });
  assert.deepEqual(said, []);
  await pools.stop(0);
});

test("pools that no write brings into line are not settled: that fails, and is tried again", async () => {
  let isWriteKept = false;
  const { clock, said, pools, counts } = rig(() => isWriteKept);
  await clock.advance(1);
  assert.equal(counts().settled, 0);
  assert.match(said.join("\n"), /^pools: the pools did not settle after \d+ rounds$/);
  isWriteKept = true;
  await clock.advance(10_000);
  assert.equal(counts().settled, 1, "the queue tried again");
  await pools.stop(0);
});

test("nodes with the same address are told once, and again when it happens again", async () => {
  const { world, clock, told, pools } = rig(() => true);
  await clock.advance(1);
  assert.deepEqual(told, []);
  const { nodes } = world;
  const both = [...nodes, aNode("twin", ["10.240.0.99"])];
  for (const now of [both, [...both], nodes, both]) {
    world.nodes = now;
    pools.resync();
    await clock.advance(1);
  }
  const rule = "load balancers have it once, for the node that they had it for first. Correct or delete the wrong Node";
  const once = [
    `late: InternalIP 10.240.0.99 is also that of node twin: ${rule}`,
    `twin: InternalIP 10.240.0.99 is also that of node late: ${rule}`,
  ];
  assert.deepEqual(told, [...once, ...once]);
  await pools.stop(0);
});
