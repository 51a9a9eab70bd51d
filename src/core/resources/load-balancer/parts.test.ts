import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frontend } from "../../model/arm.ts";
import { PREFIX } from "../../../../test/support/core-fixtures.ts";
import { CoreWorld } from "../../../../test/support/core-world.ts";
import { correctedFrontend, correctedRule, isAtAddress } from "./parts.ts";

const subnet = { id: "/subnets/subnet" };
const six: Frontend = {
  name: "base",
  zones: ["1"],
  properties: {
    subnet,
    privateIPAddressVersion: "IPv6",
    privateIPAllocationMethod: "Dynamic",
    privateIPAddress: "fd00::4",
  },
};
const four: Frontend = { name: "base", properties: { subnet, privateIPAllocationMethod: "Dynamic" } };

test("a private frontend of the other family is not right, although it stands in the subnet", () => {
  assert.equal(isAtAddress(six, four), false);
  assert.deepEqual(correctedFrontend(six, four), { ...six, properties: four.properties });
});

test("Azure's own IPv4 is the same as none", () => {
  const seen = {
    ...four,
    properties: { ...four.properties, privateIPAddressVersion: "IPv4", privateIPAddress: "10.0.0.4" },
  };
  assert.ok(isAtAddress(seen, four));
});

test("the list that repeats a rule's pool stays with the pool, and goes when the pool is another", () => {
  const rule = (pool: string, minutes: number) => ({
    name: "rule",
    properties: {
      protocol: "Tcp",
      frontendPort: 80,
      backendAddressPool: { id: `/pools/${pool}` },
      idleTimeoutInMinutes: minutes,
    },
  });
  const before = rule("kubernetes", 4);
  const seen = { ...before, properties: { ...before.properties, backendAddressPools: [{ id: "/pools/kubernetes" }] } };
  const slower = correctedRule(seen, rule("kubernetes", 9));
  assert.deepEqual(slower.properties, { ...seen.properties, idleTimeoutInMinutes: 9 });
  assert.deepEqual(correctedRule(seen, rule("other", 4)).properties, rule("other", 4).properties);
});

test("options of frontends and probes: what is asked for is put right, what is not is left, and none moves an address", () => {
  const world = new CoreWorld();
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  world.settle();
  const gateway =
    "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/g/frontendIPConfigurations/f";
  const options = (): unknown[] => {
    const { frontendIPConfigurations = [], probes = [] } = world.loadBalancers[0]?.properties ?? {};
    const { enableConnectionTracking, gatewayLoadBalancer } = frontendIPConfigurations[0]?.properties ?? {};
    return [enableConnectionTracking, gatewayLoadBalancer?.id, probes[0]?.properties.noHealthyBackendsBehavior];
  };
  const ask = (tracking: string | null, id: string | null, healthy: string | null): unknown[] => {
    world.annotate("web", {
      [`${PREFIX}azure-load-balancer-connection-tracking`]: tracking,
      [`${PREFIX}azure-load-balancer-gateway`]: id,
      [`${PREFIX}azure-load-balancer-health-probe-no-healthy-backends`]: healthy,
    });
    assert.deepEqual(world.settle(), new Map());
    return options();
  };
  const before = world.service("web").status.loadBalancer.ingress;
  assert.deepEqual(ask("true", null, null), [true, undefined, undefined]);
  assert.deepEqual(ask("true", gateway, null), [true, gateway, undefined]);
  assert.deepEqual(ask("true", gateway, "AllProbedUp"), [true, gateway, "AllProbedUp"]);
  assert.deepEqual(ask(null, null, null), [true, gateway, "AllProbedUp"]);
  assert.deepEqual(ask("false", gateway, "AllProbedUp"), [false, gateway, "AllProbedUp"]);
  assert.deepEqual(ask("false", "", "AllProbedUp"), [false, undefined, "AllProbedUp"]);
  assert.deepEqual(ask("false", "", "AllProbedDown"), [false, undefined, "AllProbedDown"]);
  assert.deepEqual(world.service("web").status.loadBalancer.ingress, before);
});
