/**
 * The controller started where the incumbent has been: every recorded state is laid into the emulator, its Services bear
 * the incumbent's finalizer and status, and then the controller runs. It takes every Service over, as its mark says, and
 * writes nothing to Azure; nor has `azlb plan` anything to say. In the end it leaves, and still has written nothing.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { APPLIED_ANNOTATION } from "../../../src/core/service/applied-state.ts";
import { realClock } from "../../../src/main/real-clock.ts";
import { uninstallKeeping } from "../../../src/main/uninstall.ts";
import { runAzlb } from "../../support/azlb-process.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { readScenarios, type Scenario } from "../../support/incumbent-states.ts";
import { IncumbentStandIn } from "../../support/incumbent-stand-in.ts";
import { CLUSTERS_AT_ONCE, ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

/** Services that cannot be served, by the reason that they are told. The incumbent had refused them too. */
const REFUSED: Readonly<Record<string, string>> = { "bad-idle-timeout": "InvalidAnnotation" };

/** So many Services in one recording: `azlb plan` itself is asked too. */
const MANY = 2;

/** `scenarios`: all, or a sample of them. */
export function takeOverSuite(name: string, open: ClusterOpener, scenarios = readScenarios()): void {
  describe(`taking over from the incumbent, on ${name}`, { concurrency: CLUSTERS_AT_ONCE }, () => {
    for (const scenario of scenarios) {
      test(`${scenario.name}: not a single write to Azure`, async () => {
        const rig = await ServiceRig.open(open, { ipv6: true });
        try {
          await rig.stop();
          await takeOverEachStep(rig, scenario);
        } finally {
          await rig.close();
        }
      });
    }
  });
}

async function takeOverEachStep(rig: ServiceRig, { name, steps }: Scenario): Promise<void> {
  const incumbent = new IncumbentStandIn(rig);
  for (const { do: doing, settled } of steps) {
    await incumbent.perform(doing);
    if (settled === undefined) continue;
    await incumbent.lay(settled.state);
    const before = await rig.everything();
    const refused = incumbent.services.length === 0 ? undefined : REFUSED[name];
    await assertEmptyPlan(rig, refused);
    if (incumbent.services.length >= MANY) await assertSaysNothing(rig);
    await rig.azure.control("DELETE", "/audit");
    await rig.start();
    for (const service of incumbent.services) await isTakenOver(rig, service, refused);
    await rig.stop();
    assert.deepEqual(await writesToAzure(rig), []);
    assert.deepEqual(await rig.everything(), before);
  }
  await giveBack(rig, incumbent.services);
}

/** The controller leaves: Azure is as the incumbent left it, so its first sync finds its own state; no Service hangs. */
async function giveBack(rig: ServiceRig, services: readonly string[]): Promise<void> {
  const before = await rig.everything();
  const statuses = await Promise.all(services.map(async (each) => (await rig.service(each)).status));
  const { isDone } = await uninstallKeeping({ client: rig.kube, classFilter: undefined, clock: realClock });
  assert.equal(isDone, true);
  for (const [at, each] of services.entries()) {
    const { metadata, status } = await rig.service(each);
    assert.deepEqual(status, statuses[at], each);
    assert.deepEqual([metadata.finalizers ?? [], metadata.annotations?.[APPLIED_ANNOTATION]], [[], undefined], each);
  }
  assert.deepEqual(await writesToAzure(rig), []);
  assert.deepEqual(await rig.everything(), before);
}

async function assertEmptyPlan(rig: ServiceRig, refused: string | undefined): Promise<void> {
  const { steps, rejected } = await rig.plan();
  assert.deepEqual(steps, []);
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    refused === undefined ? [] : [refused],
  );
}

async function assertSaysNothing({ cluster, azure }: ServiceRig): Promise<void> {
  const flags = [`--kubeconfig=${cluster.kubeconfig}`, `--cloud-config=${azure.cloudConfigFile}`];
  const { code, stdout, stderr } = await runAzlb("plan", ...flags);
  assert.deepEqual([code, stdout], [0, "Nothing to do.\n"], stderr);
}

/** A Service that was found as it asks for is marked; one that cannot be served says why. */
export async function isTakenOver(rig: ServiceRig, name: string, refused: string | undefined): Promise<void> {
  if (refused !== undefined) return void (await rig.warned(name, refused));
  await eventually(async () => {
    const { annotations = {} } = (await rig.service(name)).metadata;
    const said = JSON.stringify(await rig.events(name));
    assert.ok(annotations[APPLIED_ANNOTATION] !== undefined, `${name} is not taken over; ${said}`);
  }, WITHIN_MS);
}

export async function writesToAzure(rig: ServiceRig): Promise<string[]> {
  const { entries } = (await rig.azure.control("GET", "/audit")) as {
    entries: { method: string; path: string; diff: unknown; poll: boolean; type: string | null }[];
  };
  return entries
    .filter(({ method, type }) => method !== "GET" && type !== null)
    .map(({ method, path, diff }) => `${method} ${path} ${JSON.stringify(diff)}`);
}
