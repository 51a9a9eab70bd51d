import assert from "node:assert/strict";
import { test } from "node:test";

import { parseBlock } from "../../shared/cidr.ts";
import type { Flow } from "./forwarding.ts";
import { inboundRules, evaluateInbound } from "./security-rules.ts";
import { flow } from "./test-members.ts";

const NETWORK = [parseBlock("10.240.0.0/12") ?? assert.fail("no block")];

/** `100 Allow Tcp Internet * 10.240.0.4 80`: priority, access, protocol, source, its ports, destination, its ports. */
function group(...lines: string[]) {
  const securityRules = lines.map((line) => {
    const [priority, access, protocol, source, sourcePort, destination, port] = line.split(" ");
    return {
      name: line,
      properties: {
        direction: "Inbound",
        priority: Number(priority),
        access,
        protocol,
        sourcePortRange: sourcePort,
        ...plural("sourceAddressPrefix", "es", source ?? ""),
        ...plural("destinationAddressPrefix", "es", destination ?? ""),
        ...plural("destinationPortRange", "s", port ?? ""),
      },
    };
  });
  return inboundRules({ properties: { securityRules } });
}

function plural(field: string, ending: string, text: string) {
  return text.includes(",") ? { [`${field}${ending}`]: text.split(",") } : { [field]: text };
}

const toMember = (more: Partial<Flow> = {}): Flow => flow({ destinationAddress: "10.240.0.4", ...more });

const TABLE: readonly [name: string, rules: readonly string[], flow: Flow, decidedBy: string][] = [
  ["a group without rules of its own denies the Internet", [], toMember(), "DenyAllInBound"],
  ["the network may talk to itself", [], toMember({ sourceAddress: "10.240.0.9" }), "AllowVnetInBound"],
  ["probes get in", [], toMember({ sourceAddress: "168.63.129.16" }), "AllowAzureLoadBalancerInBound"],
  [
    "with floating IP the destination is outside the network",
    [],
    flow({ sourceAddress: "10.240.0.9" }),
    "DenyAllInBound",
  ],
  ["a tag for the source", ["100 Allow Tcp Internet * * 80"], toMember(), "100 Allow Tcp Internet * * 80"],
  [
    "the Internet is not private",
    ["100 Allow Tcp Internet * * 80"],
    toMember({ sourceAddress: "192.168.0.1" }),
    "DenyAllInBound",
  ],
  ["the lowest number decides", ["200 Deny * * * * *", "100 Allow * * * * *"], toMember(), "100 Allow * * * * *"],
  ["another port", ["100 Allow Tcp * * * 443"], toMember(), "DenyAllInBound"],
  ["a range of ports", ["100 Allow Tcp * * * 443,70-90"], toMember(), "100 Allow Tcp * * * 443,70-90"],
  ["another protocol", ["100 Allow Udp * * * 80"], toMember(), "DenyAllInBound"],
  ["another source port", ["100 Allow Tcp * 1-1024 * 80"], toMember(), "DenyAllInBound"],
  [
    "the right source among several",
    ["100 Allow Tcp 198.51.100.0/24,203.0.113.1 * * 80"],
    toMember(),
    "100 Allow Tcp 198.51.100.0/24,203.0.113.1 * * 80",
  ],
  ["another destination", ["100 Allow Tcp * * 20.0.0.8 80"], flow(), "DenyAllInBound"],
  ["the frontend as destination", ["100 Allow Tcp * * 20.0.0.7 80"], flow(), "100 Allow Tcp * * 20.0.0.7 80"],
  ["an unknown tag", ["100 Allow Tcp Storage * * 80"], toMember(), "DenyAllInBound"],
  [
    "a family of its own",
    ["100 Allow Tcp 2001:db8::/32 * * 80"],
    toMember({ sourceAddress: "2001:db8::1" }),
    "100 Allow Tcp 2001:db8::/32 * * 80",
  ],
];

for (const [name, rules, flow, decidedBy] of TABLE) {
  test(`${name}: ${decidedBy}`, () => {
    const access = evaluateInbound([group(...rules)], flow, NETWORK);
    assert.deepEqual(access, { allowed: decidedBy.includes("Allow"), rule: decidedBy });
  });
}

test("an outbound rule says nothing about what comes in", () => {
  const outbound = {
    name: "out",
    properties: { direction: "Outbound", priority: 100, access: "Allow", protocol: "*" },
  };
  assert.ok(!inboundRules({ properties: { securityRules: [outbound] } }).some(({ name }) => name === "out"));
});

test("subnet and NIC must both allow", () => {
  const [open, closed] = [group("100 Allow * * * * *"), group()];
  assert.equal(evaluateInbound([open, open], toMember(), NETWORK).allowed, true);
  assert.equal(evaluateInbound([open, closed], toMember(), NETWORK).allowed, false);
  assert.equal(evaluateInbound([closed, open], toMember(), NETWORK).allowed, false);
});
