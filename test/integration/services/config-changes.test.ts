/**
 * The cloud config changes while the controller runs: what can be applied ends the process in good order, anything else is
 * reported and changes nothing. On the embedded server.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { SILENT_LOG } from "../../../src/core/util/log.ts";
import type { RunningController } from "../../../src/main/controller.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { leaveLease } from "../../support/released-lease.ts";
import { ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

let rig: ServiceRig;
let directory: string;
let path: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), "azlb-"));
  path = join(directory, "azure.json");
  rig = await ServiceRig.open(openEmbeddedCluster, { prepare: ({ kube }) => leaveLease(kube) });
});
after(async () => {
  await rig.close();
  await rm(directory, { recursive: true });
});

function write(change: object): Promise<void> {
  return writeFile(path, JSON.stringify({ ...rig.azure.cloudConfig, ...change }));
}

async function start(): Promise<RunningController> {
  await rig.stop();
  await write({});
  return rig.start(SILENT_LOG, { cloudConfig: { kind: "file", path }, configPeriodMs: 20, leaderElect: true });
}

async function readiness({ metricsUrl }: RunningController): Promise<string> {
  const response = await fetch(metricsUrl.replace(/metrics$/, "readyz"));
  return `${response.status} ${await response.text()}`;
}

async function isReady(controller: RunningController, expected: RegExp): Promise<void> {
  await eventually(async () => assert.match(await readiness(controller), expected), WITHIN_MS);
}

test("a change that can be applied ends the process; the next one has the lease and the new config", async () => {
  const controller = await start();
  await isReady(controller, /^200 ok\n$/);
  await write({ tags: "team=blue" });
  assert.equal(await controller.ended, "stopped");
  await controller.close();
  const next = await rig.start(SILENT_LOG, { cloudConfig: { kind: "file", path }, leaderElect: true });
  await isReady(next, /^200 ok\n$/);
  await rig.apply({ name: "web" });
  await rig.served("web");
  const [publicIP] = await rig.list("publicIPAddresses");
  assert.match(JSON.stringify(publicIP), /"team":"blue"/);
});

test("an invalid config, and one that would move addresses, is told and not applied; Services are served meanwhile", async () => {
  const controller = await start();
  await isReady(controller, /^200 ok\n$/);
  await writeFile(path, "{ tags: [");
  await isReady(controller, /^200 ok; the cloud config is not in force: .*neither JSON nor YAML/);
  await write({ vmType: "vms" });
  await isReady(controller, /^200 ok; the cloud config is not in force: .*vmType/);
  await write({ resourceGroup: "elsewhere", tags: "team=red" });
  await isReady(controller, /resourceGroup is "elsewhere" now and was .* --accept-change where it asks for that/);
  assert.match(await rig.metrics(), /^azlb_cloud_config_refused 1$/m);
  await rig.apply({ name: "beside" });
  await rig.served("beside");
  await write({});
  await isReady(controller, /^200 ok\n$/);
  assert.match(await rig.metrics(), /^azlb_cloud_config_refused 0$/m);
});
