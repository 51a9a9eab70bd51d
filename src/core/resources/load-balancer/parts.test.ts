import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frontend } from "../../model/arm.ts";
import { correctedFrontend, correctedRule, isRightFrontend } from "./parts.ts";

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
  assert.equal(isRightFrontend(six, four), false);
  assert.deepEqual(correctedFrontend(six, four), { ...six, properties: four.properties });
});

test("Azure's own IPv4 is the same as none", () => {
  const seen = {
    ...four,
    properties: { ...four.properties, privateIPAddressVersion: "IPv4", privateIPAddress: "10.0.0.4" },
  };
  assert.ok(isRightFrontend(seen, four));
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
