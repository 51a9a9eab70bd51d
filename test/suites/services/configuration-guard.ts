/**
 * The controller restarted with another configuration than its Services were published with: it says so and writes
 * nothing, until that one change is accepted.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";

import type { Change } from "../../../src/core/guard/configuration-changes.ts";
import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { SERVICES } from "../../../src/kube/client/resources.ts";
import type { ControllerProcessOptions, RunningController } from "../../../src/main/controller.ts";
import { runAzlb } from "../../support/azlb-process.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

type Options = Partial<ControllerProcessOptions>;

const INTERNAL = { "azure-load-balancer-internal": "true" };
const INTERFACES = { loadBalancerBackendPoolConfigurationType: "nodeIPConfiguration" };
const RENAMED: Options = { clusterName: "prod" };

export function configurationGuardSuite(name: string, open: ClusterOpener): void {
  vmTypeSuite(name, open);
  describe(`a changed configuration, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open);
      await publish(rig);
      await rig.stop();
    });
    afterEach(() => rig.stop());
    after(() => rig.close());

    test("another cluster name: refused as a whole, and told by /readyz, event and plan", async () => {
      await assertRefused(rig, RENAMED, {
        changes: ["cluster-name"],
        said: /cluster name is "prod", but 2 published Services \(default\/inside, default\/web\) have "kubernetes"/,
        advice: /start with --cluster-name=kubernetes; .*--accept-change=cluster-name/,
      });
    });

    test("another pool type: refused in the same way", async () => {
      await assertRefused(rig, withConfig(rig, INTERFACES), {
        changes: ["pool-type"],
        said: /backend pool type is "nodeIPConfiguration", but 2 published Services .* have "nodeIP" in Azure/,
        advice: /set loadBalancerBackendPoolConfigurationType: nodeIP in .*--accept-change=pool-type/,
      });
    });

    test("another resource group: told by the public IP and by the member lists", async () => {
      const path = `/subscriptions/${rig.azure.subscriptionId}/resourceGroups/elsewhere?api-version=2022-09-01`;
      const made = await rig.arm.send("PUT", path, { body: { location: "westus2" } });
      assert.ok(made.status < 300, made.text);
      await assertRefused(rig, withConfig(rig, { loadBalancerResourceGroup: "elsewhere" }), {
        changes: ["resource-group"],
        said: /resource group of load balancers is "elsewhere", but 2 published Services .* have "rg" in Azure/,
        advice: /set loadBalancerResourceGroup: rg in the cloud config; .*--accept-change=resource-group/,
      });
    });

    test("another SKU, which needs another pool type too: each is refused, and accepting one does not do", async () => {
      await assertRefused(rig, withConfig(rig, { ...INTERFACES, loadBalancerSku: "basic" }), {
        changes: ["sku", "pool-type"],
        said: /load balancer SKU is "basic", but 2 published Services .* have "standard" in Azure/,
        advice: /set loadBalancerSku: standard in the cloud config; .*--accept-change=sku/,
      });
    });

    test("the command exits with 1 and says it before its steps; the accepted change passes", async () => {
      const flags = [`--kubeconfig=${rig.cluster.kubeconfig}`, `--cloud-config=${rig.azure.cloudConfigFile}`];
      const refused = await runAzlb("plan", ...flags, "--cluster-name=prod");
      assert.equal(refused.code, 1, refused.stderr);
      assert.match(refused.stdout, /^refused: the cluster name is "prod"[^\n]*\n\n! default\/\w+ +ADDRESS CHANGES, /);
      const accepted = await runAzlb("plan", ...flags, "--cluster-name=prod", "--accept-change=cluster-name");
      assert.equal(accepted.code, 0, accepted.stderr);
      assert.match(accepted.stdout, /^! default\/\w+ +ADDRESS CHANGES, /);
    });

    test("the same configuration passes, and so does another while nothing is published", async () => {
      assert.deepEqual((await rig.plan()).changes, []);
      const running = await rig.start();
      await isReady(running);
      await rig.delete("inside");
      await rig.stop();
      const empty = await rig.plan(undefined, { ...RENAMED, loadBalancerClass: "example.com/none" });
      assert.deepEqual(empty.changes, []);
    });

    test("an accepted cluster name is carried out for a public address, and needs no flag afterwards", async () => {
      const running = await rig.start(SILENT_LOG, { ...RENAMED, acceptedChange: "cluster-name" });
      await isReady(running);
      await eventually(async () => {
        const { steps } = await rig.plan(undefined, { ...RENAMED, acceptedChange: "cluster-name" });
        assert.deepEqual(steps, []);
      }, WITHIN_MS);
      await rig.stop();
      assert.deepEqual((await rig.plan(undefined, RENAMED)).changes, []);
    });
  });
}

/** Machines tell their type only where their interfaces are in the pools. */
function vmTypeSuite(name: string, open: ClusterOpener): void {
  describe(`a changed VM type, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, {
        azure: { topology: { nodes: 3, backendPool: "nodeIPConfiguration" } },
      });
      await publish(rig);
      await rig.stop();
    });
    after(() => rig.close());

    test("refused in the same way: told by the instances of the scale set in the pool", async () => {
      await assertRefused(rig, withConfig(rig, { vmType: "standard" }), {
        changes: ["vm-type"],
        said: /VM type is "standard", but 2 published Services .* have "vmss" in Azure/,
        advice: /set vmType: vmss in the cloud config; .*--accept-change=vm-type/,
      });
    });
  });
}

async function publish(rig: ServiceRig): Promise<void> {
  await rig.apply({ name: "web" });
  await rig.apply({ name: "inside", annotations: INTERNAL });
  await Promise.all(["web", "inside"].map((each) => rig.served(each)));
}

function withConfig(rig: ServiceRig, change: Readonly<Record<string, unknown>>): Options {
  return { cloudConfig: { kind: "object", value: { ...rig.azure.cloudConfig, ...change } } };
}

interface Expected {
  readonly changes: readonly Change[];
  readonly said: RegExp;
  readonly advice: RegExp;
}

async function assertRefused(rig: ServiceRig, options: Options, { changes, said, advice }: Expected): Promise<void> {
  const before = await snapshot(rig);
  await rig.azure.control("DELETE", "/audit");
  const running = await rig.start(SILENT_LOG, options);
  await rig.apply({ name: "late" });
  await eventually(async () => {
    const { status, text } = await ready(running);
    assert.equal(status, 503);
    assert.match(text, said);
    assert.match(text, advice);
  }, WITHIN_MS);
  await eventually(async () => {
    for (const name of ["web", "inside"]) {
      const events = await rig.events(name);
      const told = events.filter(({ reason, message }) => reason === "ConfigurationChanged" && said.test(message));
      assert.equal(told.length, 1, JSON.stringify(events));
    }
  }, WITHIN_MS);
  await rig.stop();
  assert.deepEqual((await rig.service("late")).metadata.finalizers, undefined);
  await rig.kube.delete(SERVICES, { namespace: "default", name: "late" });
  assert.deepEqual(await snapshot(rig), before);
  assert.deepEqual(await writes(rig), []);
  assert.deepEqual(await plannedChanges(rig, options), changes);
  for (const acceptedChange of changes) {
    const left = changes.filter((change) => change !== acceptedChange);
    assert.deepEqual(await plannedChanges(rig, { ...options, acceptedChange }), left);
  }
}

async function plannedChanges(rig: ServiceRig, options: Options): Promise<Change[]> {
  const { changes } = await rig.plan(undefined, options);
  return changes.map(({ change }) => change);
}

/** Azure, and the Services with their versions. */
async function snapshot(rig: ServiceRig): Promise<unknown> {
  return [await rig.everything(), await rig.service("web"), await rig.service("inside")];
}

async function writes(rig: ServiceRig): Promise<string[]> {
  const { entries } = (await rig.azure.control("GET", "/audit")) as {
    entries: { method: string; path: string; type: string | null }[];
  };
  return entries
    .filter(({ method, type }) => method !== "GET" && type !== null)
    .map(({ method, path }) => `${method} ${path}`);
}

async function ready({ metricsUrl }: RunningController): Promise<{ status: number; text: string }> {
  const answer = await fetch(metricsUrl.replace("/metrics", "/readyz"));
  return { status: answer.status, text: await answer.text() };
}

async function isReady(running: RunningController): Promise<void> {
  await eventually(async () => {
    const { status, text } = await ready(running);
    assert.equal(status, 200, text);
  }, WITHIN_MS);
}
