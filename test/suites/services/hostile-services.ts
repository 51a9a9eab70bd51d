/**
 * Services of any nonsense that an API server stores, many at a time, beside one that is well behaved: each is served or
 * says why not, the good one is served all the while, and when they go Azure is as it was before.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as fc from "fast-check";

import { FINALIZER } from "../../../src/core/intent/ownership.ts";
import { isFailure } from "../../../src/kube/client/kube-failure.ts";
import { EVENTS, SERVICES, type KubeObject } from "../../../src/kube/client/resources.ts";
import { campaign } from "../../support/campaign.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { hostileService, type HostileService } from "../../support/hostile-services.ts";
import { addresses, MANY_WITHIN_MS, startDeleting } from "../../support/many-services.ts";
import { ServiceRig } from "../../support/service-rig.ts";

const COUNT = campaign({ sample: 20, long: 200 });
const SEED = 8554;

interface Event extends KubeObject {
  readonly type: string;
  readonly involvedObject: { readonly name: string };
}

export function hostileServicesSuite(name: string, open: ClusterOpener): void {
  describe(`${COUNT} hostile Services, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, { azure: { topology: { nodes: 3, foreign: true } } });
    });
    after(() => rig.close());

    test("each is served or says why not, and harms no other", async () => {
      await rig.apply({ name: "good" });
      const ips = await rig.served("good");
      const before = await rig.everything();
      const stored: string[] = [];
      for (const [at, hostile] of fc.sample(hostileService, { numRuns: COUNT, seed: SEED }).entries()) {
        if (await isStored(rig, `hostile-${at}`, hostile)) stored.push(`hostile-${at}`);
      }
      assert.ok(stored.length > COUNT / 3, `only ${stored.length} were stored`);
      await eventually(async () => assert.deepEqual(await silentOnes(rig, stored), []), MANY_WITHIN_MS);
      assert.deepEqual(await rig.served("good"), ips);
      await startDeleting(rig, stored);
      await eventually(async () => {
        for (const service of (await addresses(rig)).keys()) await dropFinalizersOfOthers(rig, service);
        assert.deepEqual([...(await addresses(rig)).keys()], ["good"]);
      }, MANY_WITHIN_MS);
      assert.deepEqual(await rig.everything(), before);
      assert.deepEqual(await rig.served("good"), ips);
      await rig.delete("good");
    });
  });
}

/** False where the API server refuses it. */
async function isStored(
  rig: ServiceRig,
  name: string,
  { annotations, finalizers, spec }: HostileService,
): Promise<boolean> {
  const metadata = { name, namespace: "default", annotations, finalizers };
  const whole = { type: "LoadBalancer", selector: { app: name }, ...spec };
  try {
    await rig.kube.create(SERVICES, { metadata, spec: whole });
    return true;
  } catch (error) {
    if (isFailure(error, "invalid")) return false;
    throw error;
  }
}

/** Those that have neither an address nor a Warning yet. */
async function silentOnes(rig: ServiceRig, names: readonly string[]): Promise<string[]> {
  const { items } = await rig.kube.list<Event>(EVENTS, { namespace: "default" });
  const warned = new Set(
    items.filter(({ type }) => type === "Warning").map(({ involvedObject }) => involvedObject.name),
  );
  const found = await addresses(rig);
  return names.filter((name) => !warned.has(name) && (found.get(name)?.length ?? 0) === 0);
}

/** As the owners of those finalizers would: the controller may not. */
async function dropFinalizersOfOthers(rig: ServiceRig, name: string): Promise<void> {
  try {
    const { finalizers = [] } = (await rig.service(name)).metadata;
    const ours = finalizers.filter((finalizer) => finalizer === FINALIZER);
    if (ours.length < finalizers.length) await rig.patch(name, { metadata: { finalizers: ours } });
  } catch (error) {
    if (!isFailure(error, "notFound")) throw error;
  }
}
