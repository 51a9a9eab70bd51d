/** Load balancers that Azure does not take, and the code by which it says so. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  build,
  codeOf,
  frontend,
  internalFrontend,
  LB,
  lbBody,
  pipId,
  poolId,
  PUBLIC_IP,
  rule,
  azureWithLoadBalancer,
  type LbParts,
} from "../../test-fixtures.ts";

const FRONT2 = { frontendIPConfiguration: { id: `${LB}/frontendIPConfigurations/front2` } };
const TWO_FRONTENDS = [frontend("front", "pip1"), frontend("front2", "pip2")];

describe("a load balancer is refused", () => {
  const cases: readonly (readonly [what: string, parts: LbParts, code: string])[] = [
    [
      "two rules on one backend port of a pool",
      { frontends: TWO_FRONTENDS, rules: [rule("a"), rule("b", FRONT2)] },
      "RulesUseSameBackendPortProtocolAndPool",
    ],
    [
      "two floating rules on one backend port of a pool and frontend",
      { rules: [rule("a", { enableFloatingIP: true }), rule("b", { frontendPort: 81, enableFloatingIP: true })] },
      "RulesUseSameBackendPortProtocolAndPoolAndFrontendIPWithFloatingIPEnabled",
    ],
    [
      "two rules on one frontend port",
      { rules: [rule("a"), rule("b", { backendPort: 81 })] },
      "RulesUseSameFrontendPortProtocolAndIPConfig",
    ],
    [
      "two rules for all ports in one pool",
      {
        frontends: [internalFrontend("front"), internalFrontend("front2")],
        rules: [haPorts("a"), haPorts("b", FRONT2)],
      },
      "RulesUseSameBackendPortProtocolAndPool",
    ],
    [
      "a frontend without an address",
      { frontends: [{ name: "front", properties: {} }] },
      "FrontendIPConfigHasNoSubnetOrPublicIP",
    ],
    [
      "a frontend that is public and internal",
      { frontends: [internalFrontend("front", { publicIPAddress: { id: pipId("pip1") } })] },
      "FrontendIPConfigHasBothSubnetAndPublicIP",
    ],
    ["pools without a frontend", { frontends: [] }, "LoadBalancerWithoutFrontendIPCantHaveChildResources"],
    [
      "one public address in two frontends",
      { frontends: [frontend("front", "pip1"), frontend("x", "pip1")] },
      "PublicIPReferencedByMultipleIPConfigs",
    ],
    [
      "a basic public address",
      { frontends: [frontend("front", "basic")] },
      "DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed",
    ],
    [
      "SNAT on a frontend with an outbound rule",
      { rules: [rule("a")], outboundRules: [outboundRule({})] },
      "LoadBalancingRuleMustDisableSNATSinceSameFrontendIPConfigurationIsReferencedByOutboundRule",
    ],
    [
      "outbound ports that are no multiple of 8",
      { outboundRules: [outboundRule({ allocatedOutboundPorts: 9 })] },
      "InvalidAllocatedOutboundPorts",
    ],
    ["a rule without its frontend", { rules: [rule("a", FRONT2)] }, "InvalidResourceReference"],
    ["a rule without its pool", { pools: [], rules: [rule("a")] }, "InvalidResourceReference"],
    [
      "a rule without its probe",
      { rules: [rule("a", { probe: { id: `${LB}/probes/x` } })] },
      "InvalidResourceReference",
    ],
    ["a public address that is not there", { frontends: [frontend("front", "nope")] }, "InvalidResourceReference"],
    [
      "a reference without an id",
      { frontends: [{ name: "front", properties: { publicIPAddress: {} } }] },
      "MissingJsonReferenceId",
    ],
    [
      "a reference that is no id",
      { frontends: [{ name: "front", properties: { publicIPAddress: { id: "pip1" } } }] },
      "LinkedInvalidPropertyId",
    ],
    ["a frontend name of 81 characters", { frontends: [frontend("f".repeat(81), "pip1")] }, "InvalidResourceName"],
    ["two pools of one name", { pools: [{ name: "pool" }, { name: "POOL" }] }, "DuplicateResourceName"],
    ["port 0 without protocol All", { rules: [rule("a", { frontendPort: 0, backendPort: 0 })] }, "InvalidRulePort"],
    [
      "an HTTP probe without a path",
      { probes: [{ name: "p", properties: { protocol: "Http", port: 80 } }] },
      "InvalidProbe",
    ],
    [
      "a probe that takes too long",
      { probes: [{ name: "p", properties: { protocol: "Tcp", port: 80, intervalInSeconds: 61, numberOfProbes: 2 } }] },
      "InvalidProbe",
    ],
    ["an idle timeout of 3 minutes", { rules: [rule("a", { idleTimeoutInMinutes: 3 })] }, "InvalidIdleTimeout"],
    ["another sku", { sku: "Gateway" }, "LoadBalancerSkuCannotBeChanged"],
    [
      "more frontends than fit",
      { frontends: [frontend("front", "pip1"), frontend("b", "pip2"), frontend("c", "pip3")] },
      "FrontendIPConfigurationCountLimitReached",
    ],
    [
      "more rules than fit",
      { rules: [1, 2, 3, 4].map((port) => rule(`r${port}`, { frontendPort: port, backendPort: port })) },
      "LoadBalancerRuleCountLimitReached",
    ],
  ];
  for (const [what, parts, code] of cases) {
    test(`for ${what}`, () => {
      const azure = azureWithLoadBalancer({}, { limits: { frontendsPerLoadBalancer: 2, rulesPerLoadBalancer: 3 } });
      build(azure, [pipId("basic"), { ...PUBLIC_IP, sku: { name: "Basic" } }]);
      const before = azure.get(LB).body;
      const answer = azure.put(LB, lbBody(parts));
      assert.equal(codeOf(answer), code);
      assert.deepEqual(azure.get(LB).body, before);
    });
  }
});

test("protocol All with a port is taken; with one port 0 it is not, and port 0 is for All alone", () => {
  const azure = azureWithLoadBalancer({ frontends: [internalFrontend("front")] });
  const put = (more: Record<string, unknown>): number =>
    azure.put(LB, lbBody({ frontends: [internalFrontend("front")], rules: [rule("a", more)] })).status;
  assert.equal(put({ protocol: "All", frontendPort: 80, backendPort: 80 }), 200);
  assert.equal(put({ protocol: "All", frontendPort: 0, backendPort: 80 }), 400);
  assert.equal(put({ protocol: "Tcp", frontendPort: 0, backendPort: 0 }), 400);
});

function haPorts(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return rule(name, { protocol: "All", frontendPort: 0, backendPort: 0, ...more });
}

function outboundRule(more: Record<string, unknown>): Record<string, unknown> {
  const properties = {
    frontendIPConfigurations: [{ id: `${LB}/frontendIPConfigurations/front` }],
    backendAddressPool: { id: poolId("pool") },
    protocol: "All",
    ...more,
  };
  return { name: "out", properties };
}
