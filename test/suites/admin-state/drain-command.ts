/** `azlb drain` and `azlb undrain` as an operator runs them: what they print, the Node's taints, and the pools in Azure. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { accountOf } from "../../../src/core/admin-state/drain-account.ts";
import { runAzlb, type Ended } from "../../support/azlb-process.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { WITHIN_MS } from "../../support/service-rig.ts";
import { AdminStateRig, DRAIN, OUT_OF_SERVICE } from "./admin-state-rig.ts";

export function drainCommandSuite(name: string, open: ClusterOpener): void {
  for (const backendPool of ["nodeIP", "nodeIPConfiguration"] as const) {
    describe(`azlb drain on ${name}, pools of ${backendPool}`, () => cases(backendPool, open));
  }
}

function cases(backendPool: "nodeIP" | "nodeIPConfiguration", open: ClusterOpener): void {
  const dir = mkdtempSync(join(tmpdir(), "azlb-drain-"));
  let rig: AdminStateRig;
  let node: string;
  const run = (...args: readonly string[]): Promise<Ended> =>
    runAzlb(...args, "--kubeconfig", rig.services.cluster.kubeconfig);
  /** With what `--wait` needs. */
  const waited = (...args: readonly string[]): Promise<Ended> =>
    run(...args, "--wait", "--timeout", "60s", "--cloud-config", join(dir, "azure.json"));

  const drains = async () => ((await rig.node(node)).spec.taints ?? []).filter(({ key }) => key === DRAIN.key);

  before(async () => {
    rig = await AdminStateRig.open(open, { azure: { topology: { nodes: 3, backendPool } } });
    writeFileSync(join(dir, "azure.json"), JSON.stringify(rig.services.azure.cloudConfig));
    [, node = ""] = rig.nodes;
    await rig.serve();
  });
  after(async () => {
    await rig.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test("--wait returns when both load balancers have the node Down, and says where; undrain brings it back", async () => {
    const drained = await waited("drain", node);
    assert.equal(drained.code, 0, drained.stderr);
    await rig.expect({ [node]: "Down" });
    assert.match(drained.stdout, new RegExp(`^node/${node} drained$`, "m"));
    assert.match(drained.stdout, /^ {2}Down in load balancer kubernetes, pool kubernetes$/m);
    assert.match(drained.stdout, /^ {2}Down in load balancer kubernetes-internal, pool kubernetes$/m);
    assert.deepEqual(await drains(), [DRAIN], "pods are not evicted, new ones stay away");

    const undrained = await waited("undrain", `node/${node}`);
    assert.equal(undrained.code, 0, undrained.stderr);
    assert.match(undrained.stdout, new RegExp(`^node/${node} undrained$`, "m"));
    await rig.expect({});
    assert.deepEqual(await drains(), []);
  });

  test("without --wait it needs no right in Azure; a second run changes nothing", async () => {
    const drained = await run("drain", node, "--allow-pods");
    assert.equal(drained.code, 0, drained.stderr);
    assert.deepEqual(await drains(), [{ ...DRAIN, effect: "PreferNoSchedule" }]);
    await rig.expect({ [node]: "Down" });
    // the controller's account of the drain is its last write to the Node
    await eventually(async () => assert.ok(accountOf(await rig.node(node)) !== undefined), WITHIN_MS);
    const { resourceVersion } = (await rig.node(node)).metadata;
    const again = await run("drain", node, "--allow-pods");
    assert.equal(again.stdout, `node/${node} was drained already\n`);
    assert.equal((await rig.node(node)).metadata.resourceVersion, resourceVersion);
    await run("undrain", node);
    await rig.expect({});
  });

  test("undrain says what else keeps the node without new connections, and waits for no state that will not come", async () => {
    await rig.taint(node, OUT_OF_SERVICE);
    await rig.expect({ [node]: "Down" });
    await waited("drain", node);
    const undrained = await waited("undrain", node);
    assert.equal(undrained.code, 0, undrained.stderr);
    assert.match(undrained.stdout, /stays without new connections: out-of-service/);
    await rig.expect({ [node]: "Down" });
    await rig.untaint(node, OUT_OF_SERVICE);
    await rig.expect({});
  });

  test("a Node that is not there is named, and so is a name that can be none", async () => {
    const missing = await run("drain", "vmss999999");
    assert.deepEqual([missing.code, missing.stderr], [2, "azlb: there is no Node vmss999999\n"]);
    const wrong = await run("drain", "node/Not A Node");
    assert.deepEqual(
      [wrong.code, wrong.stderr],
      [2, 'azlb: "node/Not A Node" is not the name of a Node: use NAME or node/NAME\n'],
    );
  });
}
