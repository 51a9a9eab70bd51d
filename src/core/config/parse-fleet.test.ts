import assert from "node:assert/strict";
import { test } from "node:test";

import { parseConfig } from "./parse-config.ts";

const BASE = {
  tenantId: "t",
  subscriptionId: "s",
  resourceGroup: "rg",
  location: "westus2",
  loadBalancerBackendPoolConfigurationType: "nodeIP",
  aadClientId: "id",
  aadClientSecret: "secret",
};

function parse(loadBalancerFleet: unknown, more: object = {}) {
  return parseConfig({ ...BASE, loadBalancerFleet, ...more }, { clusterName: "kubernetes", environment: {} });
}

function errors(loadBalancerFleet: unknown, more: object = {}): readonly string[] {
  const parsed = parse(loadBalancerFleet, more);
  return parsed.kind === "invalid" ? parsed.errors : assert.fail("was accepted");
}

test("off by default; max is how many of each kind", () => {
  const maxOf = (parsed: ReturnType<typeof parse>) => parsed.kind === "config" && parsed.config.fleetMax;
  assert.equal(maxOf(parse(undefined)), 1);
  assert.equal(maxOf(parse(null)), 1);
  assert.equal(maxOf(parse({ max: 4 })), 4);
  assert.equal(maxOf(parse({ Max: 1 })), 1);
});

test("what is no fleet is told with key, value and what is allowed", () => {
  assert.deepEqual(errors(4), ['loadBalancerFleet is 4, allowed: an object such as {"max": 4}']);
  assert.deepEqual(errors({}), [
    "loadBalancerFleet.max is missing: say how many load balancers of each kind may be made, 1 to 500",
  ]);
  for (const max of [0, -1, 1.5, 501, "4", true])
    assert.deepEqual(errors({ max }), [
      `loadBalancerFleet.max is ${JSON.stringify(max)}, allowed: a whole number from 1 to 500`,
    ]);
  assert.deepEqual(errors({ max: 2, size: 3 }), ["unknown field loadBalancerFleet.size: did you mean max?"]);
});

test("it needs Standard and pools of addresses, and is not beside a list of load balancers", () => {
  const interfaces = { loadBalancerBackendPoolConfigurationType: "nodeIPConfiguration" };
  assert.match(
    errors({ max: 2 }, interfaces).join(),
    /Type nodeIP, but it is nodeIPConfiguration: .* set it to nodeIP/,
  );
  assert.match(
    errors({ max: 2 }, { ...interfaces, loadBalancerSku: "basic" }).join("\n"),
    /loadBalancerFleet needs loadBalancerSku standard, but it is basic: set it to standard, or remove loadBalancerFleet/,
  );
  const several = { multipleStandardLoadBalancerConfigurations: [{ name: "kubernetes", primaryVMSet: "vmss" }] };
  assert.match(errors({ max: 2 }, several).join(), /both say where Services are placed: remove one of them/);
});
