/** Binds: load balancers and pods in one object; a bad load balancer holds up no other, and nothing is left behind. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { type RogueDriver, startRogueDriver, WELL_BEHAVED } from "./rogue-driver.ts";
import { condition, type ConditionOf, type LbcfObject, LbcfWorld } from "./world.ts";

const BINDS = "/apis/lbcf.tkestack.io/v1/namespaces/default/binds";

interface BindStatus {
  readonly backends?: number;
  readonly registeredBackends?: number;
  readonly loadBalancerStatuses?: readonly {
    readonly name: string;
    readonly lbInfo?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly conditions?: readonly ConditionOf[];
  }[];
}

export function lbcfBinds(name: string, open: ClusterOpener): void {
  describe(`LBCF's Binds on ${name}`, { concurrency: false }, () => {
    let world: LbcfWorld;
    let rogue: RogueDriver;

    before(async () => {
      [world, rogue] = await Promise.all([LbcfWorld.open(open, { azure: { plainHttp: true } }), startRogueDriver()]);
      await world.create("LoadBalancerDriver", "wire", { driverType: "Webhook", url: rogue.url });
      await world.addPod("web-0", { ip: "10.244.0.10" });
      await world.addPod("web-1", { ip: "10.244.0.11" });
    });
    after(async () => {
      await world?.close();
      await rogue?.close();
    });

    const pods = { ports: [{ port: 8080, protocol: "tcp" }], byLabel: { selector: { app: "web" } } };
    const azure = { name: "azure", driver: "lbcf-azure", spec: { name: "bind-lb" }, attributes: { rules: "80:8080" } };
    const wire = { name: "wire", driver: "wire", spec: { id: "7" } };
    const statusOf = async (): Promise<BindStatus> => (await world.read(`${BINDS}/web`))["status"] as BindStatus;
    const said = (status: BindStatus, lb: string, type: string): ConditionOf | undefined =>
      status.loadBalancerStatuses?.find((each) => each.name === lb)?.conditions?.find((each) => each.type === type);
    /** A driver may be asked for one more than once. */
    const deregistered = (since = 0): readonly unknown[] => {
      const asked = rogue.asked.slice(since).filter(({ hook }) => hook === "deregisterBackend");
      return [...new Set(asked.map(({ body }) => body["backendAddr"]))];
    };

    test("a bad load balancer holds up no other", async () => {
      rogue.answer = (hook, body) =>
        hook === "createLoadBalancer" ? { json: { status: "Fail", msg: "no money" } } : WELL_BEHAVED(hook, body);
      const spec = { loadBalancers: [azure, wire], pods, deregisterPolicy: "IfNotReady" };
      await world.post(BINDS, { apiVersion: "lbcf.tkestack.io/v1", kind: "Bind", metadata: { name: "web" }, spec });
      await world.eventually(async () => {
        assert.deepEqual(await world.addresses("bind-lb"), ["10.244.0.10", "10.244.0.11"]);
        const status = await statusOf();
        assert.equal(said(status, "azure", "Ready")?.status, "True");
        assert.deepEqual(
          [said(status, "wire", "Created")?.reason, said(status, "wire", "Created")?.message],
          ["CreateFailed", "no money"],
        );
      });
    });

    test("once it is good its backends come too, with ids as LBCF makes them", async () => {
      rogue.answer = WELL_BEHAVED;
      await world.eventually(async () => {
        const status = await statusOf();
        assert.deepEqual([status.backends, status.registeredBackends], [4, 4]);
        assert.equal(said(status, "wire", "Created")?.status, "True");
      });
      const { metadata } = await world.read(`${BINDS}/web`);
      const create = rogue.asked.find(({ hook }) => hook === "createLoadBalancer");
      assert.equal(create?.body["recordID"], `createLoadBalancer(${metadata.uid}-wire)`);
      const [record] = await world.records();
      const labels = record?.metadata["labels"] as Record<string, string>;
      assert.equal(labels["lbcf.tkestack.io/bind"], "web");
    });

    test("pods that go are taken out everywhere", async () => {
      await world.killPod("web-1");
      await world.eventually(async () => {
        assert.deepEqual(await world.addresses("bind-lb"), ["10.244.0.10"]);
        assert.deepEqual(deregistered(), ["10.244.0.11"]);
        assert.equal((await statusOf()).registeredBackends, 2);
      });
    });

    test("under Always an entry removed by hand comes back by itself, in its period", async () => {
      await world.patch(`${BINDS}/web`, { spec: { ensurePolicy: { policy: "Always", resyncPeriodInSeconds: 10 } } });
      await world.eventually(async () => {
        const policies = (await world.records()).map(({ spec }) => (spec["ensurePolicy"] as { policy: string }).policy);
        assert.deepEqual([...new Set(policies)], ["Always"]);
      });
      const body = await world.arm(world.loadBalancerPath("bind-lb"));
      const [pool] = (body?.properties["backendAddressPools"] ?? []) as { name: string }[];
      const [entry] = await world.entries("bind-lb");
      await world.putArm(`${world.loadBalancerPath("bind-lb")}/backendAddressPools/${pool?.name}`, {
        properties: { loadBalancerBackendAddresses: [] },
      });
      assert.ok((await world.removedEntries()).has(entry?.name ?? ""), "it was not removed");
      await world.eventually(async () => assert.deepEqual(await world.addresses("bind-lb"), ["10.244.0.10"]));
      await world.patch(`${BINDS}/web`, { spec: { ensurePolicy: { policy: "IfNotSucc" } } });
    });

    test("changed attributes reach the load balancer", async () => {
      const changed = { ...azure, attributes: { rules: "80:8080,443:8443" } };
      await world.patch(`${BINDS}/web`, { spec: { loadBalancers: [changed, wire] } });
      await world.eventually(async () => {
        const body = await world.arm(world.loadBalancerPath("bind-lb"));
        const rules = body?.properties["loadBalancingRules"] as unknown[] | undefined;
        assert.equal(rules?.length, 2);
      });
    });

    test("a load balancer that leaves the spec is emptied, then deleted", async () => {
      await world.patch(`${BINDS}/web`, { spec: { loadBalancers: [wire] } });
      await world.eventually(async () => {
        assert.equal(await world.arm(world.loadBalancerPath("bind-lb")), undefined);
        assert.deepEqual(
          (await statusOf()).loadBalancerStatuses?.map((each) => each.name),
          ["wire"],
        );
      });
    });

    test("a Bind goes after its backends and its load balancers, also when the driver fails at first", async () => {
      let failures = 0;
      rogue.answer = (hook, body) =>
        hook === "deleteLoadBalancer" && failures++ < 2
          ? { json: { status: "Fail", msg: "busy" } }
          : WELL_BEHAVED(hook, body);
      const before = rogue.asked.length;
      await world.delete("LoadBalancerDriver", "wire");
      await world.remove(`${BINDS}/web`, {});
      await world.eventually(async () => assert.equal((await world.cluster.request("GET", `${BINDS}/web`)).code, 404));
      const hooks = rogue.asked.slice(before).map(({ hook }) => hook);
      assert.ok(hooks.indexOf("deregisterBackend") < hooks.indexOf("deleteLoadBalancer"), hooks.join());
      assert.deepEqual(await world.records(), []);
      rogue.answer = WELL_BEHAVED;
      await world.eventually(async () => assert.equal(await world.exists("LoadBalancerDriver", "wire"), false));
    });

    test("records whose Bind was torn away are deregistered all the same", async () => {
      await world.create("LoadBalancerDriver", "wire", { driverType: "Webhook", url: rogue.url });
      const spec = { loadBalancers: [wire], pods };
      const metadata = { name: "torn" };
      await world.post(BINDS, { apiVersion: "lbcf.tkestack.io/v1", kind: "Bind", metadata, spec });
      await world.eventually(async () => assert.equal((await world.records()).length, 1));
      await world.stopController();
      const before = rogue.asked.length;
      await world.patch(`${BINDS}/torn`, { metadata: { finalizers: null } });
      await world.remove(`${BINDS}/torn`, {});
      await world.startController();
      await world.eventually(async () => assert.deepEqual(await world.records(), []));
      assert.deepEqual(deregistered(before), ["10.244.0.10"]);
    });

    test("one that LBCF made is taken over as it is: no server leaves, no record is made anew", async () => {
      await world.stopController();
      await world.addPod("old-0", { ip: "10.244.1.10", labels: { app: "old" } });
      const loadBalancers = [{ name: "one", driver: "wire", spec: { id: "9" }, attributes: { a: "1" } }];
      const old = { ports: [{ port: 8080, protocol: "tcp" }], byLabel: { selector: { app: "old" } } };
      const finalizers = ["lbcf.tkestack.io/delete-load-loadbalancer"];
      const bind = await world.post(BINDS, {
        apiVersion: "lbcf.tkestack.io/v1",
        kind: "Bind",
        metadata: { name: "old", finalizers },
        spec: { loadBalancers, pods: old, parameters: { weight: "5" } },
      });
      const lastTransitionTime = "2026-01-01T00:00:00Z";
      const isTrue = (type: string): object => ({ type, status: "True", lastTransitionTime });
      const lbInfo = { made: "9" };
      await world.patch(`${BINDS}/old/status`, {
        status: {
          loadBalancerStatuses: [
            {
              name: "one",
              driver: "wire",
              lbInfo,
              lastSyncedAttributes: { a: "1" },
              conditions: [isTrue("Created"), isTrue("Ready")],
            },
          ],
        },
      });
      const owner = { apiVersion: "lbcf.tkestack.io/v1", kind: "Bind", name: "old", uid: bind.metadata.uid };
      const made = await world.create(
        "BackendRecord",
        createHash("md5").update("old-one-old-0-10.244.1.10-tcp-8080").digest("hex"),
        {
          lbName: "one",
          lbDriver: "wire",
          lbInfo,
          lbAttributes: { a: "1" },
          parameters: { weight: "5" },
          podBackend: { name: "old-0", port: { port: 8080, protocol: "tcp" } },
        },
        {
          finalizers: ["lbcf.tkestack.io/deregister-backend"],
          labels: { "lbcf.tkestack.io/bind": "old" },
          ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
        },
      );
      const path = `/apis/lbcf.tkestack.io/v1beta1/namespaces/default/backendrecords/${made.metadata.name}`;
      await world.patch(`${path}/status`, {
        status: { backendAddr: "10.244.1.10", conditions: [isTrue("Registered")] },
      });
      const before = rogue.asked.length;
      await world.startController();
      await world.eventually(async () => {
        const { status } = (await world.read(`${BINDS}/old`)) as LbcfObject;
        assert.deepEqual([status?.backends, status?.registeredBackends], [1, 1]);
      });
      await world.addPod("old-1", { ip: "10.244.1.11", labels: { app: "old" } });
      await world.eventually(async () => {
        const { status } = (await world.read(`${BINDS}/old`)) as LbcfObject;
        assert.deepEqual([status?.backends, status?.registeredBackends], [2, 2]);
      });
      const hooks = rogue.asked.slice(before).filter(({ hook }) => hook !== "healthz" && !hook.startsWith("validate"));
      assert.deepEqual(
        hooks.map(({ hook, body }) => [hook, body["backendAddr"]]),
        [
          ["generateBackendAddr", undefined],
          ["ensureBackend", "10.244.1.11"],
        ],
      );
      const names = (await world.records()).map(({ metadata }) => metadata.name);
      // and LBCF would find these by the names that it gives them
      const ofLbcf = ["old-0-10.244.1.10", "old-1-10.244.1.11"].map((pod) =>
        createHash("md5").update(`old-one-${pod}-tcp-8080`).digest("hex"),
      );
      assert.deepEqual(names.sort(), ofLbcf.sort());
      await world.remove(`${BINDS}/old`, {});
      await world.eventually(async () => assert.deepEqual(await world.records(), []));
    });

    test("two Binds that LBCF would give the same record names have their own", async () => {
      for (const [bind, lb] of [
        ["a-b", "c"],
        ["a", "b-c"],
      ]) {
        const spec = { loadBalancers: [{ name: lb, driver: "wire", spec: { id: `${bind}` } }], pods };
        await world.post(BINDS, { apiVersion: "lbcf.tkestack.io/v1", kind: "Bind", metadata: { name: bind }, spec });
      }
      await world.eventually(async () => {
        for (const bind of ["a-b", "a"]) {
          const { status } = (await world.read(`${BINDS}/${bind}`)) as LbcfObject;
          assert.equal(status?.registeredBackends, 1, bind);
        }
      });
      assert.equal((await world.records()).length, 2);
      for (const bind of ["a-b", "a"]) await world.remove(`${BINDS}/${bind}`, {});
      await world.eventually(async () => assert.deepEqual(await world.records(), []));
    });

    test("one that can never be deleted is let go by an annotation, and its records with it", async () => {
      const spec = { loadBalancers: [wire], pods };
      await world.post(BINDS, { apiVersion: "lbcf.tkestack.io/v1", kind: "Bind", metadata: { name: "stuck" }, spec });
      await world.eventually(async () => {
        const { status } = (await world.read(`${BINDS}/stuck`)) as LbcfObject;
        assert.equal(status?.registeredBackends, 1);
      });
      rogue.answer = (hook, body) =>
        /^de(lete|register)/.test(hook) ? { json: { status: "Fail", msg: "never" } } : WELL_BEHAVED(hook, body);
      await world.remove(`${BINDS}/stuck`, {});
      await world.eventually(async () => {
        const [record] = await world.records();
        assert.equal(record && condition(record, "Deregistered")?.message, "never");
      });
      assert.equal((await world.cluster.request("GET", `${BINDS}/stuck`)).code, 200, "its finalizer holds it");
      await world.patch(`${BINDS}/stuck`, { metadata: { annotations: { "lbcf.tkestack.io/forget": "true" } } });
      await world.eventually(async () => {
        assert.equal((await world.cluster.request("GET", `${BINDS}/stuck`)).code, 404);
        assert.deepEqual(await world.records(), []);
        const events = await world.eventsOf("stuck");
        assert.ok(events.includes("ForgottenLoadBalancer"), events.join());
      });
      rogue.answer = WELL_BEHAVED;
    });

    test("when a whole group vanishes the API server is asked again, and then believed", async () => {
      await world.create("LoadBalancer", "wire", { lbDriver: "wire", lbSpec: { id: "8" } });
      const spec = { loadBalancers: ["wire"], pods: { ports: [{ port: 80 }], byLabel: { selector: { app: "many" } } } };
      await world.create("BackendGroup", "many", spec);
      const names = [0, 1, 2, 3].map((at) => `many-${at}`);
      for (const [at, each] of names.entries()) {
        await world.addPod(each, { ip: `10.244.9.${at + 1}`, labels: { app: "many" } });
      }
      await world.eventually(async () =>
        assert.equal((await world.get("BackendGroup", "many")).status?.registeredBackends, 4),
      );
      await world.stopController();
      for (const each of names) await world.killPod(each);
      await world.startController();
      await world.eventually(async () => assert.deepEqual(await world.records(), []));
      const metrics = await (await fetch(world.metricsUrl)).text();
      assert.match(metrics, /^azlb_lbcf_brakes_total [1-9]/m);
    });
  });
}
