/**
 * Several Standard load balancers, where azlb differs from the incumbent and no recording shows it: pools that follow all
 * slices of a family, Services placed at once, a Service that becomes internal, and the way back to one load balancer.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { ENDPOINT_SLICES } from "../../../src/kube/client/resources.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";

const KEY = "multipleStandardLoadBalancerConfigurations";
const TWO = [
  { name: "kubernetes", primaryVMSet: "vmss" },
  { name: "lb2", primaryVMSet: "vmss2" },
];
const LOCAL = { externalTrafficPolicy: "Local" };
const ON_SECOND = { "azure-load-balancer-configurations": "lb2" };
const BOTH = { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] };
const AT_ONCE = 12;

export function severalLoadBalancersSuite(name: string, open: ClusterOpener): void {
  describe(`several load balancers, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, { ipv6: true, cloudConfig: { [KEY]: TWO } });
    });
    after(() => rig.close());

    test("Services that come at once are spread, and none moves afterwards", async () => {
      const names = Array.from({ length: AT_ONCE }, (_, at) => `crowd-${at}`);
      await Promise.all(names.map((each) => rig.apply({ name: each })));
      await Promise.all(names.map((each) => rig.served(each)));
      const counts = new Map((await rig.list("loadBalancers")).map((body) => [body.name, partsOf(body).length]));
      assert.deepEqual([...counts.keys()].sort(), ["kubernetes", "lb2"]);
      assert.ok(Math.min(...counts.values()) >= AT_ONCE / 4, JSON.stringify([...counts]));
      assert.deepEqual((await rig.plan()).steps, []);
      await Promise.all(names.map((each) => rig.delete(each)));
    });

    test("a node serves through one slice while another loses it, and each family has its own", async () => {
      await rig.apply({ name: "local", spec: { ...LOCAL, ...BOTH } });
      await rig.served("local");
      await slice(rig, "one", "IPv4", ["vmss000000", "vmss000001"]);
      await slice(rig, "two", "IPv4", ["vmss000001", "vmss000002"]);
      await slice(rig, "six", "IPv6", ["vmss000002"]);
      await holds(rig, { "default-local": [0, 1, 2], "default-local-ipv6": [2] });
      await endpoints(rig, "one", "IPv4", ["vmss000000"]);
      await endpoints(rig, "six", "IPv6", ["vmss000000", "vmss000002"]);
      await holds(rig, { "default-local": [0, 1, 2], "default-local-ipv6": [0, 2] });
      await rig.kube.delete(ENDPOINT_SLICES, { namespace: "default", name: "two" });
      await holds(rig, { "default-local": [0], "default-local-ipv6": [0, 2] });
      await rig.delete("local");
    });

    test("external to internal and back: under the same name, and nothing is left of the old side", async () => {
      await rig.apply({ name: "flip", annotations: ON_SECOND });
      const [outside] = await rig.served("flip");
      await rig.annotate("flip", { "azure-load-balancer-internal": "true" });
      await eventually(async () => {
        const [inside] = await rig.served("flip");
        assert.notEqual(inside, outside);
        assert.deepEqual(await loadBalancers(rig), ["lb2-internal"]);
      }, WITHIN_MS);
      await rig.annotate("flip", { "azure-load-balancer-internal": null });
      await eventually(async () => assert.deepEqual(await loadBalancers(rig), ["lb2"]), WITHIN_MS);
      await rig.delete("flip");
    });

    test("from several to one: Services of the others move with their addresses, and Local ones can be deleted", async () => {
      await rig.apply({ name: "plain", annotations: ON_SECOND });
      await rig.apply({ name: "kept", annotations: ON_SECOND, spec: LOCAL });
      const before = await Promise.all(["plain", "kept"].map((each) => rig.served(each)));
      assert.deepEqual(await loadBalancers(rig), ["lb2"]);
      await rig.restart({ [KEY]: [] });
      await eventually(async () => {
        assert.deepEqual(await loadBalancers(rig), ["kubernetes"]);
        assert.deepEqual((await rig.plan()).steps, []);
      }, WITHIN_MS);
      assert.deepEqual(await Promise.all(["plain", "kept"].map((each) => rig.served(each))), before);
      await Promise.all(["plain", "kept"].map((each) => rig.delete(each)));
      await eventually(async () => assert.deepEqual(await loadBalancers(rig), []), WITHIN_MS);
    });
  });
}

async function loadBalancers(rig: ServiceRig): Promise<string[]> {
  return (await rig.list("loadBalancers")).map((body) => body.name).sort();
}

function partsOf(body: WireBody): readonly WireBody[] {
  return (propertiesOf(body)["loadBalancingRules"] ?? []) as readonly WireBody[];
}

/** By pool: the numbers of the nodes. */
async function holds(rig: ServiceRig, wanted: Readonly<Record<string, readonly number[]>>): Promise<void> {
  await eventually(async () => {
    const bodies = await rig.list("loadBalancers");
    const pools = bodies.flatMap((body) => (propertiesOf(body)["backendAddressPools"] ?? []) as readonly WireBody[]);
    for (const [name, nodes] of Object.entries(wanted)) {
      const pool = pools.find((one) => one.name === name);
      const entries = (pool && propertiesOf(pool)["loadBalancerBackendAddresses"]) ?? [];
      const found = (entries as readonly WireBody[]).map((entry) => entry.name).sort();
      assert.deepEqual(
        found,
        nodes.map((at) => `vmss00000${at}`),
        name,
      );
    }
  }, WITHIN_MS);
}

type SliceFamily = "IPv4" | "IPv6";

async function slice(rig: ServiceRig, name: string, family: SliceFamily, nodes: readonly string[]): Promise<void> {
  const labels = { "kubernetes.io/service-name": "local" };
  await rig.kube.create(ENDPOINT_SLICES, {
    metadata: { name, namespace: "default", labels },
    addressType: family,
    endpoints: endpointsOn(family, nodes),
    ports: [],
  });
}

async function endpoints(rig: ServiceRig, name: string, family: SliceFamily, nodes: readonly string[]): Promise<void> {
  const place = { namespace: "default", name };
  await rig.kube.patch(ENDPOINT_SLICES, place, { merge: { endpoints: endpointsOn(family, nodes) } });
}

function endpointsOn(family: SliceFamily, nodes: readonly string[]): object[] {
  return nodes.map((nodeName, at) => ({
    addresses: [family === "IPv6" ? `fd01::${at + 1}` : `10.1.0.${at + 1}`],
    nodeName,
    conditions: { ready: true },
  }));
}
