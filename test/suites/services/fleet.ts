/**
 * A fleet that grows by itself, under Azure's own kind of refusal: the emulator allows as little as the config says. Many
 * Services at once, a controller that starts anew, and the way back.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { withClusterView } from "../../../src/main/cluster-view.ts";
import { explainService } from "../../../src/main/explain-service.ts";
import { SILENT_LOG } from "../../../src/core/util/log.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";

const FIT = 3;
const INTERNAL = { "azure-load-balancer-internal": "true" };

export function fleetSuite(name: string, open: ClusterOpener): void {
  describe(`a fleet of load balancers, on ${name}`, () => {
    let rig: ServiceRig;
    const external = Array.from({ length: 8 }, (_, at) => `out-${at}`);
    const internal = Array.from({ length: 4 }, (_, at) => `in-${at}`);
    const all = [...external, ...internal];
    before(async () => {
      rig = await ServiceRig.open(open, {
        azure: { model: { limits: { frontendsPerLoadBalancer: FIT } } },
        cloudConfig: { loadBalancerFleet: { max: 4 }, loadBalancerLimits: `frontends=${FIT}` },
      });
    });
    after(() => rig.close());

    test("Services at once: each is served, none of them by way of a refusal", async () => {
      await Promise.all([
        ...external.map((each) => rig.apply({ name: each })),
        ...internal.map((each) => rig.apply({ name: each, annotations: INTERNAL })),
      ]);
      await Promise.all(all.map((each) => rig.publishedWithin(each, WITHIN_MS)));
      await eventually(async () => assert.deepEqual((await rig.plan()).steps, []), WITHIN_MS);
      assert.deepEqual(await refusals(rig), []);
      // Which of them has room left depends on the order in which the controller came to see the Services.
      const used = await counts(rig);
      assert.deepEqual(Object.keys(used).sort(), [
        "kubernetes",
        "kubernetes-fleet-2",
        "kubernetes-fleet-2-internal",
        "kubernetes-fleet-3",
        "kubernetes-internal",
      ]);
      for (const [name, frontends] of Object.entries(used)) assert.ok(frontends <= FIT, `${name} has ${frontends}`);
      assert.equal(sumOf(used, /internal$/), internal.length);
      assert.equal(sumOf(used, /./), all.length);
      const nodes = rig.azure.nodes.map((node) => node.name).sort();
      for (const body of await rig.list("loadBalancers")) assert.deepEqual(membersOf(body), nodes, body.name);
    });

    test("explain says of each where it is and why", async () => {
      const texts = await withClusterView({ ...rig.viewOptions, log: SILENT_LOG }, (view) =>
        Promise.all(all.map((each) => explainService(view, `default/${each}`))),
      );
      for (const text of texts)
        assert.match(text, /placed on {3}load balancer "kubernetes\S*": it is there, and no Service moves because/);
    });

    test("a controller that starts anew finds them where they are, and writes nothing", async () => {
      const before = await rig.everything();
      await rig.restart({});
      await rig.apply({ name: "late", annotations: INTERNAL });
      await rig.served("late");
      await rig.delete("late");
      assert.deepEqual(await rig.everything(), before);
    });

    test("room is used again, an empty one goes, and no Service has moved", async () => {
      const before = await addresses(rig, external);
      const [leaves = ""] = await placedOn(rig, "kubernetes", external);
      const ofThird = await placedOn(rig, "kubernetes-fleet-3", external);
      const used = (await counts(rig))["kubernetes"] ?? 0;
      await rig.delete(leaves);
      await eventually(async () => assert.equal((await counts(rig))["kubernetes"], used - 1), WITHIN_MS);
      await rig.apply({ name: "next" });
      await rig.served("next");
      assert.equal((await counts(rig))["kubernetes"], used, "the first has room again, and takes it");
      await Promise.all(ofThird.map((each) => rig.delete(each)));
      await eventually(async () => assert.equal((await counts(rig))["kubernetes-fleet-3"], undefined), WITHIN_MS);
      const left = external.filter((each) => each !== leaves && !ofThird.includes(each));
      assert.deepEqual(
        await addresses(rig, left),
        before.filter(([each]) => left.includes(each)),
      );
      assert.deepEqual(await refusals(rig), []);
    });
  });
}

/** What Azure refused because of what was asked for. */
async function refusals(rig: ServiceRig): Promise<string[]> {
  const { entries } = (await rig.azure.control("GET", "/audit")) as { entries: { status: number; path: string }[] };
  return entries
    .filter(({ status }) => status === 400 || status === 413)
    .map(({ status, path }) => `${status} ${path}`);
}

async function counts(rig: ServiceRig): Promise<Record<string, number>> {
  return Object.fromEntries((await rig.list("loadBalancers")).map((body) => [body.name, frontendsOf(body).length]));
}

function sumOf(used: Readonly<Record<string, number>>, names: RegExp): number {
  return Object.entries(used).reduce((sum, [name, frontends]) => (names.test(name) ? sum + frontends : sum), 0);
}

/** The Services of these that have a frontend on the load balancer. */
async function placedOn(rig: ServiceRig, loadBalancer: string, names: readonly string[]): Promise<string[]> {
  const body = (await rig.list("loadBalancers")).find(({ name }) => name === loadBalancer);
  const frontends = body === undefined ? [] : frontendsOf(body);
  const bases = await Promise.all(names.map((each) => baseOf(rig, each)));
  return names.filter((_, at) => frontends.includes(bases[at] ?? ""));
}

function frontendsOf(body: WireBody): string[] {
  return (propertiesOf(body)["frontendIPConfigurations"] as { name: string }[]).map(({ name }) => name);
}

function membersOf(body: WireBody): string[] {
  const [pool] = propertiesOf(body)["backendAddressPools"] as WireBody[];
  const entries = propertiesOf(pool)["loadBalancerBackendAddresses"] as { name: string }[] | undefined;
  return (entries ?? []).map(({ name }) => name).sort();
}

/** The name of its frontend. */
async function baseOf(rig: ServiceRig, name: string): Promise<string> {
  const { metadata } = await rig.service(name);
  return `a${metadata.uid.replaceAll("-", "")}`.slice(0, 32);
}

async function addresses(rig: ServiceRig, names: readonly string[]): Promise<(readonly [string, string])[]> {
  return Promise.all(
    names.map(async (name) => {
      const { ingress = [] } = (await rig.service(name)).status.loadBalancer;
      return [name, ingress.map(({ ip }) => ip).join()] as const;
    }),
  );
}
