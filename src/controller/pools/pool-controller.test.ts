/** When the pools count as right, on a cluster in memory whose Azure does as it is told, or does not. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { aNode, CoreWorld } from "../../../test/support/core-world.ts";
import { aLoadBalancer } from "../../../test/support/fragments.ts";
import { aService, CONFIG } from "../../../test/support/core-fixtures.ts";
import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import type { Subscriber } from "../../kube/cache/store.ts";
import type { CachedNode } from "../projections.ts";
import { SILENT_LOG } from "../../core/util/log.ts";
import { PoolController, type PoolControllerOptions } from "./pool-controller.ts";

/** A cluster with a Service and a node that joined later. */
function rig(isWriteKept: () => boolean, more: Partial<PoolControllerOptions> = {}) {
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
    members: { rememberNames: async () => {} },
    events: { emit: (_, node, text) => told.push(`${node.metadata.name}: ${text?.message}`) },
    loopMetrics: { addQueue: () => {} },
    clock,
    random: () => 0.5,
    log: { ...SILENT_LOG, warn: (message) => said.push(message) },
    onMembersChanged: () => {
      settled += 1;
    },
    ...more,
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
  pools.resync();
  await clock.advance(1);
  assert.deepEqual(counts(), { writes: 1, settled: 1 }, "nothing has changed since: Services are not told again");
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

const SET = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/set";

test("a node that went before any look, and whose machine its scale set created in the pool, leaves it", async () => {
  const config = { ...CONFIG, poolType: "nodeIPConfiguration" } as const;
  const loadBalancer = aLoadBalancer({ pools: ["kubernetes"] });
  const loadBalancerBackendAddressPools = [{ id: `${loadBalancer.id}/backendAddressPools/kubernetes` }];
  const ipConfigurations = [{ name: "ip", properties: { primary: true, loadBalancerBackendAddressPools } }];
  const networkProfile = {
    networkInterfaceConfigurations: [{ name: "nic", properties: { primary: true, ipConfigurations } }],
  };
  const instances = [0, 1].map((at) => ({
    id: `${SET}/virtualMachines/${at}`,
    properties: { networkProfileConfiguration: networkProfile, osProfile: { computerName: `set00000${at}` } },
  }));
  const compute = {
    virtualMachines: new Map(),
    networkInterfaces: new Map(),
    scaleSets: new Map([
      [SET.toLowerCase(), { id: SET, name: "set", properties: { virtualMachineProfile: { networkProfile } } }],
    ]),
    instances: new Map(instances.map((each) => [each.id.toLowerCase(), each])),
  };
  const nodeOf = (at: number): CachedNode => {
    const node = aNode(`set00000${at}`, [`10.0.0.${at}`], { providerID: `azure://${SET}/virtualMachines/${at}` });
    return { ...node, metadata: { ...node.metadata, resourceVersion: "1" } };
  };
  const nodes = [nodeOf(0)];
  const members = new Map([[loadBalancer.id.toLowerCase(), ["set000000"]]]);
  const left: string[] = [];
  let subscriber: Subscriber<CachedNode> | undefined;
  let refusals = 1;
  const { clock, pools } = rig(() => true, {
    nodes: { subscribe: (each) => (subscriber = each) },
    observer: {
      awaitedMs: () => undefined,
      observePools: async () => ({
        config,
        nodes,
        loadBalancers: [loadBalancer],
        members,
        compute: left.length === 0 ? compute : { ...compute, instances: new Map([...compute.instances].slice(0, 1)) },
      }),
    },
    members: {
      rememberNames: async (_, names) => {
        if (refusals-- > 0) throw new Error("not now");
        members.set(loadBalancer.id.toLowerCase(), ["set000000", ...names]);
      },
    },
    executor: { write: async ({ id }) => void left.push(id) },
  });
  await clock.advance(1);
  assert.deepEqual(left, []);
  await subscriber?.({ kind: "deleted", object: nodeOf(1) });
  await clock.advance(10_000);
  assert.deepEqual(members.get(loadBalancer.id.toLowerCase()), ["set000000", "set000001"]);
  assert.deepEqual(left, [`${SET}/virtualMachines/1`]);
  await pools.stop(0);
});
