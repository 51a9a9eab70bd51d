import assert from "node:assert/strict";
import { test } from "node:test";

import type { SecurityGroup } from "../model/arm.ts";
import { type Address, parseAddress } from "../util/cidr.ts";
import { securityVerdict } from "./security-verdict.ts";

const at = (text: string): Address => parseAddress(text) ?? assert.fail(text);

function group(...rules: readonly Record<string, unknown>[]): SecurityGroup {
  const securityRules = rules.map((properties, index) => ({
    name: `rule${index}`,
    properties: {
      direction: "Inbound",
      access: "Allow",
      protocol: "Tcp",
      priority: 500 + index,
      sourceAddressPrefix: "*",
      destinationAddressPrefix: "*",
      destinationPortRange: "*",
      ...properties,
    },
  }));
  return { id: "/nsg", name: "nsg", properties: { securityRules } };
}

const WEB = { source: at("198.51.100.7"), destination: at("20.0.0.8"), port: 80, protocol: "TCP" } as const;

const CASES: readonly [what: string, group: SecurityGroup | undefined, access: string, rule: string][] = [
  ["nothing opens it", group(), "Deny", "DenyAllInBound"],
  ["there is no security group", undefined, "Deny", "DenyAllInBound"],
  ["a rule opens it", group({}), "Allow", "rule0"],
  ["another port", group({ destinationPortRange: "443" }), "Deny", "DenyAllInBound"],
  ["a range of ports", group({ destinationPortRange: undefined, destinationPortRanges: ["70-90"] }), "Allow", "rule0"],
  ["another protocol", group({ protocol: "Udp" }), "Deny", "DenyAllInBound"],
  ["another source", group({ sourceAddressPrefix: "203.0.113.0/24" }), "Deny", "DenyAllInBound"],
  ["its block", group({ sourceAddressPrefix: "", sourceAddressPrefixes: ["198.51.100.0/24"] }), "Allow", "rule0"],
  ["the Internet", group({ sourceAddressPrefix: "Internet" }), "Allow", "rule0"],
  ["the virtual network", group({ sourceAddressPrefix: "VirtualNetwork" }), "Deny", "DenyAllInBound"],
  ["outbound rules do not count", group({ direction: "Outbound" }), "Deny", "DenyAllInBound"],
  ["the lower priority counts", group({ priority: 600 }, { priority: 550, access: "Deny" }), "Deny", "rule1"],
  ["a service tag is not known", group({ sourceAddressPrefix: "AzureCloud" }), "unknown", "rule0"],
  [
    "a service tag behind a rule that decides does not matter",
    group({ access: "Deny" }, { sourceAddressPrefix: "AzureCloud" }),
    "Deny",
    "rule0",
  ],
  [
    "an application security group is not known",
    group({ destinationAddressPrefix: undefined, destinationApplicationSecurityGroups: [{ id: "/asg" }] }),
    "unknown",
    "rule0",
  ],
];

for (const [what, securityGroup, access, rule] of CASES) {
  test(`${what}: ${access}`, () => {
    const verdict = securityVerdict(securityGroup, WEB);
    assert.deepEqual([verdict.access, verdict.rule], [access, rule]);
  });
}

test("inside the network everything is open by default, and probes are from everywhere", () => {
  const inside = { ...WEB, source: at("10.1.2.3"), destination: at("10.240.0.4") };
  assert.equal(securityVerdict(group(), inside).rule, "AllowVnetInBound");
  assert.equal(securityVerdict(group(), { ...WEB, source: at("168.63.129.16") }).rule, "AllowAzureLoadBalancerInBound");
});
