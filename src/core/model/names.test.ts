import assert from "node:assert/strict";
import { test } from "node:test";
import {
  baseName,
  baseOf,
  externalName,
  frontendName,
  fleetName,
  fleetNumber,
  isManagedLoadBalancer,
  loadBalancerName,
  localProbeName,
  type Naming,
  poolName,
  publicIPName,
  ruleName,
} from "./names.ts";

const BASE = "a0123456789abcdef0123456789abcde";
const v4: Naming = { base: BASE, subnet: undefined, families: ["IPv4"] };
const v6: Naming = { ...v4, families: ["IPv6"] };
const dual: Naming = { ...v4, families: ["IPv4", "IPv6"] };
const inSubnet = (subnet: string): Naming => ({ ...v4, subnet });
const longSubnet = "s".repeat(80);

test("the base is `a` and the UID without dashes, cut to 32 characters", () => {
  assert.equal(baseName("01234567-89ab-cdef-0123-456789abcdef"), BASE);
});

const cases: readonly (readonly [string, string, string])[] = [
  ["a frontend bears the base", frontendName(v4, "IPv4"), BASE],
  ["a frontend in a subnet says so", frontendName(inSubnet("apps"), "IPv4"), `${BASE}-apps`],
  ["a frontend is cut to 75", frontendName(inSubnet(longSubnet), "IPv4"), `${BASE}-${"s".repeat(42)}`],
  [
    "a cut frontend that ends in no letter ends in an underscore",
    frontendName(inSubnet(`${"s".repeat(41)}-more`), "IPv4"),
    `${BASE}-${"s".repeat(41)}_`,
  ],
  ["a digit is no letter either", frontendName(inSubnet("7".repeat(60)), "IPv4"), `${BASE}-${"7".repeat(41)}_`],
  [
    "a frontend of exactly 75 is left alone",
    frontendName(inSubnet("7".repeat(42)), "IPv4"),
    `${BASE}-${"7".repeat(42)}`,
  ],
  ["single-stack IPv6 has no suffix", frontendName(v6, "IPv6"), BASE],
  ["the IPv6 half of dual stack has one", frontendName(dual, "IPv6"), `${BASE}-IPv6`],
  ["the IPv4 half has none", frontendName(dual, "IPv4"), BASE],
  [
    "the suffix follows the cut",
    frontendName({ ...dual, subnet: longSubnet }, "IPv6"),
    `${BASE}-${"s".repeat(42)}-IPv6`,
  ],
  ["a rule names protocol and port", ruleName(v4, "UDP", 53, "IPv4"), `${BASE}-UDP-53`],
  ["a rule in a subnet says so", ruleName(inSubnet("apps"), "TCP", 80, "IPv4"), `${BASE}-apps-TCP-80`],
  [
    "only the subnet part of a rule is cut",
    ruleName(inSubnet(longSubnet), "TCP", 80, "IPv4"),
    `${BASE}-${"s".repeat(35)}-TCP-80`,
  ],
  ["a rule of the IPv6 half is marked", ruleName(dual, "TCP", 80, "IPv6"), `${BASE}-TCP-80-IPv6`],
  ["the probe of a Local Service names TCP and its port", localProbeName(v4, 31000, "IPv4"), `${BASE}-TCP-31000`],
  ["a public IP names the cluster", publicIPName("kubernetes", v4, "IPv4"), `kubernetes-${BASE}`],
  [
    "a public IP from a prefix names it",
    publicIPName("kubernetes", v4, "IPv4", "/subscriptions/s/publicIPPrefixes/eight"),
    `kubernetes-${BASE}-eight`,
  ],
  ["a public IP is cut to 75", publicIPName("c".repeat(60), v4, "IPv4"), `${"c".repeat(60)}-${BASE}`.slice(0, 75)],
  [
    "the public IP of the IPv6 half is marked after the cut",
    publicIPName("c".repeat(60), dual, "IPv6"),
    `${`${"c".repeat(60)}-${BASE}`.slice(0, 75)}-IPv6`,
  ],
  ["a pool bears the cluster's name", poolName("kubernetes", "IPv4"), "kubernetes"],
  ["an IPv6 pool is always marked", poolName("kubernetes", "IPv6"), "kubernetes-IPv6"],
  ["an internal twin strips to its external name", externalName("kubernetes-INTERNAL"), "kubernetes"],
];
for (const [sentence, actual, expected] of cases) {
  test(sentence, () => assert.equal(actual, expected));
}

test("rules belong to the Service whose base their names begin with, without case", () => {
  assert.equal(baseOf(`${BASE.toUpperCase()}-TCP-80`), BASE);
  assert.notEqual(baseOf(`b${BASE.slice(1)}-TCP-80`), BASE);
});

const config = {
  loadBalancerName: "lb",
  clusterName: "kubernetes",
  primaryVmSet: "as1",
  loadBalancers: [],
  sku: "basic",
} as const;

test("load balancers are named by config, and on Basic by VM set", () => {
  assert.equal(loadBalancerName(config, "external"), "lb");
  assert.equal(loadBalancerName(config, "internal"), "lb-internal");
  assert.equal(loadBalancerName(config, "external", "AS1"), "lb");
  assert.equal(loadBalancerName(config, "internal", "as2"), "as2-internal");
});

test("a load balancer is managed by its name alone", () => {
  const managed = (name: string, sku: "basic" | "standard" = "standard"): boolean =>
    isManagedLoadBalancer(name, { ...config, sku }, ["as2"]);
  assert.deepEqual(
    ["lb", "LB-internal", "kubernetes", "Kubernetes-Internal"].map((name) => managed(name)),
    [true, true, true, true],
  );
  assert.deepEqual([managed("as2"), managed("as2", "basic"), managed("other", "basic")], [false, true, false]);
});

test("the names of a fleet are those of its numbers, external and internal, and are managed", () => {
  assert.deepEqual([fleetName(config, 1), fleetName(config, 12)], ["lb", "lb-fleet-12"]);
  const numbers = ["lb", "LB-internal", "lb-fleet-2", "LB-Fleet-12-Internal"].map((name) => fleetNumber(config, name));
  assert.deepEqual(numbers, [1, 1, 2, 12]);
  for (const name of [
    "lb-2",
    "lb-fleet-1",
    "lb-fleet-02",
    "lb-fleet-",
    "lb-fleet-2x",
    "kubernetes-fleet-2",
    "xlb-fleet-2",
  ])
    assert.equal(fleetNumber(config, name), undefined, name);
  const standard = { ...config, sku: "standard" } as const;
  assert.deepEqual(
    ["lb-fleet-2", "lb-fleet-2-internal", "lb-fleet-1"].map((name) => isManagedLoadBalancer(name, standard, [])),
    [true, true, false],
  );
});
