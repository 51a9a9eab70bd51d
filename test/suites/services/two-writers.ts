/**
 * Another client edits the load balancer and the security group through the official SDK while many Services come
 * and go on both. With `If-Match` neither writer loses anything at any time; without it the last writer wins, and under
 * `enforce` ours is restored while theirs stays whole as of their last write.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { campaign } from "../../support/campaign.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { SecondWriter } from "../../support/second-writer.ts";
import { MANY_WITHIN_MS, addresses, onlyLeft, startDeleting } from "../../support/many-services.ts";
import { ServiceRig } from "../../support/service-rig.ts";
import { assertSettled } from "../../support/settled-plan.ts";

const COUNT = campaign({ sample: 12, long: 200 });
/** Slow enough that writes of both sides meet. */
const LATENCY = 0.01;

export function twoWritersSuite(name: string, open: ClusterOpener): void {
  describe(`two writers, on ${name}`, () => {
    describe("the other one sends If-Match", () => {
      let rig: ServiceRig;
      before(async () => (rig = await openRig(open)));
      after(() => rig.close());

      test("neither writer loses anything at any time", async () => {
        const editors = await startEditing(rig, { ifMatch: true });
        await comeAndGo(rig, { waves: 8 });
        for (const editor of editors) await editor.stop();
        await settled(rig, survivors());
        for (const editor of editors) await editor.assertWhole();
        await deleteAll(rig, survivors());
        for (const editor of editors) await editor.assertWhole();
        await nothingOfOurs(rig);
        assertMet(editors);
      });
    });

    describe("the other one does not", () => {
      let rig: ServiceRig;
      before(async () => {
        rig = await openRig(open, { driftPolicy: "enforce", driftPeriodMs: 1_000 });
      });
      after(() => rig.close());

      test("ours is restored, theirs is whole as of their last write", async () => {
        const editors = await startEditing(rig, { ifMatch: false });
        await comeAndGo(rig, { waves: 3 });
        for (const editor of editors) await editor.stop();
        await settled(rig, survivors());
        for (const editor of editors) await editor.assertWhole();
        assertMet(editors);
      });
    });
  });
}

function openRig(open: ClusterOpener, controller: object = {}): Promise<ServiceRig> {
  const azure = { topology: { nodes: 3, foreign: true }, latency: LATENCY };
  return ServiceRig.open(open, { azure, controller });
}

async function startEditing(rig: ServiceRig, { ifMatch }: { ifMatch: boolean }): Promise<SecondWriter[]> {
  const { network, resourceGroup } = rig.azure;
  const balancer = SecondWriter.ofLoadBalancer(network, resourceGroup, "kubernetes", { ifMatch });
  const group = SecondWriter.ofSecurityGroup(network, resourceGroup, "nsg", { ifMatch });
  for (const editor of [balancer, group]) await editor.start();
  return [balancer, group];
}

const names = (): string[] => Array.from({ length: COUNT }, (_, at) => `web-${at}`);
/** Every second one stays. */
const survivors = (): string[] => names().filter((_, at) => at % 2 === 0);

function assertMet(editors: readonly SecondWriter[]): void {
  for (const { staleWrites } of editors) assert.ok(staleWrites > 0, "the writers never met: this shows nothing");
}

/** They come in waves, so that there are many writes; of each wave, every second one is deleted once it has an address. */
async function comeAndGo(rig: ServiceRig, { waves }: { waves: number }): Promise<void> {
  const perWave = Math.ceil(COUNT / waves);
  for (let first = 0; first < COUNT; first += perWave) await wave(rig, names().slice(first, first + perWave));
  await onlyLeft(rig, survivors());
}

async function wave(rig: ServiceRig, arriving: readonly string[]): Promise<void> {
  await Promise.all(arriving.map((name) => rig.apply({ name })));
  const staying = new Set(survivors());
  const leaving = new Set(arriving.filter((name) => !staying.has(name)));
  await eventually(async () => {
    const found = await addresses(rig);
    const ready = [...leaving].filter((name) => (found.get(name)?.length ?? 0) > 0);
    await startDeleting(rig, ready);
    for (const name of ready) leaving.delete(name);
    assert.equal(leaving.size, 0, `without an address: ${[...leaving].join()}`);
  }, MANY_WITHIN_MS);
}

async function settled(rig: ServiceRig, wanted: readonly string[]): Promise<void> {
  await onlyLeft(rig, wanted);
  await eventually(async () => {
    for (const [name, ips] of await addresses(rig)) assert.equal(ips.length, 1, `${name} has no address`);
    assertSettled(await rig.plan());
  }, MANY_WITHIN_MS);
}

async function deleteAll(rig: ServiceRig, all: readonly string[]): Promise<void> {
  await startDeleting(rig, all);
  await settled(rig, []);
}

async function nothingOfOurs(rig: ServiceRig): Promise<void> {
  const left = JSON.stringify(await rig.everything());
  assert.ok(!/"a[0-9a-f]{31}/.test(left), `something of a Service is left: ${left}`);
}
