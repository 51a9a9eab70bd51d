import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG } from "../../../test/support/core-fixtures.ts";
import { CoreWorld } from "../../../test/support/core-world.ts";
import { aNode } from "../../../test/support/core-world.ts";
import { aLoadBalancer } from "../../../test/support/fragments.ts";
import type { Compute } from "../backends/compute.ts";
import type { BackendPool, LoadBalancer } from "../model/arm.ts";
import { loadBalancerId } from "../model/ids.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { AzureStep } from "../steps.ts";
import { reconcilePools, unrecordedNames } from "./reconcile-pools.ts";

const SCALE_SET = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/set";
const nodes = [aNode("one", ["10.0.0.1", "fd00::1"])];

function named(name: string, pools: readonly string[], entries: readonly string[] = []): LoadBalancer {
  const body = aLoadBalancer({});
  const filled = pools.map((pool): BackendPool => ({
    name: pool,
    properties: {
      loadBalancerBackendAddresses: entries.map((ip, at) => ({ name: `server-${at}`, properties: { ipAddress: ip } })),
    },
  }));
  return {
    ...body,
    name,
    id: body.id.replace(/kubernetes$/, name),
    properties: { ...body.properties, backendAddressPools: filled },
  };
}

function steps(
  loadBalancers: readonly LoadBalancer[],
  more: { config?: ClusterConfig; members?: [string, string[]][] } = {},
): AzureStep[] {
  const { config = CONFIG, members = [] } = more;
  return reconcilePools({ config, nodes, loadBalancers, members: new Map(members) });
}

const poolsOf = (list: readonly AzureStep[]): string[] => list.map(({ id }) => id.split("/").slice(-3).join("/"));

test("one step per pool of the cluster's load balancers, none for other pools and other load balancers", () => {
  const all = [
    named("kubernetes", ["kubernetes", "kubernetes-IPv6", "office"]),
    named("kubernetes-internal", ["kubernetes"]),
    named("office", ["kubernetes"]),
  ];
  assert.deepEqual(poolsOf(steps(all)), [
    "kubernetes/backendAddressPools/kubernetes",
    "kubernetes/backendAddressPools/kubernetes-IPv6",
    "kubernetes-internal/backendAddressPools/kubernetes",
  ]);
});

test("pre-configured pools are left to those who fill them, of the kinds that the config names", () => {
  const all = [
    named("kubernetes", ["kubernetes"], ["10.9.9.9"]),
    named("kubernetes-internal", ["kubernetes"], ["10.9.9.9"]),
  ];
  const config = { ...CONFIG, preConfiguredPools: "external" as const };
  assert.deepEqual(poolsOf(steps(all, { config })), ["kubernetes-internal/backendAddressPools/kubernetes"]);
  assert.deepEqual(steps(all, { config: { ...CONFIG, preConfiguredPools: "all" } }), []);
});

test("a pre-configured pool is left empty where another tool made it, and filled where the controller has before", () => {
  const config = { ...CONFIG, preConfiguredPools: "all" as const };
  assert.deepEqual(steps([named("kubernetes", ["kubernetes"])], { config }), []);
  const filled = named("kubernetes", ["kubernetes"], ["10.9.9.9"]);
  assert.equal(steps([filled], { config, members: [[filled.id.toLowerCase(), ["one"]]] }).length, 1);
});

test("a pre-configured pool that is missing is made and filled, also after a crash between the two", () => {
  const world = new CoreWorld({ preConfiguredPools: "all" });
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  for (let round = 0; round < 10 && world.loadBalancers.length === 0; round++) {
    const decision = world.decide(world.service("web"));
    if (decision.kind === "act") world.write(world.service("web"), decision.steps);
  }
  const sizes = (): number[] =>
    world.loadBalancers
      .flatMap(({ properties }) => properties.backendAddressPools ?? [])
      .map(({ properties }) => properties.loadBalancerBackendAddresses?.length ?? 0);
  assert.deepEqual(sizes(), [0]);
  assert.deepEqual([...world.members.values()], [["vmss000000", "vmss000001", "vmss000002"]]);
  world.settle();
  assert.deepEqual(sizes(), [3]);
});

test("a pool that cannot be filled stops no other", () => {
  const ofInterfaces = named("kubernetes", ["kubernetes"]);
  const pool = { name: "kubernetes", properties: { backendIPConfigurations: [{ id: "nic" }] } };
  const mixed = { ...ofInterfaces, properties: { ...ofInterfaces.properties, backendAddressPools: [pool] } };
  assert.deepEqual(poolsOf(steps([mixed, named("kubernetes-internal", ["kubernetes"])])), [
    "kubernetes-internal/backendAddressPools/kubernetes",
  ]);
});

test("no node joins a load balancer that is being deleted", () => {
  const body = named("kubernetes", ["kubernetes"]);
  const going = { ...body, properties: { ...body.properties, provisioningState: "Deleting" } };
  assert.equal(steps([body]).length, 1);
  assert.deepEqual(steps([going]), []);
});

test("a scale set whose model names a pool of a load balancer that is gone leaves it; pools of others stay", () => {
  const config: ClusterConfig = { ...CONFIG, poolType: "nodeIPConfiguration" };
  const poolOf = (loadBalancer: string): string => `${loadBalancer}/backendAddressPools/kubernetes`;
  const gone = poolOf(loadBalancerId(config, "kubernetes-internal"));
  const others = [
    poolOf(loadBalancerId(config, "office")),
    poolOf(loadBalancerId({ ...config, loadBalancerResourceGroup: "elsewhere" }, "kubernetes-internal")),
  ];
  const pools = [gone, ...others].map((id) => ({ id }));
  const configuration = { name: "ip", properties: { primary: true, loadBalancerBackendAddressPools: pools } };
  const interfaces = [{ name: "nic", properties: { primary: true, ipConfigurations: [configuration] } }];
  const networkProfile = { networkInterfaceConfigurations: interfaces };
  const model = { id: SCALE_SET, name: "set", properties: { virtualMachineProfile: { networkProfile } } };
  const compute: Compute = {
    virtualMachines: new Map(),
    networkInterfaces: new Map(),
    scaleSets: new Map([[SCALE_SET.toLowerCase(), model]]),
    instances: new Map(),
  };
  const decided = (loadBalancers: readonly LoadBalancer[]): AzureStep[] =>
    reconcilePools({ config, nodes: [], loadBalancers, members: new Map(), compute });
  assert.deepEqual(
    decided([]).map(({ id, fragment }) => ({ id, fragment })),
    [{ id: SCALE_SET, fragment: { resource: "scaleSet", join: [], leave: [{ pool: gone, family: "IPv4" }] } }],
  );
  const there = { ...named("kubernetes-internal", ["kubernetes"]), id: loadBalancerId(config, "kubernetes-internal") };
  assert.deepEqual(decided([there]), []);
});

test("a machine that joins pools of two load balancers is written once: the later of two writes would take the other's place", () => {
  const config: ClusterConfig = { ...CONFIG, poolType: "nodeIPConfiguration" };
  const machine = `${SCALE_SET}/virtualMachines/0`;
  const seat = { name: "ip", properties: { primary: true } };
  const networkInterfaceConfigurations = [{ name: "nic", properties: { primary: true, ipConfigurations: [seat] } }];
  const instance = { id: machine, properties: { networkProfileConfiguration: { networkInterfaceConfigurations } } };
  const compute: Compute = {
    virtualMachines: new Map(),
    networkInterfaces: new Map(),
    scaleSets: new Map(),
    instances: new Map([[machine.toLowerCase(), instance]]),
  };
  const loadBalancers = [named("kubernetes", ["kubernetes"]), named("kubernetes-internal", ["kubernetes"])];
  const input = { config, loadBalancers, members: new Map(), compute };
  const decided = reconcilePools({
    ...input,
    nodes: [aNode("one", ["10.0.0.1"], { providerID: `azure://${machine}` })],
  });
  const joined = decided.flatMap((step) => (step.kind === "nicPools" ? [step.fragment] : []));
  assert.deepEqual(
    joined.map(({ join, nodes: names }) => ({ join: join.map(({ pool }) => pool), names })),
    [{ join: loadBalancers.map(({ id }) => `${id}/backendAddressPools/kubernetes`), names: ["one"] }],
  );
});

test("where a scale set's model names a pool, the member list lacks nodes that it does not have, present or departed", () => {
  const config: ClusterConfig = { ...CONFIG, poolType: "nodeIPConfiguration" };
  const loadBalancer = named("kubernetes", ["kubernetes", "kubernetes-IPv6"]);
  const pool = `${loadBalancer.id}/backendAddressPools/kubernetes`;
  const computeIn = (pools: readonly string[]): Compute => {
    const seat = { name: "ip", properties: { loadBalancerBackendAddressPools: pools.map((id) => ({ id })) } };
    const networkInterfaceConfigurations = [{ name: "nic", properties: { primary: true, ipConfigurations: [seat] } }];
    const properties = { virtualMachineProfile: { networkProfile: { networkInterfaceConfigurations } } };
    const model = { id: SCALE_SET, name: "set", properties };
    const scaleSets = new Map([[SCALE_SET.toLowerCase(), model]]);
    return { virtualMachines: new Map(), networkInterfaces: new Map(), scaleSets, instances: new Map() };
  };
  const lacking = (compute: Compute, known: readonly string[], departed: readonly string[]) => {
    const members = new Map([[loadBalancer.id.toLowerCase(), known]]);
    const input = { config, nodes, loadBalancers: [loadBalancer], members, compute };
    return unrecordedNames(input, departed).map(({ id, names }) => [id.toLowerCase(), names]);
  };
  assert.deepEqual(lacking(computeIn([pool]), [], ["gone"]), [[pool.toLowerCase(), ["one", "gone"]]]);
  assert.deepEqual(lacking(computeIn([pool]), ["one"], ["gone"]), [[pool.toLowerCase(), ["gone"]]]);
  assert.deepEqual(lacking(computeIn([pool]), ["gone", "one"], ["gone"]), []);
  assert.deepEqual(lacking(computeIn([]), [], ["gone"]), []);
});
