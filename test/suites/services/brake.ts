/**
 * The brake on blast radius: what would take too much at once from Services that did not change waits, is told, and goes
 * only when an operator releases it; everything else goes on.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { RELEASE_PLACE } from "../../../src/controller/brake/release-watch.ts";
import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { isFailure } from "../../../src/kube/client/kube-failure.ts";
import { CONFIG_MAPS, ENDPOINT_SLICES, NODES } from "../../../src/kube/client/resources.ts";
import { withClusterView } from "../../../src/main/cluster-view.ts";
import { explainService } from "../../../src/main/explain-service.ts";
import { releaseBrake, type Released } from "../../../src/main/release-brake.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";

const NAMES = ["a", "b", "c", "d"];
const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const LIMITS = { services: 2, members: { share: 0.5, minimum: 3 } };

export function brakeSuite(name: string, open: ClusterOpener): void {
  describe(`the brake, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, {
        azure: { topology: { nodes: 5 } },
        controller: { brakeLimits: LIMITS },
      });
      await Promise.all(NAMES.map((each) => rig.apply({ name: each })));
      await Promise.all(NAMES.map((each) => rig.served(each)));
    });
    after(() => rig.close());

    test("most nodes are labelled to be left out: they stay, each Service is warned, and a new one is served", async () => {
      await leaveOut(rig, 4);
      for (const each of NAMES) assert.match(await rig.warned(each, "WriteWithheld"), /4 members of backend pool/);
      await eventually(async () => {
        assert.match(await rig.metrics(), /azlb_brake_withheld\{what="members"\} 4/);
      }, WITHIN_MS);
      assert.equal(await poolSize(rig), 5);
      const { withheld } = await rig.plan();
      assert.deepEqual(
        withheld.members.map(({ members }) => members.length),
        [4],
      );
      await rig.apply({ name: "new", spec: { ports: [{ port: 443 }] } });
      await rig.served("new");
      assert.match(await view(rig, (cluster) => explainService(cluster, "default/a")), /4 members of backend pool/);
    });

    test("neither a ConfigMap of a tenant nor the hash of something else releases it", async () => {
      const { withheld } = await rig.plan();
      const { hash } = withheld;
      const data = { hash, writes: "x" };
      await rig.kube.create(CONFIG_MAPS, { metadata: { ...RELEASE_PLACE, namespace: "default" }, data });
      await rig.kube.create(CONFIG_MAPS, { metadata: { ...RELEASE_PLACE }, data });
      await gone(rig);
      const wrong = await view(rig, (cluster) => releaseBrake(cluster, "000000000000"));
      assert.deepEqual([wrong.isReleased, wrong.text.includes(hash)], [false, true]);
      assert.equal(await poolSize(rig), 5);
    });

    test("an operator releases what the plan shows, once", async () => {
      const { withheld } = await rig.plan();
      const released = await view<Released>(rig, (cluster) => releaseBrake(cluster, withheld.hash));
      assert.equal(released.isReleased, true, released.text);
      await eventually(async () => assert.equal(await poolSize(rig), 1), WITHIN_MS);
      await gone(rig);
      await eventually(async () => {
        assert.match(await rig.metrics(), /azlb_brake_withheld\{what="members"\} 0/);
      }, WITHIN_MS);
      await label(rig, 4, null);
      await eventually(async () => assert.equal(await poolSize(rig), 5), WITHIN_MS);
      await leaveOut(rig, 4);
      await eventually(async () => {
        assert.match(await rig.metrics(), /azlb_brake_withheld\{what="members"\} 4/);
      }, WITHIN_MS);
      await label(rig, 4, null);
      await eventually(async () => {
        assert.match(await rig.metrics(), /azlb_brake_withheld\{what="members"\} 0/);
      }, WITHIN_MS);
    });

    test("another load balancer name in the config: no address moves but that of the Service that changed", async () => {
      const before = await Promise.all(NAMES.map((each) => rig.served(each)));
      await rig.restart({ loadBalancerName: "other" });
      await eventually(async () => {
        for (const each of NAMES) {
          const told = (await rig.events(each)).filter(({ message }) => /would lose an address at once/.test(message));
          assert.equal(told.length, 1, each);
        }
      }, WITHIN_MS);
      await eventually(async () => {
        assert.match(await rig.metrics(), /azlb_brake_withheld\{what="addresses"\} 5/);
      }, WITHIN_MS);
      assert.deepEqual(await loadBalancers(rig), ["kubernetes"]);
      assert.match(await view(rig, (cluster) => explainService(cluster, "default/a")), /^withheld /);
      await rig.annotate("new", { "azure-load-balancer-tcp-idle-timeout": "10" });
      await eventually(async () => assert.deepEqual(await loadBalancers(rig), ["kubernetes", "other"]), WITHIN_MS);
      const { hash } = (await rig.plan()).withheld;
      assert.equal((await view(rig, (cluster) => releaseBrake(cluster, hash))).isReleased, true);
      await eventually(async () => assert.deepEqual(await loadBalancers(rig), ["other"]), WITHIN_MS);
      const afterwards = await Promise.all(NAMES.map((each) => rig.served(each)));
      assert.deepEqual(afterwards, before, "on another load balancer, at the same addresses");
    });
  });

  describe(`the brake on pools of Local Services, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, {
        azure: { topology: { nodes: 5 } },
        cloudConfig: { multipleStandardLoadBalancerConfigurations: [{ name: "kubernetes", primaryVMSet: "vmss" }] },
        controller: { brakeLimits: LIMITS },
      });
      for (const each of NAMES) await rig.apply({ name: each, spec: { externalTrafficPolicy: "Local" } });
      await Promise.all(NAMES.map((each) => rig.served(each)));
      for (const each of NAMES) await endpoints(rig, each, [0, 1]);
      await eventually(async () => assert.deepEqual(await ownPools(rig), [2, 2, 2, 2]), WITHIN_MS);
    });
    after(() => rig.close());

    test("most nodes are labelled to be left out: they stay, each Service is warned, endpoints still move", async () => {
      for (const each of NAMES) await endpoints(rig, each, [0, 1, 2]);
      await eventually(async () => assert.deepEqual(await ownPools(rig), [3, 3, 3, 3]), WITHIN_MS);
      await leaveOut(rig, 3);
      for (const each of NAMES)
        assert.match(await rig.warned(each, "WriteWithheld"), /3 members of backend pool "default-/);
      await endpoints(rig, "a", [4]);
      await eventually(async () => assert.deepEqual(await ownPools(rig), [4, 3, 3, 3]), WITHIN_MS);
      await eventually(async () => {
        assert.match(await rig.metrics(), /azlb_brake_withheld\{what="members"\} 12/);
      }, WITHIN_MS);
      const { withheld } = await rig.plan();
      assert.deepEqual(
        withheld.members.map(({ members }) => members.length),
        [3, 3, 3, 3],
      );
    });

    test("an operator releases it; and endpoints that go, of all Services at once, are not withheld", async () => {
      const { withheld } = await rig.plan();
      assert.equal((await view(rig, (cluster) => releaseBrake(cluster, withheld.hash))).isReleased, true);
      await eventually(async () => assert.deepEqual(await ownPools(rig), [1, 0, 0, 0]), WITHIN_MS);
      await label(rig, 3, null);
      await eventually(async () => assert.deepEqual(await ownPools(rig), [1, 3, 3, 3]), WITHIN_MS);
      for (const each of NAMES) await endpoints(rig, each, []);
      await eventually(async () => assert.deepEqual(await ownPools(rig), [0, 0, 0, 0]), WITHIN_MS);
      await eventually(async () => {
        assert.match(await rig.metrics(), /azlb_brake_withheld\{what="members"\} 0/);
      }, WITHIN_MS);
    });
  });

  function view<Result>(rig: ServiceRig, read: Parameters<typeof withClusterView<Result>>[1]): Promise<Result> {
    return withClusterView({ ...rig.viewOptions, log: SILENT_LOG }, read);
  }
}

/** All at once: a controller that runs may see, and carry out, one of them before the others. */
async function leaveOut(rig: ServiceRig, count: number): Promise<void> {
  await rig.stop();
  await label(rig, count, "true");
  await rig.start();
}

async function label(rig: ServiceRig, count: number, value: string | null): Promise<void> {
  const names = rig.azure.nodes.slice(0, count).map((node) => node.name);
  await Promise.all(
    names.map((each) =>
      rig.kube.patch(NODES, { name: each }, { merge: { metadata: { labels: { [EXCLUDE]: value } } } }),
    ),
  );
}

/** Where the Service has endpoints. */
async function endpoints(rig: ServiceRig, service: string, nodes: readonly number[]): Promise<void> {
  const place = { namespace: "default", name: service };
  const slice = {
    metadata: { ...place, labels: { "kubernetes.io/service-name": service } },
    addressType: "IPv4",
    endpoints: nodes.map((at) => ({
      addresses: [`10.1.0.${at + 1}`],
      nodeName: rig.azure.nodes[at]?.name,
      conditions: { ready: true },
    })),
    ports: [],
  };
  await rig.kube.create(ENDPOINT_SLICES, slice).catch(async (error: unknown) => {
    if (!isFailure(error, "alreadyExists")) throw error;
    await rig.kube.patch(ENDPOINT_SLICES, place, { merge: { endpoints: slice.endpoints } });
  });
}

/** How many members each has, by name of the Service. */
async function ownPools(rig: ServiceRig): Promise<number[]> {
  const [body] = await rig.list("loadBalancers");
  const pools = propertiesOf(body)["backendAddressPools"] as readonly WireBody[];
  return NAMES.map((each) => {
    const pool = pools.find((one) => one.name === `default-${each}`);
    return ((pool && propertiesOf(pool)["loadBalancerBackendAddresses"]) ?? ([] as readonly unknown[])) as unknown[];
  }).map(({ length }) => length);
}

async function poolSize(rig: ServiceRig): Promise<number> {
  const [body] = await rig.list("loadBalancers");
  const pools = propertiesOf(body)["backendAddressPools"] as readonly { properties: Record<string, unknown> }[];
  const [pool] = pools;
  return pool === undefined ? 0 : (pool.properties["loadBalancerBackendAddresses"] as readonly unknown[]).length;
}

async function loadBalancers(rig: ServiceRig): Promise<string[]> {
  return (await rig.list("loadBalancers")).map((each) => each.name).sort();
}

/** The release was taken. */
async function gone(rig: ServiceRig): Promise<void> {
  await eventually(async () => {
    await assert.rejects(rig.kube.get(CONFIG_MAPS, RELEASE_PLACE), (error) => isFailure(error, "notFound"));
  }, WITHIN_MS);
}
