import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frontend } from "../arm.ts";
import { correctedFrontend, isRightFrontend } from "./parts.ts";

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
