import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import { aNode } from "../../../../test/support/core-world.ts";
import { aLoadBalancer, idOf } from "../../../../test/support/fragments.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import type { Node } from "../../model/kubernetes.ts";
import type {
  Compute,
  Instance,
  IPConfiguration,
  NetworkInterface,
  ScaleSet,
  VirtualMachine,
} from "../../backends/compute.ts";
import type { StepOf } from "../azure-step.ts";
import { ipConfigurationFinder } from "../../backends/machines.ts";
import { absentModelPools } from "./absent-model-pools.ts";
import { mergeNicPools, poolsOf } from "./merge-nic-pools.ts";
import { absentNicPools, desiredNicPools, type DesiredNicPools, ownIPConfigurations } from "./desired-nic-pools.ts";
import { reconcileNicPools } from "./reconcile-nic-pools.ts";

const GROUP = "/subscriptions/sub/resourceGroups/rg/providers";
const POOL = idOf("backendAddressPools", "kubernetes");
const NIC_CONFIG: ClusterConfig = { ...CONFIG, poolType: "nodeIPConfiguration" };
const loadBalancer = aLoadBalancer({ pools: ["kubernetes", "kubernetes-IPv6"] });

function seats(pools: readonly string[] = []): IPConfiguration[] {
  const of = (name: string, more: object): IPConfiguration => ({
    name,
    properties: {
      ...more,
      loadBalancerBackendAddressPools: pools
        .filter((pool) => pool.endsWith("-IPv6") === name.endsWith("6"))
        .map((id) => ({ id })),
    },
  });
  return [of("ip4", { primary: true }), of("ip6", { privateIPAddressVersion: "IPv6" })];
}

const vmId = (name: string): string => `${GROUP}/Microsoft.Compute/virtualMachines/${name}`;
const nicId = (name: string): string => `${GROUP}/Microsoft.Network/networkInterfaces/${name}-nic`;
const setId = `${GROUP}/Microsoft.Compute/virtualMachineScaleSets/set`;
const instanceId = (at: number): string => `${setId}/virtualMachines/${at}`;

interface Shape {
  readonly vms?: Readonly<Record<string, { pools?: readonly string[]; failed?: boolean; flex?: boolean }>>;
  readonly instances?: readonly { pools?: readonly string[]; power?: string }[];
  readonly model?: readonly string[];
}

function computeOf({ vms = {}, instances = [], model }: Shape): Compute {
  const key = <Body extends { readonly id: string }>(bodies: readonly Body[]): Map<string, Body> =>
    new Map(bodies.map((body) => [body.id.toLowerCase(), body]));
  const interfaces = (pools: readonly string[] | undefined) => ({
    networkInterfaceConfigurations: [{ name: "nic", properties: { primary: true, ipConfigurations: seats(pools) } }],
  });
  return {
    virtualMachines: key(
      Object.entries(vms).map(([name, { flex }]): VirtualMachine => ({
        id: vmId(name),
        name,
        properties: {
          networkProfile: { networkInterfaces: [{ id: nicId(name) }] },
          ...(flex && { virtualMachineScaleSet: { id: setId } }),
        },
      })),
    ),
    networkInterfaces: key(
      Object.entries(vms).map(([name, { pools, failed }]): NetworkInterface => ({
        id: nicId(name),
        name: `${name}-nic`,
        properties: {
          ipConfigurations: seats(pools),
          virtualMachine: { id: vmId(name) },
          provisioningState: failed ? "Failed" : "Succeeded",
        },
      })),
    ),
    scaleSets: key(
      model === undefined
        ? []
        : [
            {
              id: setId,
              name: "set",
              properties: { virtualMachineProfile: { networkProfile: interfaces(model) } },
            } satisfies ScaleSet,
          ],
    ),
    instances: key(
      instances.map(({ pools, power = "running" }, at): Instance => ({
        id: instanceId(at),
        properties: {
          networkProfileConfiguration: interfaces(pools),
          instanceView: { statuses: [{ code: `PowerState/${power}` }] },
          osProfile: { computerName: `set00000${at}` },
        },
      })),
    ),
  };
}

const vmNode = (name: string, more: Partial<Node["spec"]> = {}): Node =>
  aNode(name, ["10.0.0.4"], { providerID: `azure://${vmId(name)}`, ...more });
const instanceNode = (at: number): Node =>
  aNode(`set00000${at}`, ["10.0.0.4"], { providerID: `azure://${instanceId(at)}` });
const excluded = (node: Node): Node => ({
  ...node,
  metadata: { ...node.metadata, labels: { "kubernetes.azure.com/managed": "false" } },
});

function told(nodes: readonly Node[], shape: Shape, known: readonly string[] = []): string[] {
  return whys(desiredNicPools({ config: NIC_CONFIG, nodes, compute: computeOf(shape), loadBalancer, known }, ["IPv4"]));
}

function whys(desired: readonly DesiredNicPools[]): string[] {
  return stepsOf(desired).map(({ why }) => why);
}

function stepsOf(desired: readonly DesiredNicPools[], compute?: Compute): readonly StepOf<"nicPools">[] {
  const seen = { config: NIC_CONFIG, nodes: [], loadBalancers: [loadBalancer], members: new Map() };
  const result = reconcileNicPools(desired, { ...seen, ...(compute && { compute }) });
  return result.kind === "act" ? result.steps : [];
}

describe("who joins", () => {
  test("the interface of a virtual machine", () => {
    assert.deepEqual(told([vmNode("vm")], { vms: { vm: {} } }), ["vm-nic joins kubernetes"]);
    assert.deepEqual(told([vmNode("vm")], { vms: { vm: { pools: [POOL] } } }), []);
  });

  test("a machine that two Nodes claim follows the older one, and does not come and go", () => {
    const older = vmNode("vm");
    const younger: Node = { ...older, metadata: { ...older.metadata, name: "twin", uid: "node-vm-2" } };
    for (const [nodes, joined, left] of [
      [[excluded(older), younger], [], []],
      [[older, excluded(younger)], ["vm-nic joins kubernetes"], []],
    ] as const) {
      for (const order of [nodes, nodes.toReversed()]) {
        assert.deepEqual(told(order, { vms: { vm: {} } }), joined);
        assert.deepEqual(told(order, { vms: { vm: { pools: [POOL] } } }), left);
      }
    }
    const nodeOf = ipConfigurationFinder([younger, older], computeOf({ vms: { vm: {} } }));
    assert.equal(nodeOf(`${nicId("vm")}/ipConfigurations/ip4`), older);
  });

  test("a scale set's model in a round of its own, then its instances", () => {
    const shape = { instances: [{}, {}] };
    const nodes = [instanceNode(0), instanceNode(1)];
    assert.deepEqual(told(nodes, { ...shape, model: [] }), ["set joins kubernetes"]);
    assert.deepEqual(told(nodes, { ...shape, model: [POOL] }), ["0 joins kubernetes", "1 joins kubernetes"]);
  });

  test("a flexible member's model, then its interface", () => {
    const vms = { vm: { flex: true } };
    assert.deepEqual(told([vmNode("vm")], { vms, model: [] }), ["set joins kubernetes"]);
    assert.deepEqual(told([vmNode("vm")], { vms, model: [POOL] }), ["vm-nic joins kubernetes"]);
  });

  test("an interface that has failed, where that is to be repaired", () => {
    const compute = computeOf({ vms: { vm: { failed: true }, other: { pools: [POOL] } } });
    const nodes = [vmNode("vm"), excluded(vmNode("other"))];
    const input = { config: NIC_CONFIG, nodes, compute, loadBalancer, known: [], repairs: true };
    // it may fail again: none leaves for its sake
    assert.deepEqual(whys(desiredNicPools(input, ["IPv4"])), ["vm-nic joins kubernetes"]);
  });

  for (const [what, shape] of [
    ["a stopped instance", { instances: [{ power: "deallocated" }], model: [POOL] }],
    ["an interface that has failed", { vms: { set000000: { failed: true } } }],
    [
      "one that is in another load balancer's pool",
      { instances: [{ pools: [POOL.replace("loadBalancers/kubernetes", "loadBalancers/other")] }], model: [POOL] },
    ],
    ["a machine that is not known", { model: [POOL] }],
  ] as const) {
    test(`not ${what}`, () => {
      assert.deepEqual(told([instanceNode(0)], shape as Shape), []);
    });
  }

  test("one that is in the twin's pool joins too", () => {
    const twin = POOL.replace("loadBalancers/kubernetes", "loadBalancers/kubernetes-internal");
    assert.deepEqual(told([vmNode("vm")], { vms: { vm: { pools: [twin] } } }), ["vm-nic joins kubernetes"]);
  });
});

describe("who leaves", () => {
  test("the machine of a node that is not eligible any more", () => {
    const vms = { stays: { pools: [POOL] }, goes: { pools: [POOL] } };
    assert.deepEqual(told([vmNode("stays"), excluded(vmNode("goes"))], { vms }), ["goes-nic leaves kubernetes"]);
  });

  test("but never the last", () => {
    assert.deepEqual(told([excluded(vmNode("goes"))], { vms: { goes: { pools: [POOL] } } }), []);
  });

  test("a machine without a node only if we put it there", () => {
    const vms = { stays: { pools: [POOL] }, forgotten: { pools: [POOL] } };
    assert.deepEqual(told([vmNode("stays")], { vms }), []);
    assert.deepEqual(told([vmNode("stays")], { vms }, ["forgotten"]), ["forgotten-nic leaves kubernetes"]);
  });

  test("also where an interface that has failed is all that stays", () => {
    const compute = computeOf({ vms: { stays: { pools: [POOL], failed: true }, forgotten: { pools: [POOL] } } });
    const input = { config: NIC_CONFIG, nodes: [vmNode("stays")], compute, loadBalancer, known: ["forgotten"] };
    assert.deepEqual(whys(desiredNicPools({ ...input, repairs: true }, ["IPv4"])), ["forgotten-nic leaves kubernetes"]);
  });

  test("everything, before the load balancer is deleted: models first", () => {
    const shape: Shape = { instances: [{ pools: [POOL] }], vms: { vm: { pools: [POOL] } }, model: [POOL] };
    const detach = (compute: Compute): string[] =>
      whys(absentNicPools({ config: NIC_CONFIG, nodes: [], compute, loadBalancer, known: [] }));
    assert.deepEqual(detach(computeOf(shape)), ["set leaves kubernetes"]);
    assert.deepEqual(detach(computeOf({ ...shape, model: [] })), ["0 leaves kubernetes", "vm-nic leaves kubernetes"]);
  });
});

describe("the write", () => {
  test("each family sits in its own ipConfiguration, and other pools stay", () => {
    const other = POOL.replace("backendAddressPools/kubernetes", "backendAddressPools/office");
    const body = [...computeOf({ vms: { vm: { pools: [other] } } }).networkInterfaces.values()][0];
    const join = [
      { pool: POOL, family: "IPv4" },
      { pool: `${POOL}-IPv6`, family: "IPv6" },
    ] as const;
    const { outcome } = mergeNicPools(body, [{ resource: "networkInterface", join, leave: [] }]);
    assert.ok(outcome.kind === "put");
    const configurations = (outcome.body as NetworkInterface).properties.ipConfigurations ?? [];
    assert.deepEqual(
      configurations.map(({ properties }) => properties.loadBalancerBackendAddressPools),
      [[{ id: other }, { id: POOL }], [{ id: `${POOL}-IPv6` }]],
    );
  });

  test("a model also leaves a pool whose load balancer is gone: Azure would refuse the write", () => {
    const gone = POOL.replace("loadBalancers/kubernetes", "loadBalancers/kubernetes-internal");
    const foreign = POOL.replace("loadBalancers/kubernetes", "loadBalancers/office");
    const compute = computeOf({ instances: [{}], model: [gone, foreign] });
    const input = { config: NIC_CONFIG, nodes: [instanceNode(0)], compute, loadBalancer, known: [] };
    const [step, ...more] = stepsOf(desiredNicPools(input, ["IPv4"]), compute);
    assert.deepEqual([step?.why, ...more], ["set joins kubernetes and leaves kubernetes"]);
    const { outcome } = mergeNicPools([...compute.scaleSets.values()][0], step === undefined ? [] : [step.fragment]);
    assert.ok(outcome.kind === "put");
    assert.deepEqual(poolsOf(outcome.body, "scaleSet"), [foreign, POOL]);
    const there = { ...loadBalancer, id: loadBalancer.id.replace(/kubernetes$/, "kubernetes-internal") };
    const seen = { ...input, loadBalancers: [loadBalancer, there], members: new Map() };
    assert.deepEqual(absentModelPools(seen), []);
  });

  test("an instance is written without what Azure says of its state", () => {
    const body = [...computeOf({ instances: [{}] }).instances.values()][0];
    const { outcome } = mergeNicPools(body, [
      { resource: "instance", join: [{ pool: POOL, family: "IPv4" }], leave: [] },
    ]);
    assert.ok(outcome.kind === "put");
    assert.equal("instanceView" in outcome.body.properties, false);
  });

  test("what sits right is not written, and what is gone neither", () => {
    const fragment = { resource: "networkInterface", join: [{ pool: POOL, family: "IPv4" }], leave: [] } as const;
    const body = [...computeOf({ vms: { vm: { pools: [POOL] } } }).networkInterfaces.values()][0];
    assert.deepEqual(mergeNicPools(body, [fragment]).outcome, { kind: "unchanged" });
    assert.deepEqual(mergeNicPools(undefined, [fragment]).outcome, { kind: "unchanged" });
  });
});

test("ipConfigurations lead back to their nodes, and tell ours from others'", () => {
  const compute = computeOf({ vms: { vm: {}, foreign: {} }, instances: [{}] });
  const nodes = [vmNode("vm"), instanceNode(0)];
  const ids = [
    `${nicId("vm")}/ipConfigurations/ip4`,
    `${instanceId(0)}/networkInterfaces/nic/ipConfigurations/ip4`,
    `${nicId("foreign")}/ipConfigurations/ip4`,
  ];
  const nodeOf = ipConfigurationFinder(nodes, compute);
  assert.deepEqual(
    ids.map((id) => nodeOf(id)?.metadata.name),
    ["vm", "set000000", undefined],
  );
  const pools = [{ name: "kubernetes", properties: { backendIPConfigurations: ids.map((id) => ({ id })) } }];
  const held = { ...loadBalancer, properties: { backendAddressPools: pools } };
  const own = ownIPConfigurations({ config: NIC_CONFIG, nodes, compute, loadBalancer: held, known: [] });
  const isOwn = (id: string): boolean => own.includes(id.toLowerCase());
  assert.deepEqual(ids.map(isOwn), [true, true, false]);
  assert.ok(isOwn(`${nicId("vm")}/ipConfigurations/ip6`), "also what the load balancer does not show as a member");
});

test("machines without a node are the cluster's where their scale set has nodes, and no others", () => {
  const shape = { vms: { node: { flex: true }, booting: { flex: true }, foreign: {} }, instances: [{}, {}] };
  const compute = computeOf(shape);
  const own = (nodes: readonly Node[]): string[] =>
    ownIPConfigurations({ config: NIC_CONFIG, nodes, compute, loadBalancer, known: [] });
  const instance = (at: number): string => `${instanceId(at)}/networkInterfaces/nic/ipConfigurations/ip4`.toLowerCase();
  const nic = (name: string): string => `${nicId(name)}/ipConfigurations/ip4`.toLowerCase();
  assert.ok(own([instanceNode(0)]).includes(instance(1)), "of a uniform scale set");
  assert.ok(own([vmNode("node")]).includes(nic("booting")), "of a flexible scale set");
  assert.ok(!own([vmNode("node")]).includes(nic("foreign")));
  assert.deepEqual(
    own([vmNode("foreign")]).filter((id) => id !== nic("foreign") && !id.endsWith("ip6")),
    [],
  );
});
