/** Drivers behind webhooks: the example driver does its work unchanged, and a bad one harms nobody but its own. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { openCertificateAuthority } from "../../../sandbox/shared/certificate-authority.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { type RogueDriver, startRogueDriver, WELL_BEHAVED } from "./rogue-driver.ts";
import { startToyDriver, type ToyDriver } from "./toy-driver.ts";
import { condition, LbcfWorld } from "./world.ts";

export function lbcfWebhookDrivers(name: string, open: ClusterOpener): void {
  describe(`LBCF's webhook drivers on ${name}`, { concurrency: false }, () => {
    let world: LbcfWorld;
    let toy: ToyDriver;
    let rogue: RogueDriver;

    before(async () => {
      [world, toy, rogue] = await Promise.all([LbcfWorld.open(open), startToyDriver(), startRogueDriver()]);
    });
    after(async () => {
      await world?.close();
      await toy?.stop();
      await rogue?.close();
    });

    const addDriver = (driver: string, url: string, more: object = {}): Promise<unknown> =>
      world.create("LoadBalancerDriver", driver, { driverType: "Webhook", url, ...more });
    const addLoadBalancer = (lb: string, lbDriver: string, lbSpec: object, more: object = {}): Promise<unknown> =>
      world.create("LoadBalancer", lb, { lbDriver, lbSpec, ...more });
    const group = (lb: string, app: string, more: object = {}): object => ({
      loadBalancers: [lb],
      pods: { ports: [{ port: 80 }], byLabel: { selector: { app } } },
      ...more,
    });
    const servers = async (id: string): Promise<unknown> => (await toy.table())[id]?.servers;
    const hasServers = (id: string, expected: object): Promise<void> =>
      world.eventually(async () => assert.deepEqual(await servers(id), expected));
    const says = (kind: string, object: string, type: string, status: string, reason?: string): Promise<void> =>
      world.eventually(async () => {
        const found = condition(await world.get(kind, object), type);
        assert.equal(found?.status, status, JSON.stringify(found));
        if (reason !== undefined) assert.equal(found?.reason, reason, JSON.stringify(found));
      });

    describe("the example driver", () => {
      test("its load balancer is created, although it answers Running first", async () => {
        await addDriver("toy", toy.url);
        await addLoadBalancer("toy", "toy", { id: "toy-1" }, { attributes: { colour: "red" } });
        await says("LoadBalancer", "toy", "Created", "True");
        await says("LoadBalancerDriver", "toy", "Accepted", "True");
        await says("LoadBalancerDriver", "toy", "Healthy", "True");
        assert.deepEqual((await toy.table())["toy-1"], { attributes: { colour: "red" }, servers: {} });
        await world.eventually(async () => {
          const events = await world.eventsOf("toy");
          assert.ok(events.includes("RunningCreateLoadBalancer"), events.join());
          assert.ok(events.includes("SuccCreateLoadBalancer"), events.join());
        });
      });

      test("pods are registered with their parameters", async () => {
        await world.create("BackendGroup", "web", group("toy", "web", { parameters: { weight: "18" } }));
        await world.addPod("web-0", { ip: "10.244.0.10" });
        await world.addPod("web-1", { ip: "10.244.0.11" });
        await hasServers("toy-1", { "10.244.0.10:80": { weight: 18 }, "10.244.0.11:80": { weight: 18 } });
        await world.eventually(async () => {
          const [record] = await world.records();
          assert.ok(record);
          assert.equal(condition(record, "Registered")?.status, "True");
          assert.deepEqual(record.status?.injectedInfo, { registeredBy: "toy-driver" });
          const events = await world.eventsOf(record.metadata.name);
          for (const event of ["SuccGenerateAddr", "RunningEnsureBackend", "SuccEnsureBackend"]) {
            assert.ok(events.includes(event), `${event} in ${events.join()}`);
          }
        });
      });

      test("changed parameters reach every backend; those that the driver refuses change nothing", async () => {
        await world.change("BackendGroup", "web", { spec: { parameters: { weight: "36" } } });
        await hasServers("toy-1", { "10.244.0.10:80": { weight: 36 }, "10.244.0.11:80": { weight: 36 } });
        await world.change("BackendGroup", "web", { spec: { parameters: { weight: "much" } } });
        await says("BackendGroup", "web", "Accepted", "False", "BackendRefused");
        await hasServers("toy-1", { "10.244.0.10:80": { weight: 36 }, "10.244.0.11:80": { weight: 36 } });
        await world.change("BackendGroup", "web", { spec: { parameters: { weight: "36" } } });
        await says("BackendGroup", "web", "Accepted", "True");
      });

      test("changed attributes reach the load balancer", async () => {
        await world.change("LoadBalancer", "toy", { spec: { attributes: { colour: "blue" } } });
        await world.eventually(async () =>
          assert.deepEqual((await toy.table())["toy-1"]?.attributes, { colour: "blue" }),
        );
      });

      test("a pod that is not ready leaves under IfNotReady, stays under IfNotRunning, and leaves when it fails", async () => {
        await world.setPod("web-1", { ip: "10.244.0.11", ready: false });
        await hasServers("toy-1", { "10.244.0.10:80": { weight: 36 } });
        await world.setPod("web-1", { ip: "10.244.0.11" });
        await world.change("BackendGroup", "web", { spec: { deregisterPolicy: "IfNotRunning" } });
        await hasServers("toy-1", { "10.244.0.10:80": { weight: 36 }, "10.244.0.11:80": { weight: 36 } });
        await world.setPod("web-1", { ip: "10.244.0.11", ready: false });
        await world.addPod("web-2", { ip: "10.244.0.12" }); // what happens now happens after the group saw web-1
        await hasServers("toy-1", {
          "10.244.0.10:80": { weight: 36 },
          "10.244.0.11:80": { weight: 36 },
          "10.244.0.12:80": { weight: 36 },
        });
        await world.setPod("web-1", { ip: "10.244.0.11", ready: false, phase: "Failed" });
        await hasServers("toy-1", { "10.244.0.10:80": { weight: 36 }, "10.244.0.12:80": { weight: 36 } });
        await world.killPod("web-1");
        await world.killPod("web-2");
      });

      test("a driver judges which pods that are not ready stay", async () => {
        const spec = { deregisterPolicy: "Webhook", deregisterWebhook: { driverName: "toy" } };
        await world.create("BackendGroup", "judged", group("toy", "judged", spec));
        const upgrading = { "toy.example.com/upgrading": "true" };
        await world.addPod("judged-0", { ip: "10.244.1.10", labels: { app: "judged" }, annotations: upgrading });
        await world.addPod("judged-1", { ip: "10.244.1.11", labels: { app: "judged" } });
        await hasServers("toy-1", {
          "10.244.0.10:80": { weight: 36 },
          "10.244.1.10:80": { weight: 1 },
          "10.244.1.11:80": { weight: 1 },
        });
        await world.setPod("judged-0", { ip: "10.244.1.10", ready: false });
        await world.setPod("judged-1", { ip: "10.244.1.11", ready: false });
        await hasServers("toy-1", { "10.244.0.10:80": { weight: 36 }, "10.244.1.10:80": { weight: 1 } });
        await world.delete("BackendGroup", "judged");
        await hasServers("toy-1", { "10.244.0.10:80": { weight: 36 } });
      });

      test("two groups that name one server are counted: it leaves with the last", async () => {
        await world.create("BackendGroup", "twin", group("toy", "web"));
        await world.eventually(async () => {
          assert.equal((await world.get("BackendGroup", "twin")).status?.registeredBackends, 1);
        });
        await world.delete("BackendGroup", "twin");
        await world.eventually(async () => assert.equal(await world.exists("BackendGroup", "twin"), false));
        assert.deepEqual(Object.keys((await servers("toy-1")) as object), ["10.244.0.10:80"]);
      });

      test("static addresses are used as they are", async () => {
        await world.create("BackendGroup", "static", { loadBalancers: ["toy"], static: ["my-web.com:8080"] });
        await world.eventually(async () => assert.ok("my-web.com:8080" in ((await servers("toy-1")) as object)));
        await world.delete("BackendGroup", "static");
      });

      test("nodes behind a node port are registered with the Service's and the node's own objects", async () => {
        await world.post("/api/v1/namespaces/default/services", {
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "np" },
          spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }], selector: { app: "x" } },
        });
        const service = { name: "np", port: { portNumber: 80 } };
        await world.create("BackendGroup", "nodes", { lbName: "toy", service });
        await world.eventually(async () => {
          const known = Object.keys((await servers("toy-1")) as object);
          for (const { ip } of world.azure.nodes) assert.ok(known.includes(`${ip}:30123`), known.join());
        });
        await world.delete("BackendGroup", "nodes");
      });

      test("the driver may be away for a while", async () => {
        await toy.stop();
        await world.killPod("web-0");
        await says("LoadBalancerDriver", "toy", "Healthy", "False");
        toy = await startToyDriver(Number(new URL(toy.url).port));
        await world.eventually(async () => assert.deepEqual(await world.records(), []));
      });

      test("the load balancer is deleted at the driver when nobody uses it, and the driver's object after it", async () => {
        await world.delete("LoadBalancerDriver", "toy");
        await says("LoadBalancerDriver", "toy", "Deletable", "False", "StillUsed");
        await world.delete("LoadBalancer", "toy");
        await world.eventually(async () => {
          assert.equal(await world.exists("LoadBalancer", "toy"), false);
          assert.equal(await world.exists("LoadBalancerDriver", "toy"), false);
          assert.deepEqual(await toy.table(), {});
        });
        await world.delete("BackendGroup", "web");
      });
    });

    describe("on the wire", () => {
      before(async () => {
        await addDriver("wire", rogue.url, { webhooks: [{ name: "ensureBackend", timeout: "1s" }] });
        await addLoadBalancer("wire", "wire", { id: "1" });
        await says("LoadBalancer", "wire", "Created", "True");
        await world.addPod("wire-0", { ip: "10.244.2.10", labels: { app: "wire" } });
        await world.create("BackendGroup", "wire", group("wire", "wire", { parameters: { weight: "5" } }));
        await world.eventually(async () => {
          assert.equal((await world.get("BackendGroup", "wire")).status?.registeredBackends, 1);
        });
      });

      const bodyOf = (hook: string): Readonly<Record<string, unknown>> => {
        const found = rogue.asked.findLast((each) => each.hook === hook);
        assert.ok(found, `${hook} was never called`);
        return found.body;
      };

      test("every hook gets what LBCF documents", async () => {
        const lb = await world.get("LoadBalancer", "wire");
        const [record] = (await world.records()).filter(({ spec }) => spec["lbName"] === "wire");
        const create = bodyOf("createLoadBalancer");
        assert.equal(create["recordID"], `createLoadBalancer(${lb.metadata.uid})`);
        assert.match(String(create["retryID"]), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
        assert.deepEqual([create["lbSpec"], create["attributes"], create["dryRun"]], [{ id: "1" }, null, false]);
        assert.deepEqual(bodyOf("validateLoadBalancer"), {
          lbSpec: { id: "1" },
          operation: "Create",
          attributes: null,
          dryRun: false,
        });
        assert.deepEqual(bodyOf("validateBackend"), {
          backendType: "Pod",
          lbInfo: { id: "1" },
          operation: "Create",
          parameters: { weight: "5" },
          dryRun: false,
        });
        const generate = bodyOf("generateBackendAddr");
        const backend = generate["podBackend"] as { pod: { kind: string; metadata: { name: string } }; port: unknown };
        assert.equal(generate["recordID"], `generateBackendAddr(${record?.metadata.uid})`);
        assert.deepEqual(backend.port, { port: 80, portNumber: 80, protocol: "TCP" });
        assert.equal(backend.pod.metadata.name, "wire-0");
        assert.deepEqual(generate["parameters"], { weight: "5" });
        const { recordID, retryID, ...ensure } = bodyOf("ensureBackend");
        assert.equal(recordID, `ensureBackend(${record?.metadata.uid})`);
        assert.ok(retryID);
        assert.deepEqual(ensure, {
          dryRun: false,
          lbInfo: { id: "1" },
          backendAddr: "10.244.2.10",
          parameters: { weight: "5" },
          injectedInfo: null,
        });
      });

      test("updates carry what was there before, in both spellings", async () => {
        await world.change("BackendGroup", "wire", { spec: { parameters: { weight: "6" } } });
        await world.eventually(() => {
          const body = bodyOf("validateBackend");
          assert.equal(body["operation"], "Update");
          assert.deepEqual([body["OldParameters"], body["oldParameters"]], [{ weight: "5" }, { weight: "5" }]);
        });
        await world.change("LoadBalancer", "wire", { spec: { attributes: { a: "1" } } });
        await world.eventually(() => {
          const body = bodyOf("ensureLoadBalancer");
          assert.deepEqual([body["lbInfo"], body["attributes"]], [{ id: "1" }, { a: "1" }]);
        });
      });
    });

    test("over https a driver is trusted by its caBundle, and not without", async () => {
      const folder = mkdtempSync(join(tmpdir(), "azlb-driver-"));
      const authority = await openCertificateAuthority(folder);
      const { certPem, keyPem } = await authority.issueServer();
      const sealed = await startRogueDriver(WELL_BEHAVED, { cert: certPem, key: keyPem });
      try {
        await addDriver("unknown-authority", sealed.url);
        await says("LoadBalancerDriver", "unknown-authority", "Healthy", "False", "Unhealthy");
        await addDriver("sealed", sealed.url, { caBundle: btoa(authority.caPem) });
        await addLoadBalancer("sealed", "sealed", { id: "1" });
        await says("LoadBalancer", "sealed", "Created", "True");
        await says("LoadBalancerDriver", "sealed", "Healthy", "True");
        await world.delete("LoadBalancer", "sealed");
        await world.eventually(async () => assert.equal(await world.exists("LoadBalancer", "sealed"), false));
      } finally {
        for (const each of ["unknown-authority", "sealed"]) await world.delete("LoadBalancerDriver", each);
        await sealed.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });

    describe("bad drivers", () => {
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

      before(async () => {
        await world.create("BackendGroup", "bad", group("wire", "bad"));
      });

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
