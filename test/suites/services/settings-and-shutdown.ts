/**
 * How the controller's settings and its shutdown act on Services, end to end: classes, drift policies, changes of nodes,
 * warnings to users, and an orderly end.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { LEASES, NODES, type KubeObject } from "../../../src/kube/client/resources.ts";
import { ensureNodes } from "../../../src/main/sandbox-nodes.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS, type RigOptions, type WireBody } from "../../support/service-rig.ts";

const CLASS = "example.com/azlb";
const LOCK = { namespace: "kube-system", name: "aks-managed-resource-locker" };
const INTERNAL = { "azure-load-balancer-internal": "true" };
/** So long is a write of the load balancer under way: longer than an end takes that does not wait for it. */
const SLOW_MS = 5_000;
const RULE_FIELD = "idleTimeoutInMinutes";

export function settingsAndShutdownSuite(name: string, open: ClusterOpener): void {
  /** A rig for one group of tests. */
  const withRig = (options: RigOptions, tests: (rig: () => ServiceRig) => void): void => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open, options);
    });
    after(() => rig.close());
    tests(() => rig);
  };

  describe(`settings and shutdown, on ${name}`, () => {
    describe("a class of its own", () =>
      withRig({ controller: { loadBalancerClass: CLASS } }, (rig) => {
        test("is served, and Services without one are not", async () => {
          await rig().apply({ name: "plain" });
          await rig().apply({ name: "classy", spec: { loadBalancerClass: CLASS } });
          await rig().served("classy");
          assert.equal((await rig().service("plain")).metadata.finalizers, undefined);
          await rig().delete("classy");
          await rig().delete("plain");
        });
      }));

    describe("drift", () =>
      withRig({ controller: { driftPeriodMs: 200 } }, (rig) => {
        test("is reported by event and metric, put right, or ignored, as the policy says", async () => {
          await rig().apply({ name: "drifting" });
          await rig().served("drifting");
          await retime(rig(), 31);
          assert.match(await rig().warned("drifting", "DriftDetected"), /drift-policy/);
          await eventually(async () => assert.equal(await driftMetric(rig(), "report"), 1), WITHIN_MS);
          assert.equal(await minutes(rig()), 31);
          await rig().annotate("drifting", { "azlb.io/drift-policy": "ignore" });
          await eventually(async () => assert.equal(await driftMetric(rig(), "report"), 0), WITHIN_MS);
          // a change of the Service is applied, and puts it right
          await eventually(async () => assert.equal(await minutes(rig()), 4), WITHIN_MS);
          await retime(rig(), 32);
          await eventually(async () => assert.equal(await driftMetric(rig(), "ignore"), 1), WITHIN_MS);
          assert.equal(await minutes(rig()), 32);
          await rig().annotate("drifting", { "azlb.io/drift-policy": "enforce" });
          await rig().served("drifting");
          await retime(rig(), 33);
          await eventually(async () => assert.equal(await minutes(rig()), 4), WITHIN_MS);
          await rig().delete("drifting");
        });

        test("total loss is none: a load balancer that was deleted by hand comes back with the same addresses", async () => {
          const { azure } = rig();
          const names = ["lost-1", "lost-2"];
          for (const [at, name] of names.entries()) await rig().apply({ name, spec: { ports: [{ port: 80 + at }] } });
          const before = await Promise.all(names.map((name) => rig().served(name)));
          await azure.network.loadBalancers.beginDeleteAndWait(azure.resourceGroup, "kubernetes");
          for (const name of names) await rig().warned(name, "LoadBalancerRestored");
          assert.deepEqual(await Promise.all(names.map((name) => rig().served(name))), before);
          for (const name of names) await rig().delete(name);
        });
      }));

    describe("nodes and people", () =>
      withRig({}, (rig) => {
        test("a node that the autoscaler is about to remove leaves the pool; one whose address changes moves", async () => {
          await ensureNodes(rig().kube, [{ name: "mover", internalIPs: ["10.240.8.8"] }]);
          await rig().apply({ name: "pooled" });
          await rig().served("pooled");
          await pooled(rig(), { mover: "10.240.8.8" });
          const addresses = [{ type: "InternalIP", address: "10.240.8.9" }];
          await rig().kube.patch(NODES, { name: "mover", subresource: "status" }, { merge: { status: { addresses } } });
          await pooled(rig(), { mover: "10.240.8.9" });
          const taints = [{ key: "ToBeDeletedByClusterAutoscaler", value: "1", effect: "NoSchedule" }];
          await rig().kube.patch(NODES, { name: "mover" }, { merge: { spec: { taints } } });
          await pooled(rig(), { mover: undefined });
          await rig().delete("pooled");
          await rig().kube.delete(NODES, { name: "mover" });
        });

        test("a bad value is told with its key, the value and what is allowed; nothing is made", async () => {
          const before = await rig().everything();
          const misspelt = { "azure-load-balancer-mod": "pool" };
          const annotations = { "azure-load-balancer-tcp-idle-timeout": "5000", ...misspelt };
          await rig().apply({ name: "bad", annotations });
          const said = await rig().warned("bad", "InvalidAnnotation");
          assert.match(await rig().warned("bad", "UnknownAnnotation"), /did you mean \S+azure-load-balancer-mode\?/);
          assert.match(said, /azure-load-balancer-tcp-idle-timeout: "5000" is not a whole number from 4 to 100/);
          assert.deepEqual(await rig().everything(), before);
          await rig().delete("bad");
        });

        test("a misspelt key that decides who can reach the Service is refused; nothing is made", async () => {
          const before = await rig().everything();
          await rig().apply({ name: "misspelt", annotations: { "azure-load-balancer-interal": "true" } });
          assert.match(
            await rig().warned("misspelt", "UnknownAnnotation"),
            /did you mean \S+azure-load-balancer-internal, .*: correct or remove it$/,
          );
          assert.deepEqual(await rig().everything(), before);
          await rig().delete("misspelt");
        });

        test("a subnet that is not there is told with those that are", async () => {
          const annotations = { ...INTERNAL, "azure-load-balancer-internal-subnet": "nowhere" };
          await rig().apply({ name: "lost", annotations });
          assert.match(
            await rig().warned("lost", "SubnetNotFound"),
            /azure-load-balancer-internal-subnet: VNet "\S+" has no subnet "nowhere": name one that it has \("\S+"/,
          );
          await rig().delete("lost");
        });

        test("a DNS label that another Service has is told with that Service", async () => {
          const annotations = { "azure-dns-label-name": "taken-label" };
          await rig().apply({ name: "labelled", annotations });
          await rig().served("labelled");
          await rig().apply({ name: "envious", annotations });
          assert.match(
            await rig().warned("envious", "DNSLabelConflict"),
            /azure-dns-label-name: "taken-label" is the label of Service default\/labelled already/,
          );
          await rig().delete("envious");
          await rig().delete("labelled");
        });

        test("the last frontend of ours stays where a foreign part needs the load balancer, and an event says so", async () => {
          await rig().apply({ name: "last", annotations: INTERNAL });
          await rig().served("last");
          const [seen] = await rig().list("loadBalancers");
          assert.equal(seen?.name, "kubernetes-internal");
          await rig().put("loadBalancers/kubernetes-internal", withPool(seen, "theirs"));
          await rig().delete("last");
          assert.match(await rig().warned("last", "DeletingFrontendIPConfiguration"), /stays: .*by hand/);
          const [left] = await rig().list("loadBalancers");
          assert.deepEqual(
            ["frontendIPConfigurations", "loadBalancingRules", "probes"].map((list) => listOf(left, list).length),
            [1, 0, 0],
          );
          assert.ok(listOf(left, "backendAddressPools").some((pool) => pool.name === "theirs"));
        });
      }));

    describe("an end in good order", () =>
      withRig({}, (rig) => {
        test("finishes the write in flight, and leaves the lock to others", async () => {
          const effect = { kind: "delay", delayMs: SLOW_MS };
          await rig().azure.control("POST", "/faults", { method: "PUT", path: "**/loadBalancers/*", effect });
          await rig().apply({ name: "underway" });
          await eventually(async () => assert.equal(await hits(rig()), 1), WITHIN_MS);
          assert.deepEqual(await rig().list("loadBalancers"), [], "the write is on its way");
          await rig().stop();
          assert.equal((await rig().list("loadBalancers")).length, 1);
          const lock = await rig().kube.get<KubeObject & { spec: { holderIdentity?: string } }>(LEASES, LOCK);
          assert.equal(lock.spec.holderIdentity ?? "", "");
          await rig().start();
          await rig().served("underway");
          await rig().delete("underway");
        });
      }));
  });
}

function listOf(body: WireBody | undefined, list: string): WireBody[] {
  return (propertiesOf(body)[list] ?? []) as WireBody[];
}

function withPool(body: WireBody, name: string): unknown {
  const backendAddressPools = [...listOf(body, "backendAddressPools"), { name, properties: {} }];
  return { ...body, properties: { ...propertiesOf(body), backendAddressPools } };
}

/** How many requests the fault that is armed has hit. */
async function hits(rig: ServiceRig): Promise<number | undefined> {
  const { faults } = (await rig.azure.control("GET", "/faults")) as { faults: { hits: number }[] };
  return faults[0]?.hits;
}

/** Another client changes every rule, as a person does in the portal. */
async function retime(rig: ServiceRig, value: number): Promise<void> {
  const [seen] = await rig.list("loadBalancers");
  const loadBalancingRules = listOf(seen, "loadBalancingRules").map((rule) => ({
    ...rule,
    properties: { ...propertiesOf(rule), [RULE_FIELD]: value },
  }));
  await rig.put("loadBalancers/kubernetes", { ...seen, properties: { ...propertiesOf(seen), loadBalancingRules } });
}

async function minutes(rig: ServiceRig): Promise<unknown> {
  const [seen] = await rig.list("loadBalancers");
  return propertiesOf(listOf(seen, "loadBalancingRules")[0])[RULE_FIELD];
}

async function driftMetric(rig: ServiceRig, policy: string): Promise<number> {
  const found = new RegExp(`^azlb_drift\\w*\\{policy="${policy}"\\} (\\d+)$`, "m").exec(await rig.metrics());
  return Number(found?.[1]);
}

/** Waits until the entries of the pool have these addresses; `undefined`: not in it. */
async function pooled(rig: ServiceRig, wanted: Readonly<Record<string, string | undefined>>): Promise<void> {
  await eventually(async () => {
    const [balancer] = await rig.list("loadBalancers");
    const [pool] = listOf(balancer, "backendAddressPools");
    const entries = listOf(pool, "loadBalancerBackendAddresses");
    for (const [name, address] of Object.entries(wanted)) {
      const entry = entries.find((one) => one.name === name);
      assert.equal(entry && propertiesOf(entry)["ipAddress"], address);
    }
  }, WITHIN_MS);
}
