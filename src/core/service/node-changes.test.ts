/** What a change of nodes means for Services. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { aNode, type CoreWorld } from "../../../test/support/core-world.ts";
import type { AzureStep } from "../steps.ts";
import { web, roundsOf, worldWith, ingressOf, loadBalancers } from "../../../test/support/service-rounds.ts";

describe("node changes", () => {
  test("are the pools' business: one step per pool however many Services there are", () => {
    const world = worldWith();
    for (const name of ["b", "c", "d"]) world.apply({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
    world.settle();
    world.nodes = [...world.nodes, aNode("vmss000003", ["10.240.0.7"])];
    const steps: readonly AzureStep[] = world.poolSteps();
    assert.deepEqual(
      steps.map(({ kind }) => kind),
      ["backendPool"],
    );
    world.write(world.service("web"), steps);
    assert.deepEqual(world.poolSteps(), []);
    assert.equal(world.decide(world.service("b")).kind, "settled");
  });

  test("without nodes the Service is served all the same, and a warning says so", () => {
    const world = worldWith();
    world.nodes = [];
    world.settle();
    const decision = world.decide(world.service("web"));
    assert.ok(decision.kind === "settled");
    assert.deepEqual(decision.warnings, [
      {
        reason: "UnAvailableLoadBalancer",
        message: "nobody answers this Service over IPv4: the cluster has no nodes; add some",
      },
    ]);
    assert.equal(ingressOf(world).length, 1);
  });

  test("pools of network interfaces are left before their load balancer is deleted", () => {
    const world = worldWithScaleSet();
    assert.deepEqual(roundsOf(world, "web").slice(3, 5), ["nicPools vmss", "nicPools 0"]);
    assert.equal(
      world.loadBalancers[0]?.properties.backendAddressPools?.[0]?.properties.backendIPConfigurations?.length,
      1,
    );
    world.delete("web");
    assert.deepEqual(roundsOf(world, "web").slice(0, 4), [
      "securityGroup nsg",
      "nicPools vmss",
      "nicPools 0",
      "loadBalancer kubernetes",
    ]);
    assert.deepEqual(loadBalancers(world), []);
  });

  test("pools of network interfaces are left before their load balancer makes way for a public IP that is replaced", () => {
    const world = worldWithScaleSet();
    world.settle();
    world.annotate("web", { [`${PREFIX}azure-pip-ip-tags`]: "RoutingPreference=Internet" });
    assert.deepEqual(roundsOf(world, "web").slice(1, 5), [
      "securityGroup nsg",
      "nicPools vmss",
      "nicPools 0",
      "loadBalancer kubernetes",
    ]);
    assert.deepEqual(loadBalancers(world), ["kubernetes"]);
    assert.equal(ingressOf(world).length, 1);
  });
});

/** One node, a machine of a scale set, and pools of network interfaces. */
function worldWithScaleSet(): CoreWorld {
  const id = (set: string): string =>
    `/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/${set}`;
  const seats = {
    networkInterfaceConfigurations: [
      {
        name: "nic",
        properties: { primary: true, ipConfigurations: [{ name: "ip", properties: { primary: true } }] },
      },
    ],
  };
  const world = worldWith(web, { poolType: "nodeIPConfiguration" });
  world.nodes = [aNode("vmss000000", ["10.240.0.4"], { providerID: `azure://${id("vmss")}/virtualMachines/0` })];
  world.compute = {
    virtualMachines: new Map(),
    networkInterfaces: new Map(),
    scaleSets: new Map([
      [
        id("vmss").toLowerCase(),
        { id: id("vmss"), name: "vmss", properties: { virtualMachineProfile: { networkProfile: seats } } },
      ],
    ]),
    instances: new Map([
      [
        `${id("vmss")}/virtualMachines/0`.toLowerCase(),
        { id: `${id("vmss")}/virtualMachines/0`, properties: { networkProfileConfiguration: seats } },
      ],
    ]),
  };
  return world;
}
