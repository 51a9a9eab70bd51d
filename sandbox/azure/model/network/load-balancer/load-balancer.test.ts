import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  build,
  codeOf,
  frontend,
  internalFrontend,
  LB,
  lbBody,
  nicBody,
  nicId,
  pipId,
  poolId,
  PUBLIC_IP,
  rule,
  scaleSetBody,
  SCALE_SET,
  SUBNET,
  azureWithLoadBalancer,
} from "../../test-fixtures.ts";
import { NETWORK, type Wire } from "../../test-azure.ts";

const PROBE = { name: "probe", properties: { protocol: "Tcp", port: 80 } };

describe("what a load balancer shares", () => {
  test("a basic load balancer takes no standard address", () => {
    const azure = azureWithLoadBalancer({ sku: "Basic" });
    build(azure, [pipId("standard"), PUBLIC_IP]);
    assert.equal(
      codeOf(azure.put(LB, lbBody({ sku: "Basic", frontends: [frontend("front", "standard")] }))),
      "PublicIPAndLBSkuDoNotMatch",
    );
  });

  test("a public address of another load balancer is not to be had, and the owner is named", () => {
    const azure = azureWithLoadBalancer();
    const answer = azure.put(`${NETWORK}/loadBalancers/other`, lbBody({ pools: [] }));
    assert.equal(answer.body.error.code, "PublicIPAddressInUse");
    assert.match(answer.body.error.message, /loadBalancers\/lb\/frontendIPConfigurations\/front/);
  });

  test("rules of two public load balancers may not share a NIC's port", () => {
    const other = `${NETWORK}/loadBalancers/other`;
    const azure = azureWithLoadBalancer({ rules: [rule("a")] });
    build(
      azure,
      [other, lbBody({ frontends: [frontend("front", "pip2")] })],
      [nicId("nic"), nicBody([poolId("pool"), poolId("pool", other)])],
    );
    const answer = azure.put(other, lbBody({ frontends: [frontend("front", "pip2")], rules: [rule("b", {}, other)] }));
    assert.equal(codeOf(answer), "RulesOfSameLoadBalancerTypeUseSameBackendPortProtocolAndIPConfig");
    assert.equal(
      azure.put(
        other,
        lbBody({ frontends: [frontend("front", "pip2")], rules: [rule("b", { enableFloatingIP: true }, other)] }),
      ).status,
      200,
    );
  });

  test("a NIC takes part in so many rules and no more", () => {
    const azure = azureWithLoadBalancer({ rules: [rule("a")] }, { limits: { rulesPerNic: 1 } });
    build(azure, [nicId("nic"), nicBody([poolId("pool")])]);
    const rules = [rule("a"), rule("b", { frontendPort: 81, backendPort: 81 })];
    assert.equal(codeOf(azure.put(LB, lbBody({ rules }))), "LoadBalancerRuleCountLimitReachedForNic");
  });
});

describe("what holds a load balancer", () => {
  test("a scale set's model holds it, and says so", () => {
    const azure = azureWithLoadBalancer();
    build(azure, [SCALE_SET, scaleSetBody(0, [poolId("pool")])]);
    const answer = azure.delete(LB);
    assert.equal(answer.body.error.code, "LoadBalancerInUseByVirtualMachineScaleSet");
    assert.match(answer.body.error.message, /virtualMachineScaleSets\/vmss/);
  });

  test("a scale set's health probe keeps its rule", () => {
    const served = { rules: [rule("a", { probe: { id: `${LB}/probes/probe` } })], probes: [PROBE] };
    const azure = azureWithLoadBalancer({ probes: [PROBE] });
    const body = scaleSetBody(0) as {
      properties: { virtualMachineProfile: { networkProfile: Record<string, unknown> } };
    };
    body.properties.virtualMachineProfile.networkProfile["healthProbe"] = { id: `${LB}/probes/probe` };
    assert.equal(codeOf(azure.put(SCALE_SET, body)), "CannotUseInactiveHealthProbe");
    build(azure, [LB, lbBody(served)], [SCALE_SET, body]);
    assert.equal(codeOf(azure.put(LB, lbBody({ probes: [PROBE] }))), "CannotRemoveRuleUsedByProbeUsedByVMSS");
  });

  test("a pool with NIC members does not go away with a PUT that leaves it out", () => {
    const azure = azureWithLoadBalancer();
    build(azure, [nicId("nic"), nicBody([poolId("pool")])]);
    assert.equal(azure.put(LB, lbBody({ pools: [] })).status, 400);
  });

  test("NICs do not: they leave its pools when it goes, and no other", () => {
    const other = `${NETWORK}/loadBalancers/other`;
    const azure = azureWithLoadBalancer();
    const pools = [poolId("pool"), poolId("pool", other)];
    build(azure, [other, lbBody({ frontends: [frontend("front", "pip2")] })], [nicId("nic"), nicBody(pools)]);
    const poolsOf = (): unknown =>
      azure.get(nicId("nic")).body.properties.ipConfigurations[0].properties.loadBalancerBackendAddressPools;
    azure.tailMs = 1_000;
    assert.equal(azure.delete(LB).status, 202);
    assert.deepEqual(poolsOf(), [{ id: pools[0] }, { id: pools[1] }], "until the operation ends");
    const { etag } = azure.get(nicId("nic")).body;
    azure.nowMs += 1_000;
    assert.equal(azure.get(LB).status, 404);
    assert.deepEqual(poolsOf(), [{ id: pools[1] }]);
    assert.notEqual(azure.get(nicId("nic")).body.etag, etag);
  });

  test("two that go at once leave nothing behind on a NIC of both", () => {
    const other = `${NETWORK}/loadBalancers/other`;
    const azure = azureWithLoadBalancer();
    build(azure, [other, lbBody({ frontends: [frontend("front", "pip2")] })]);
    build(azure, [nicId("nic"), nicBody([poolId("pool"), poolId("pool", other)])]);
    azure.tailMs = 1_000;
    assert.deepEqual([azure.delete(LB).status, azure.delete(other).status], [202, 202]);
    azure.nowMs += 1_000;
    const [configuration] = azure.get(nicId("nic")).body.properties.ipConfigurations;
    assert.equal(configuration.properties.loadBalancerBackendAddressPools, undefined);
  });

  test("a scale set's instances hold it when the model no longer does", () => {
    const azure = azureWithLoadBalancer();
    build(azure, [SCALE_SET, scaleSetBody(1, [poolId("pool")])], [SCALE_SET, scaleSetBody(1)]);
    assert.equal(codeOf(azure.delete(LB)), "LoadBalancerInUseByVirtualMachineScaleSet");
  });

  test("a pool that a rule names is not deleted alone", () => {
    const azure = azureWithLoadBalancer({ rules: [rule("a")] });
    assert.equal(codeOf(azure.delete(poolId("pool"))), "InvalidResourceReference");
    build(azure, [LB, lbBody()]);
    assert.equal(azure.delete(poolId("pool")).status, 202);
    assert.deepEqual(azure.get(LB).body.properties.backendAddressPools, []);
  });
});

describe("the normal form", () => {
  test("has defaults, back-references, both spellings of the pool, and canonical ids", () => {
    const azure = azureWithLoadBalancer();
    const loud = (id: string): string =>
      id.replace("loadBalancers", "LOADBALANCERS").replace("frontendIPConfigurations", "FrontendIpConfigurations");
    const written = rule("a", {
      frontendIPConfiguration: { id: loud(`${LB}/frontendIPConfigurations/FRONT`) },
      probe: { id: `${LB}/probes/probe` },
    });
    build(azure, [LB, lbBody({ rules: [written], probes: [PROBE] })]);
    const { properties } = azure.get(LB).body;
    assert.deepEqual(properties.loadBalancingRules[0].properties, {
      provisioningState: "Succeeded",
      frontendIPConfiguration: { id: `${LB}/frontendIPConfigurations/front` },
      frontendPort: 80,
      backendPort: 80,
      protocol: "Tcp",
      enableFloatingIP: false,
      idleTimeoutInMinutes: 4,
      enableTcpReset: false,
      enableDestinationServiceEndpoint: false,
      allowBackendPortConflict: false,
      disableOutboundSnat: false,
      loadDistribution: "Default",
      probe: { id: `${LB}/probes/probe` },
      backendAddressPool: { id: poolId("pool") },
      backendAddressPools: [{ id: poolId("pool") }],
    });
    const link = [{ id: `${LB}/loadBalancingRules/a` }];
    assert.deepEqual(properties.frontendIPConfigurations[0].properties.loadBalancingRules, link);
    assert.deepEqual(properties.backendAddressPools[0].properties.loadBalancingRules, link);
    assert.deepEqual(properties.probes[0].properties.loadBalancingRules, link);
    assert.equal(properties.probes[0].properties.probeThreshold, 1);
    assert.deepEqual(properties.inboundNatPools, []);
  });

  test("keeps fields that it does not know, at every level, and gives them back", () => {
    const azure = azureWithLoadBalancer();
    const unknown = { deep: [{ odd: null }, 1.5, "text"] };
    const body = lbBody({
      frontends: [{ ...frontend("front", "pip1"), brandNew: unknown }],
      pools: [{ name: "pool", properties: { fieldOfTomorrow: unknown } }],
      rules: [rule("a", { fieldOfTomorrow: unknown })],
    });
    const written = {
      ...body,
      topLevelNews: unknown,
      properties: { ...(body["properties"] as object), lbNews: unknown },
    };
    build(azure, [LB, written]);
    const wire = azure.get(LB).body;
    assert.deepEqual(wire.topLevelNews, unknown);
    assert.deepEqual(wire.properties.lbNews, unknown);
    assert.deepEqual(wire.properties.frontendIPConfigurations[0].brandNew, unknown);
    assert.deepEqual(wire.properties.backendAddressPools[0].properties.fieldOfTomorrow, unknown);
    assert.deepEqual(wire.properties.loadBalancingRules[0].properties.fieldOfTomorrow, unknown);
    assert.deepEqual(azure.put(LB, wire).body, wire, "what was read can be written back as it is");
  });

  test("gives internal frontends an address, and lets them keep it", () => {
    const frontends = [
      internalFrontend("front"),
      internalFrontend("fixed", { privateIPAllocationMethod: "Static", privateIPAddress: "10.0.0.9" }),
    ];
    const azure = azureWithLoadBalancer({ frontends });
    const addresses = () =>
      azure.get(LB).body.properties.frontendIPConfigurations.map((item: Wire) => item.properties.privateIPAddress);
    assert.deepEqual(addresses(), ["10.0.0.4", "10.0.0.9"]);
    build(azure, [LB, lbBody({ frontends: [internalFrontend("new"), ...frontends] })]);
    assert.deepEqual(addresses(), ["10.0.0.5", "10.0.0.4", "10.0.0.9"]);
    const subnet = azure.get(SUBNET).body;
    assert.equal(subnet.properties.ipConfigurations.length, 3);
  });
});
