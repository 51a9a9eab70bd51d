import assert from "node:assert/strict";
import { test } from "node:test";
import { losses } from "./losses.ts";
import { diff } from "./plan-diff.ts";

const rule = (properties: object): object => ({ properties: { securityRules: [{ name: "r", properties }] } });
const balancer = (properties: object): object => ({ properties });
const frontend = (id: string): object => ({ name: "f", properties: { publicIPAddress: { id } } });

test("what traffic depends on is lost; what only changes its spelling, or is no part of serving, is not", () => {
  const table: readonly (readonly [what: string, before: object, after: object, lost: number])[] = [
    [
      "an address that moves from the single field to the list",
      rule({ destinationAddressPrefix: "20.0.0.4" }),
      rule({ destinationAddressPrefixes: ["20.0.0.4", "20.0.0.5"] }),
      0,
    ],
    [
      "an address that leaves the list",
      rule({ destinationAddressPrefixes: ["20.0.0.4", "20.0.0.5"] }),
      rule({ destinationAddressPrefix: "20.0.0.5" }),
      1,
    ],
    ["a source that is widened", rule({ sourceAddressPrefix: "10.0.0.0/8" }), rule({ sourceAddressPrefix: "*" }), 0],
    ["a source that is narrowed", rule({ sourceAddressPrefix: "*" }), rule({ sourceAddressPrefix: "10.0.0.0/8" }), 1],
    ["a port that goes", rule({ destinationPortRanges: ["80", "443"] }), rule({ destinationPortRanges: ["443"] }), 1],
    ["a security rule", rule({}), { properties: { securityRules: [] } }, 1],
    ["a tag", { tags: { a: "b" } }, { tags: {} }, 0],
    ["a probe", balancer({ probes: [{ name: "p" }] }), balancer({ probes: [] }), 0],
    ["a rule", balancer({ loadBalancingRules: [{ name: "r" }] }), balancer({ loadBalancingRules: [] }), 1],
    [
      "a frontend that gets another public IP",
      balancer({ frontendIPConfigurations: [frontend("one")] }),
      balancer({ frontendIPConfigurations: [frontend("other")] }),
      1,
    ],
    [
      "an address of a status",
      { status: { loadBalancer: { ingress: [{ ip: "20.0.0.4" }] } } },
      { status: { loadBalancer: { ingress: [{ ip: "20.0.0.5" }] } } },
      1,
    ],
    [
      "a timeout",
      balancer({ loadBalancingRules: [{ name: "r", properties: { idleTimeoutInMinutes: 4 } }] }),
      balancer({ loadBalancingRules: [{ name: "r", properties: {} }] }),
      0,
    ],
  ];
  for (const [what, before, after, lost] of table) assert.equal(losses(diff(before, after)).length, lost, what);
});
