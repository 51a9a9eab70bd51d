/** What an Azure step comes to for the loop that asked for it. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { commitRig, LB } from "../../../test/support/commit-rig.ts";
import { CONFIG } from "../../../test/support/core-fixtures.ts";
import { aNode } from "../../../test/support/core-world.ts";
import { json } from "../../../test/support/memory-arm.ts";
import type { Warning } from "../../core/outcome.ts";
import { desiredBackendPool } from "../../core/resources/backend-pool/desired-backend-pool.ts";
import { RefusedError } from "./executor.ts";
import { AzureStepExecutor } from "./step-executor.ts";

const POOL = `${LB}/backendAddressPools/kubernetes`;
const STEP = {
  kind: "backendPool",
  id: POOL,
  fragment: desiredBackendPool({ config: CONFIG, nodes: [aNode("one", ["10.0.0.1"])], known: [] }, "IPv4"),
  why: "to hold 1 node",
} as const;

/** A load balancer whose only pool holds this. */
function setUp(properties: object) {
  const { arm, commit, run } = commitRig();
  arm.write(LB, { properties: { backendAddressPools: [{ id: POOL, name: "kubernetes", properties }] } });
  arm.interpose = ({ method, url }) =>
    method === "PUT" && new URL(url).pathname === POOL ? json(200, { properties: {} }) : undefined;
  const warnings: Warning[] = [];
  const never = (): never => assert.fail("nothing is observed, and no Service written");
  const executor = new AzureStepExecutor({
    commit,
    observer: { observe: never, refresh: never, nodeNames: [] },
    services: { apply: never },
    members: { remember: async () => {}, rememberNames: async () => {}, settle: async () => {} },
    written: { wrote: never },
    turns: { next: async () => {} },
    onWarning: (_, warning) => warnings.push(warning),
  });
  return { arm, run, warnings, executor };
}

test("a pool of network interfaces refuses the cluster's write with the reason, and nothing is written", async () => {
  const { arm, run, executor } = setUp({ backendIPConfigurations: [{ id: "/nic/ipConfigurations/one" }] });
  await assert.rejects(run(executor.write(STEP, "create")), (error) => {
    assert.ok(error instanceof RefusedError);
    assert.equal(error.rejection.reason, "BackendPoolType");
    return true;
  });
  assert.equal(arm.count("PUT"), 0);
});

test("an entry of somebody else is told of, also by a write that no Service asked for", async () => {
  const server = { name: "by-hand", properties: { ipAddress: "10.0.0.99" } };
  const { arm, run, warnings, executor } = setUp({ loadBalancerBackendAddresses: [server] });
  await run(executor.write(STEP, "create"));
  assert.equal(arm.count("PUT"), 1);
  assert.deepEqual(
    warnings.map(({ reason, message }) => [reason, message.includes('"by-hand"')]),
    [["ForeignBackendAddress", true]],
  );
});
