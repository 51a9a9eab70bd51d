/** How long a draining node may stay in service. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { State } from "../../sandbox/azure/model/index.ts";
import { BackendLaw } from "./backend-law.ts";
import { LOAD_BALANCER } from "./azure-state.ts";

const ID = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/kubernetes";

/** Since when a node that drains from the first moment on counts as in service. */
function sinceMs(slowUntilMs: number): number[] {
  const entry = { name: "node", properties: { ipAddress: "10.0.0.1" } };
  const pool = { name: "kubernetes", properties: { loadBalancerBackendAddresses: [entry] } };
  const body = { properties: { backendAddressPools: [pool] } };
  const resources = new Map([[ID.toLowerCase(), { id: ID, type: LOAD_BALANCER, state: "Updating", body }]]);
  const spec = { taints: [{ key: "node.kubernetes.io/out-of-service" }] };
  const law = new BackendLaw({
    report: () => assert.fail("nothing was written"),
    azure: { resources } as unknown as State,
    slowUntilMs: (id) => (id === ID ? slowUntilMs : assert.fail(id)),
    nowMs: () => 1_000,
    nodes: () => [{ apiVersion: "v1", kind: "Node", metadata: { name: "node" }, spec }],
    isList: false,
    isBasic: false,
  });
  return [...law.inService()].map((each) => each.sinceMs);
}

test("a slow operation of Azure on its load balancer is a disturbance until it ends", () => {
  assert.deepEqual(sinceMs(Number.NEGATIVE_INFINITY), [1_000]);
  assert.deepEqual(sinceMs(31_000), [31_000]);
});
