/** Drivers behind webhooks that answer badly, refuse, or leave: it is said on what it concerns, and made good later. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { driverSteps, groupOf } from "./driver-steps.ts";
import { type RogueDriver, startRogueDriver, WELL_BEHAVED } from "./rogue-driver.ts";
import { condition, LbcfWorld } from "./world.ts";

export function lbcfBadDrivers(name: string, open: ClusterOpener): void {
  describe(`LBCF's bad drivers on ${name}`, { concurrency: false }, () => {
    let world: LbcfWorld;
    let rogue: RogueDriver;
    const { addDriver, addLoadBalancer, says, addWire } = driverSteps(() => world);

    before(async () => {
      [world, rogue] = await Promise.all([LbcfWorld.open(open), startRogueDriver()]);
      await addWire(rogue.url);
      await world.create("BackendGroup", "bad", groupOf("wire", "bad"));
    });
    after(async () => {
      await world?.close();
      await rogue?.close();
    });

    const LIST: readonly (readonly [string, RogueDriver["answer"], string, RegExp])[] = [
      [
        "rubbish",
        (hook, body) => (hook === "ensureBackend" ? { text: "<html>" } : WELL_BEHAVED(hook, body)),
        "DriverError",
        /no JSON: <html>/,
      ],
      [
        "an unknown status",
        (hook, body) => (hook === "ensureBackend" ? { json: { status: "Perhaps" } } : WELL_BEHAVED(hook, body)),
        "DriverError",
        /status "Perhaps"/,
      ],
      [
        "an HTTP error",
        (hook, body) => (hook === "ensureBackend" ? { text: "oops", status: 503 } : WELL_BEHAVED(hook, body)),
        "DriverError",
        /HTTP 503: oops/,
      ],
      [
        "silence",
        (hook, body) => (hook === "ensureBackend" ? "hang" : WELL_BEHAVED(hook, body)),
        "DriverError",
        /no answer within 1 s/,
      ],
      [
        "Fail",
        (hook, body) =>
          hook === "ensureBackend"
            ? { json: { status: "Fail", msg: "the quota is used up" } }
            : WELL_BEHAVED(hook, body),
        "OperationFailed",
        /the quota is used up/,
      ],
      [
        "no address",
        (hook, body) => (hook === "generateBackendAddr" ? { json: { status: "Succ" } } : WELL_BEHAVED(hook, body)),
        "DriverError",
        /without a backendAddr/,
      ],
    ];

    for (const [at, [what, answer, reason, message]] of LIST.entries()) {
      test(`${what} is said on the record, and made good once the driver is`, async () => {
        rogue.answer = answer;
        const ip = `10.244.3.${at + 10}`;
        await world.addPod(`bad-${at}`, { ip, labels: { app: "bad" } });
        const recordOf = async () =>
          (await world.records()).find(({ spec }) => (spec["podBackend"] as { name?: string })?.name === `bad-${at}`);
        await world.eventually(async () => {
          const record = await recordOf();
          const said = record && condition(record, "Registered");
          assert.equal(said?.status, "False");
          assert.equal(said?.reason, reason);
          assert.match(said?.message ?? "", message);
        });
        rogue.answer = WELL_BEHAVED;
        await world.eventually(async () => {
          const record = await recordOf();
          assert.equal(record && condition(record, "Registered")?.status, "True");
        });
        await world.killPod(`bad-${at}`);
        await world.eventually(async () => assert.equal(await recordOf(), undefined));
      });
    }

    test("a driver that asks for patience gets it, whatever else happens to the record", async () => {
      rogue.answer = (hook, body) =>
        hook === "ensureBackend"
          ? { json: { status: "Running", msg: "later", minRetryDelayInSeconds: 1 } }
          : WELL_BEHAVED(hook, body);
      const before = rogue.asked.length;
      await world.addPod("patient", { ip: "10.244.5.10", labels: { app: "bad" } });
      const calls = () => rogue.asked.slice(before).filter(({ hook }) => hook === "ensureBackend");
      await world.eventually(() => assert.ok(calls().length >= 3));
      const gaps = calls().map(({ atMs }, at, all) => atMs - (all[at - 1]?.atMs ?? -Infinity));
      assert.ok(
        gaps.every((gapMs) => gapMs > 900),
        gaps.join(),
      );
      rogue.answer = WELL_BEHAVED;
      await world.killPod("patient");
    });

    test("a backend that can never leave is let go by an annotation", async () => {
      await world.addPod("stuck", { ip: "10.244.4.10", labels: { app: "bad" } });
      const record = async () =>
        (await world.records()).find(({ spec }) => (spec["podBackend"] as { name?: string })?.name === "stuck");
      await world.eventually(async () => {
        const found = await record();
        assert.equal(found && condition(found, "Registered")?.status, "True");
      });
      rogue.answer = (hook, body) =>
        hook === "deregisterBackend" ? { json: { status: "Fail", msg: "never" } } : WELL_BEHAVED(hook, body);
      await world.killPod("stuck");
      await world.eventually(async () => {
        const found = await record();
        const said = found && condition(found, "Deregistered");
        assert.deepEqual([said?.status, said?.reason, said?.message], ["False", "OperationFailed", "never"]);
      });
      const found = await record();
      const annotations = { "lbcf.tkestack.io/forget": "true" };
      await world.change("BackendRecord", found?.metadata.name ?? "", { metadata: { annotations } });
      await world.eventually(async () => assert.equal(await record(), undefined));
      rogue.answer = WELL_BEHAVED;
    });

    test("a backend whose record loses its finalizers by hand stays in the load balancer, as LBCF's manual says", async () => {
      await world.create("BackendGroup", "let-go", { loadBalancers: ["wire"], static: ["10.244.4.20"] });
      const record = async () => (await world.records()).find(({ spec }) => spec["staticAddr"] === "10.244.4.20");
      await world.eventually(async () => {
        const found = await record();
        assert.equal(found && condition(found, "Registered")?.status, "True");
      });
      const before = rogue.asked.length;
      await world.change("BackendRecord", (await record())?.metadata.name ?? "", { metadata: { finalizers: null } });
      await world.change("BackendGroup", "let-go", { metadata: { annotations: { touched: "1" } } });
      await world.delete("BackendGroup", "let-go");
      await world.eventually(async () => assert.equal(await world.exists("BackendGroup", "let-go"), false));
      assert.equal(await record(), undefined);
      assert.ok(!rogue.asked.slice(before).some(({ hook }) => hook === "deregisterBackend"));
    });

    test("the last name of a group by name can be removed, and its backend leaves", async () => {
      await world.addPod("named", { ip: "10.244.4.30", labels: { app: "named" } });
      const pods = (byName: readonly string[]): object => ({ ports: [{ port: 80 }], byName });
      await world.create("BackendGroup", "named", { loadBalancers: ["wire"], pods: pods(["named"]) });
      await world.eventually(async () =>
        assert.equal((await world.get("BackendGroup", "named")).status?.registeredBackends, 1),
      );
      await world.change("BackendGroup", "named", { spec: { pods: pods([]) } });
      await world.eventually(async () => {
        const { status } = await world.get("BackendGroup", "named");
        assert.deepEqual([status?.backends, status?.registeredBackends], [0, 0]);
      });
      await says("BackendGroup", "named", "Accepted", "True");
      await world.delete("BackendGroup", "named");
      await world.killPod("named");
    });

    test("a driver that moves is called at its new url, with all that it has", async () => {
      const moved = await startRogueDriver();
      try {
        await addDriver("mover", rogue.url);
        await addLoadBalancer("mover", "mover", { id: "m" });
        await world.create("BackendGroup", "mover", { loadBalancers: ["mover"], static: ["10.244.4.40"] });
        await world.eventually(async () =>
          assert.equal((await world.get("BackendGroup", "mover")).status?.registeredBackends, 1),
        );
        await world.change("LoadBalancerDriver", "mover", { spec: { url: moved.url } });
        await world.delete("BackendGroup", "mover");
        await world.eventually(async () => assert.equal(await world.exists("BackendGroup", "mover"), false));
        await world.delete("LoadBalancer", "mover");
        await world.eventually(async () => assert.equal(await world.exists("LoadBalancer", "mover"), false));
        const hooks = moved.asked.map(({ hook }) => hook).filter((hook) => hook !== "healthz");
        assert.deepEqual(hooks, ["deregisterBackend", "deleteLoadBalancer"]);
        await world.delete("LoadBalancerDriver", "mover");
      } finally {
        await moved.close();
      }
    });

    test("a load balancer that the driver refuses, or whose driver is unknown, says so", async () => {
      rogue.answer = (hook, body) =>
        hook === "validateLoadBalancer" ? { json: { succ: false, msg: "no such vpc" } } : WELL_BEHAVED(hook, body);
      await addLoadBalancer("refused", "wire", { id: "2" });
      await says("LoadBalancer", "refused", "Accepted", "False", "Refused");
      await addLoadBalancer("nobody", "no-such-driver", { id: "2" });
      await says("LoadBalancer", "nobody", "Accepted", "False", "DriverNotFound");
      await addLoadBalancer("lbcf-here", "wire", { id: "2" });
      await says("LoadBalancer", "lbcf-here", "Accepted", "False", "InvalidName");
      rogue.answer = WELL_BEHAVED;
      for (const lb of ["refused", "nobody", "lbcf-here"]) await world.delete("LoadBalancer", lb);
      await world.eventually(async () => assert.equal(await world.exists("LoadBalancer", "refused"), false));
      assert.ok(!rogue.asked.some(({ hook, body }) => hook === "deleteLoadBalancer" && !body["lbInfo"]));
    });

    test("a group says what is wrong with its load balancers and its Service", async () => {
      await world.create("BackendGroup", "lost", { loadBalancers: ["not-there"], static: ["a"] });
      await says("BackendGroup", "lost", "Accepted", "False", "LoadBalancerNotFound");
      const service = { name: "not-there", port: { port: 80 } };
      await world.create("BackendGroup", "no-service", { loadBalancers: ["wire"], service });
      await says("BackendGroup", "no-service", "Accepted", "False", "ServiceNotFound");
      for (const each of ["lost", "no-service"]) await world.delete("BackendGroup", each);
    });

    test("a load balancer of kube-system serves the namespaces of its scope alone", async () => {
      const driver = { driverType: "Webhook", url: rogue.url };
      await world.createIn("kube-system", "LoadBalancerDriver", "lbcf-wide", driver);
      const shared = { lbDriver: "lbcf-wide", lbSpec: { id: "9" }, scope: ["other"] };
      await world.createIn("kube-system", "LoadBalancer", "lbcf-shared", shared);
      await world.create("BackendGroup", "scoped", { loadBalancers: ["lbcf-shared"], static: ["10.0.0.1:80"] });
      await says("BackendGroup", "scoped", "Accepted", "False", "OutOfScope");
      const path = "/apis/lbcf.tkestack.io/v1beta1/namespaces/kube-system/loadbalancers/lbcf-shared";
      await world.patch(path, { spec: { scope: ["other", "default"] } });
      await says("BackendGroup", "scoped", "Accepted", "True");
      await world.eventually(async () =>
        assert.equal((await world.get("BackendGroup", "scoped")).status?.registeredBackends, 1),
      );
      await world.patch(path, { spec: { scope: ["other"] } });
      await world.eventually(async () =>
        assert.equal((await world.records()).filter(({ spec }) => spec["lbName"] === "lbcf-shared").length, 0),
      );
      await world.delete("BackendGroup", "scoped");
    });

    test("a draining driver takes nothing new; what it has goes on", async () => {
      await world.change("LoadBalancerDriver", "wire", {
        metadata: { labels: { "lbcf.tkestack.io/driver-draining": "true" } },
      });
      await world.create("BackendGroup", "late", { loadBalancers: ["wire"], static: ["10.0.0.2:80"] });
      await says("BackendGroup", "late", "Accepted", "False", "DriverDraining");
      await addLoadBalancer("late", "wire", { id: "3" });
      await says("LoadBalancer", "late", "Accepted", "False", "DriverDraining");
      await world.addPod("wire-1", { ip: "10.244.2.11", labels: { app: "wire" } });
      await world.eventually(async () =>
        assert.equal((await world.get("BackendGroup", "wire")).status?.registeredBackends, 2),
      );
      await world.change("LoadBalancerDriver", "wire", {
        metadata: { labels: { "lbcf.tkestack.io/driver-draining": null } },
      });
      await says("BackendGroup", "late", "Accepted", "True");
      await says("LoadBalancer", "late", "Created", "True");
    });

    test("what is not to be deleted stays, works, and goes when its label does", async () => {
      const label = "lbcf.tkestack.io/do-not-delete";
      for (const [kind, object] of [
        ["LoadBalancer", "wire"],
        ["BackendGroup", "wire"],
      ] as const) {
        await world.change(kind, object, { metadata: { labels: { [label]: "" } } });
        await world.delete(kind, object);
        await says(kind, object, "Deletable", "False", "DoNotDelete");
      }
      await world.addPod("wire-2", { ip: "10.244.2.12", labels: { app: "wire" } });
      await world.eventually(async () =>
        assert.equal((await world.get("BackendGroup", "wire")).status?.registeredBackends, 3),
      );
      for (const [kind, object] of [
        ["BackendGroup", "wire"],
        ["LoadBalancer", "wire"],
      ] as const) {
        await world.change(kind, object, { metadata: { labels: { [label]: null } } });
      }
      for (const each of ["bad", "late"]) await world.delete("BackendGroup", each);
      await world.eventually(async () => {
        assert.equal(await world.exists("LoadBalancer", "wire"), false);
        assert.equal(await world.exists("BackendGroup", "wire"), false);
      });
    });

    test("LBCF's metrics are there by their names", async () => {
      const text = await (await fetch(world.metricsUrl)).text();
      for (const metric of [
        'webhook_calls{driver_name="default/wire",webhook_name="ensureBackend"}',
        "webhook_errors{",
        "webhook_fails{",
        "webhook_latency_bucket{",
        'k8s_operation_latency_count{k8s_op_obj="BackendRecord",k8s_op_type="Create"}',
        'key_process_latency_count{crd="BackendRecord"}',
        'pending_key{key_kind="backendrecord"}',
        'working_key{key_kind="backendgroup"}',
      ]) {
        assert.ok(text.includes(metric), metric);
      }
    });
  });
}
