/** What a change of nodes means for Services. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { aNode, CoreWorld } from "../../../test/support/core-world.ts";
import type { SecurityGroup, SecurityRule } from "../model/arm.ts";
import { destinationsOf } from "../resources/security-group/security-rules.ts";
import type { AzureStep, Step } from "../steps.ts";
import { isRepair } from "./drift-policy.ts";
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

  describe("without a floating IP security rules name the nodes, and follow them whatever the drift policy", () => {
    const noFloatingIP = { [`${PREFIX}azure-disable-load-balancer-floating-ip`]: "true" };
    const served = (): CoreWorld => {
      const world = new CoreWorld();
      for (const name of ["web", "other"])
        world.apply({ metadata: { name, annotations: noFloatingIP }, spec: { ports: [{ port: 80 }] } });
      world.settle();
      return world;
    };
    const stepsOf = (world: CoreWorld, name: string): readonly Step[] => {
      const decision = world.decide(world.service(name));
      return decision.kind === "act" ? decision.steps : [];
    };
    const ours = (world: CoreWorld): readonly SecurityRule[] =>
      (world.securityGroup?.properties.securityRules ?? []).filter(({ name }) => name.startsWith("k8s-azure-lb"));

    /** With the empty lists that Azure adds. */
    const shown = (group: SecurityGroup): SecurityGroup => {
      const securityRules = (group.properties.securityRules ?? []).map((rule) => ({
        ...rule,
        properties: { sourcePortRanges: [], sourceAddressPrefixes: [], ...rule.properties },
      }));
      return { ...group, properties: { ...group.properties, securityRules } };
    };

    for (const [what, change, nodes] of [
      ["a node that comes", (all) => [...all, aNode("vmss000003", ["10.240.0.7"])], ["4", "5", "6", "7"]],
      ["a node that goes", (all) => all.slice(0, 2), ["4", "5"]],
    ] satisfies [string, (nodes: CoreWorld["nodes"]) => CoreWorld["nodes"], string[]][]) {
      test(what, () => {
        const world = served();
        world.securityGroup = shown(world.securityGroup ?? assert.fail());
        world.nodes = change(world.nodes);
        world.write(world.service("web"), world.poolSteps());
        for (const name of ["web", "other"]) {
          const steps = stepsOf(world, name);
          assert.deepEqual(
            steps.map(({ kind }) => kind),
            ["securityGroup"],
          );
          assert.deepEqual(steps.filter(isRepair), []);
          world.write(world.service(name), steps);
        }
        const wanted = nodes.map((host) => `10.240.0.${host}`);
        assert.deepEqual(
          ours(world).map((rule) => destinationsOf(rule)),
          [wanted, wanted],
        );
      });
    }

    test("an edit of another client is none of that", () => {
      for (const edit of [{ destinationPortRanges: ["1"] }, { destinationAddressPrefixes: ["20.0.0.9"] }]) {
        const world = served();
        const group = world.securityGroup ?? assert.fail();
        const [first] = ours(world);
        const securityRules = (group.properties.securityRules ?? []).map((rule) =>
          rule === first ? { ...rule, properties: { ...rule.properties, ...edit } } : rule,
        );
        world.securityGroup = { ...group, properties: { ...group.properties, securityRules } };
        assert.equal(stepsOf(world, "web").filter(isRepair).length, 1, JSON.stringify(edit));
      }
    });
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
