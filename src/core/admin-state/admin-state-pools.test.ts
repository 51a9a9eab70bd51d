import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG } from "../../../test/support/core-fixtures.ts";
import type { LoadBalancer } from "../model/arm.ts";
import { adminStatePools } from "./admin-state-pools.ts";

function aLoadBalancer(name: string, ...pools: string[]): LoadBalancer {
  const backendAddressPools = pools.map((pool) => ({ name: pool, properties: {} }));
  return { id: `/lbs/${name}`, name, properties: { backendAddressPools } };
}

const ALL = [
  aLoadBalancer("kubernetes", "kubernetes", "kubernetes-IPv6", "aksOutboundBackendPool"),
  aLoadBalancer("kubernetes-internal", "KUBERNETES"),
  aLoadBalancer("foreign", "kubernetes"),
];

test("the cluster's pools of every managed load balancer, of both families, and no others", () => {
  assert.deepEqual(
    adminStatePools(CONFIG, ALL).map(({ id }) => id),
    [
      "/lbs/kubernetes/backendAddressPools/kubernetes",
      "/lbs/kubernetes/backendAddressPools/kubernetes-IPv6",
      "/lbs/kubernetes-internal/backendAddressPools/KUBERNETES",
    ],
  );
});

test("none where the switch is off, or the SKU has no admin state", () => {
  assert.deepEqual(adminStatePools({ ...CONFIG, enableAdminState: false }, ALL), []);
  assert.deepEqual(adminStatePools({ ...CONFIG, sku: "basic" }, ALL), []);
});
