import assert from "node:assert/strict";
import { test } from "node:test";
import type { SecurityRule } from "../../model/arm.ts";
import type { AccessRule } from "./fragment.ts";
import {
  destinationsOf,
  kindOf,
  means,
  newRule,
  ownRuleName,
  rewrittenRule,
  sharedRuleName,
  withDestinations,
} from "./security-rules.ts";

const BASE = "a0123456789abcdef0123456789abcde";

const allow = (protocol: string, sources: readonly string[], ports: readonly number[]): AccessRule => ({
  family: "IPv4",
  access: "Allow",
  protocol,
  sources,
  ports,
  destinations: ["20.0.0.1"],
});
const WEB = allow("Tcp", ["Internet"], [80, 443]);
const DENY: AccessRule = { ...WEB, access: "Deny", protocol: "*", sources: ["*"], ports: [] };

const names: readonly (readonly [string, string, string])[] = [
  ["two ports", sharedRuleName(WEB), "k8s-azure-lb_allow_IPv4_556f7044ec033071ec0dfcf7cd85bc93"],
  [
    "one port",
    sharedRuleName(allow("Tcp", ["Internet"], [80])),
    "k8s-azure-lb_allow_IPv4_d39272f7f57ed937951650d93992ad77",
  ],
  [
    "ranges in any order",
    sharedRuleName(allow("Udp", ["192.168.0.0/16", "10.0.0.0/8"], [53])),
    "k8s-azure-lb_allow_IPv4_545ea50c50ef8635dcabbb5c0e93cbed",
  ],
  ["IPv6", sharedRuleName({ ...WEB, family: "IPv6" }), "k8s-azure-lb_allow_IPv6_556f7044ec033071ec0dfcf7cd85bc93"],
  ["a denial", sharedRuleName(DENY), "k8s-azure-lb_deny-all_IPv4"],
  ["a rule of one's own", ownRuleName(BASE, WEB), `k8s-azure-lb_${BASE}_allow_IPv4_556f7044ec033071`],
  ["a denial of one's own", ownRuleName(BASE, DENY), `k8s-azure-lb_${BASE}_deny-all_IPv4`],
];
for (const [what, actual, expected] of names) {
  test(`${what} is named by its content`, () => assert.equal(actual, expected));
}

test("every name fits into the 80 characters that Azure allows", () => {
  assert.ok(ownRuleName(BASE, WEB).length <= 80);
});

const kinds: readonly (readonly [string, ReturnType<typeof kindOf>])[] = [
  [sharedRuleName(WEB), { kind: "shared" }],
  [sharedRuleName(DENY), { kind: "shared" }],
  [ownRuleName(BASE, WEB), { kind: "own", base: BASE }],
  [ownRuleName(BASE, DENY), { kind: "own", base: BASE }],
  [`${BASE}-TCP-80-Internet`, { kind: "legacy", base: BASE }],
  ["shared-TCP-80-Internet", { kind: "legacyShared" }],
  ["k8s-azure-lb-by-hand", { kind: "foreign" }],
  ["allow-ssh", { kind: "foreign" }],
  [BASE, { kind: "foreign" }],
];
for (const [name, kind] of kinds) {
  test(`${name} is ${kind.kind}`, () => assert.deepEqual(kindOf(name.toLowerCase()), kind));
}

test("a new rule has the fields that the incumbent writes", () => {
  const body = { name: "n", priority: 500 };
  assert.deepEqual(newRule(WEB, { ...body, destinations: ["20.0.0.1"] }), {
    name: "n",
    properties: {
      protocol: "Tcp",
      access: "Allow",
      direction: "Inbound",
      priority: 500,
      sourcePortRange: "*",
      sourceAddressPrefix: "Internet",
      destinationAddressPrefix: "20.0.0.1",
      destinationPortRanges: ["443", "80"],
    },
  });
  const ranges = allow("Tcp", ["5.6.7.8/32", "1.2.3.0/24"], [80]);
  const { properties } = newRule(ranges, { ...body, destinations: ["20.0.0.2", "20.0.0.1"] });
  assert.deepEqual(properties.sourceAddressPrefixes, ["1.2.3.0/24", "5.6.7.8/32"]);
  assert.deepEqual(properties.destinationAddressPrefixes, ["20.0.0.1", "20.0.0.2"]);
  assert.equal(newRule(DENY, { ...body, destinations: ["20.0.0.1"] }).properties.destinationPortRange, "*");
});

/** As Azure returns it: with empty lists and fields of its own. */
const READ: SecurityRule = {
  name: "n",
  id: "/x",
  etag: "e",
  properties: {
    ...newRule(WEB, { name: "n", priority: 700, destinations: ["20.0.0.1"] }).properties,
    description: "by us",
    sourceAddressPrefixes: [],
    destinationAddressPrefixes: [],
    provisioningState: "Succeeded",
  },
};

test("a rule means what it says, however its fields are filled", () => {
  assert.ok(means(READ, WEB));
  assert.ok(means({ ...READ, properties: { ...READ.properties, protocol: "TCP" } }, WEB));
  assert.ok(!means(READ, DENY));
  for (const change of [
    { access: "Deny" },
    { direction: "Outbound" },
    { protocol: "Udp" },
    { sourceAddressPrefix: "*" },
    { destinationPortRanges: ["80"] },
    { sourcePortRange: "1-2" },
  ]) {
    assert.ok(!means({ ...READ, properties: { ...READ.properties, ...change } }, WEB), JSON.stringify(change));
  }
});

test("other destinations leave everything else as it was read", () => {
  const changed = withDestinations(READ, ["b", "a"]);
  const { destinationAddressPrefix: _one, destinationAddressPrefixes: _many, ...rest } = READ.properties;
  assert.deepEqual(changed, { ...READ, properties: { ...rest, destinationAddressPrefixes: ["a", "b"] } });
  assert.deepEqual(destinationsOf(withDestinations(changed, ["a"])), ["a"]);
});

test("a rewritten rule means what is wanted, and keeps its priority and what we don't know", () => {
  const bent = { ...READ, properties: { ...READ.properties, access: "Deny", sourceAddressPrefix: "*" } };
  const mended = rewrittenRule(bent, WEB, ["20.0.0.1"]);
  assert.ok(means(mended, WEB));
  assert.equal(mended.properties.priority, 700);
  assert.equal(mended.properties["description"], "by us");
});
