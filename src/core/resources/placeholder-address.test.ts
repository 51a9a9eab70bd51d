import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { LoadBalancer, PublicIP, Subnet } from "../model/arm.ts";
import { loadBalancerKind } from "./load-balancer/kind.ts";
import type { ObservedAzure } from "./observed-azure.ts";
import { placeholderAddress } from "./placeholder-address.ts";
import { publicIPKind } from "./public-ip/kind.ts";

const GROUP = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network";
const SUBNET = `${GROUP}/virtualNetworks/vnet/subnets/subnet`;
const NOTHING: ObservedAzure = { loadBalancers: [], listed: {}, subnets: new Map(), securityGroup: undefined };

function newPublicIP(name: string, version: "IPv4" | "IPv6"): PublicIP {
  return { id: `${GROUP}/publicIPAddresses/${name}`, name, properties: { publicIPAddressVersion: version } };
}

function addressesOf({ listed }: ObservedAzure): (string | undefined)[] {
  return [...(listed.publicIP?.values() ?? [])].flat().map(({ properties }) => properties.ipAddress);
}

function internal(name: string, frontends: number): LoadBalancer {
  const frontendIPConfigurations = Array.from({ length: frontends }, (_, at) => ({
    name: `f${at}`,
    properties: { subnet: { id: SUBNET } },
  }));
  return { id: `${GROUP}/loadBalancers/${name}`, name, properties: { frontendIPConfigurations } };
}

describe("placeholder addresses", () => {
  for (const version of ["IPv4", "IPv6"] as const) {
    test(`thousands of new public IPs have one each, ${version}`, () => {
      const bodies = Array.from({ length: 5_000 }, (_, at) => newPublicIP(`pip${at}`, version));
      const [some, others] = [bodies.slice(0, 2_500), bodies.slice(2_500)].map(
        (part) => new Map(part.map((body) => [body.id, body])),
      );
      const { replaceAll } = publicIPKind;
      assert.ok(replaceAll && some && others);
      const addresses = addressesOf(replaceAll(replaceAll(NOTHING, some), others));
      assert.equal(addresses.length, 5_000);
      assert.equal(new Set(addresses).size, 5_000);
    });
  }

  test("those of internal frontends fill a small subnet without meeting", () => {
    const subnet: Subnet = { id: SUBNET, name: "subnet", properties: { addressPrefix: "10.1.2.0/24" } };
    const azure = { ...NOTHING, subnets: new Map([["subnet", subnet]]) };
    const { replace } = loadBalancerKind;
    const [first, second] = [internal("one", 100), internal("two", 100)];
    const { loadBalancers } = replace(replace(azure, first.id, first), second.id, second);
    const addresses = loadBalancers.flatMap(({ properties }) =>
      (properties.frontendIPConfigurations ?? []).map((frontend) => frontend.properties.privateIPAddress),
    );
    assert.equal(addresses.length, 200);
    assert.equal(new Set(addresses).size, 200);
    for (const address of addresses) assert.match(address ?? "", /^10\.1\.2\.\d+$/);
    for (const kept of ["10.1.2.0", "10.1.2.3", "10.1.2.255"]) assert.ok(!addresses.includes(kept), kept);
  });

  test("the same resource gets the same one, where it is free", () => {
    const id = `${GROUP}/publicIPAddresses/pip`;
    const address = placeholderAddress("252.0.0.0/8", id, new Set());
    assert.equal(placeholderAddress("252.0.0.0/8", id.toUpperCase(), new Set(["252.1.2.3"])), address);
    assert.notEqual(placeholderAddress("252.0.0.0/8", id, new Set([address])), address);
  });

  test("a full block gives one all the same", () => {
    const all = new Set(Array.from({ length: 8 }, (_, at) => `10.0.0.${at}`));
    assert.match(placeholderAddress("10.0.0.0/29", "id", all), /^10\.0\.0\.\d$/);
    assert.equal(placeholderAddress("10.0.0.9/32", "id", all), "10.0.0.9");
  });
});
