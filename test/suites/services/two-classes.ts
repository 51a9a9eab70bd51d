/**
 * Two controllers side by side, as on a cluster whose own service controller cannot be stopped (docs/guides/load-balancer-class.md):
 * one serves the Services without a class, the other those of its class, under a cluster name of its own. Neither touches the
 * other's load balancers, addresses or rules, whatever happens to its own.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { SILENT_LOG } from "../../../src/core/util/log.ts";
import { NODES } from "../../../src/kube/client/resources.ts";
import { type RunningController, startController } from "../../../src/main/controller.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type WireBody } from "../../support/service-rig.ts";

const CLASS = "azlb.io/azure";
const OURS = "azlb";
const INTERNAL = { "azure-load-balancer-internal": "true" };

export function twoClassesSuite(name: string, open: ClusterOpener): void {
  describe(`two controllers, one for a class, on ${name}`, () => {
    let rig: ServiceRig;
    let second: RunningController | undefined;

    async function startSecond(): Promise<void> {
      const options = { ...rig.viewOptions, clusterName: OURS, loadBalancerClass: CLASS, leaderElect: false };
      second = await startController({ ...options, log: SILENT_LOG });
    }

    before(async () => {
      rig = await ServiceRig.open(open);
      await startSecond();
    });
    after(async () => {
      await second?.close();
      await rig.close();
    });

    test("each serves its own, at once, each on load balancers of its own", async () => {
      const spec = { loadBalancerClass: CLASS };
      await Promise.all([
        rig.apply({ name: "plain-a" }),
        rig.apply({ name: "plain-b" }),
        rig.apply({ name: "plain-in", annotations: INTERNAL }),
        rig.apply({ name: "classy-a", spec }),
        rig.apply({ name: "classy-b", spec }),
        rig.apply({ name: "classy-in", annotations: INTERNAL, spec }),
      ]);
      const names = ["plain-a", "plain-b", "plain-in", "classy-a", "classy-b", "classy-in"];
      await Promise.all(names.map((name) => rig.publishedWithin(name, WITHIN_MS)));
      await eventually(async () => assert.deepEqual(await steps(), []), WITHIN_MS);
      const placed = new Map((await rig.list("loadBalancers")).map((body) => [body.name, frontendsOf(body)]));
      assert.deepEqual([...placed.keys()].sort(), ["azlb", "azlb-internal", "kubernetes", "kubernetes-internal"]);
      assert.deepEqual(placed.get("azlb"), await frontends("classy-a", "classy-b"));
      assert.deepEqual(placed.get("azlb-internal"), await frontends("classy-in"));
      assert.deepEqual(placed.get("kubernetes"), await frontends("plain-a", "plain-b"));
      assert.deepEqual(placed.get("kubernetes-internal"), await frontends("plain-in"));
    });

    test("while the other is away, nothing of it changes: Services and nodes that come, change and go", async () => {
      await second?.close();
      second = undefined;
      await changesNothing([OURS, `${OURS}-internal`], ["classy-a", "classy-b", "classy-in"], async () => {
        await rig.annotate("plain-a", { "azure-load-balancer-tcp-idle-timeout": "9" });
        await rig.served("plain-a");
        await rig.delete("plain-b");
        await drainAndBack();
      });
      await rig.stop();
      await startSecond();
      await changesNothing(["kubernetes", "kubernetes-internal"], ["plain-a", "plain-in"], async () => {
        await rig.annotate("classy-a", { "azure-load-balancer-tcp-idle-timeout": "9" });
        await eventually(async () => assert.deepEqual(await stepsOfSecond(), []), WITHIN_MS);
        await rig.delete("classy-b");
        await rig.delete("classy-in");
        await drainAndBack();
      });
      await rig.start();
      await eventually(async () => assert.deepEqual(await steps(), []), WITHIN_MS);
    });

    /** Of both. */
    async function steps(): Promise<readonly unknown[]> {
      return [...(await rig.plan()).steps, ...(await stepsOfSecond())];
    }

    async function stepsOfSecond(): Promise<readonly unknown[]> {
      return (await rig.plan(undefined, { clusterName: OURS, loadBalancerClass: CLASS })).steps;
    }

    /** The load balancers are not written, and the addresses stay open. */
    async function changesNothing(
      loadBalancers: readonly string[],
      services: readonly string[],
      work: () => Promise<void>,
    ): Promise<void> {
      const looked = async (): Promise<unknown> => [
        (await rig.list("loadBalancers"))
          .filter(({ name }) => loadBalancers.includes(name))
          .map((body) => body["etag"]),
        await Promise.all(services.map(openAddresses)),
      ];
      const earlier = await looked();
      assert.match(JSON.stringify(earlier), /\d+\.\d+\.\d+\.\d+/, "addresses of external Services are open");
      await work();
      assert.deepEqual(await looked(), earlier);
    }

    /** Its addresses that a security rule names. */
    async function openAddresses(name: string): Promise<readonly string[]> {
      const { ingress = [] } = (await rig.service(name)).status.loadBalancer;
      const [group] = await rig.list("networkSecurityGroups");
      const rules = JSON.stringify(propertiesOf(group)["securityRules"]);
      return ingress.flatMap(({ ip }) => ip ?? []).filter((ip) => rules.includes(ip));
    }

    /** The running controller sets the node Down, and up again, in the pools of its own load balancers. */
    async function drainAndBack(): Promise<void> {
      const name = rig.azure.nodes[0]?.name ?? "";
      const taint = { key: "azlb.io/drain", effect: "NoSchedule" };
      await rig.kube.patch(NODES, { name }, { merge: { spec: { taints: [taint] } } });
      await eventually(async () => assert.notEqual(await countDown(name), 0), WITHIN_MS);
      await rig.kube.patch(NODES, { name }, { merge: { spec: { taints: null } } });
      await eventually(async () => assert.equal(await countDown(name), 0), WITHIN_MS);
    }

    async function countDown(node: string): Promise<number> {
      const pools = (await rig.list("loadBalancers")).flatMap(
        (body) => propertiesOf(body)["backendAddressPools"] as WireBody[],
      );
      const entries = pools.flatMap((pool) => propertiesOf(pool)["loadBalancerBackendAddresses"] as WireBody[]);
      return entries.filter((entry) => entry.name === node && propertiesOf(entry)["adminState"] === "Down").length;
    }

    async function frontends(...names: readonly string[]): Promise<string[]> {
      const services = await Promise.all(names.map((name) => rig.service(name)));
      return services.map(({ metadata }) => `a${metadata.uid.replaceAll("-", "")}`.slice(0, 32)).sort();
    }
  });
}

function frontendsOf(body: WireBody): string[] {
  return (propertiesOf(body)["frontendIPConfigurations"] as { name: string }[]).map(({ name }) => name).sort();
}
