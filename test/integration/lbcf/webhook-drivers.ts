/** Drivers behind webhooks: the example driver does its work unchanged, and every hook gets what LBCF documents. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { openCertificateAuthority } from "../../../sandbox/shared/certificate-authority.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { driverSteps, groupOf } from "./driver-steps.ts";
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

    const { addDriver, addLoadBalancer, says, addWire } = driverSteps(() => world);
    const servers = async (id: string): Promise<unknown> => (await toy.table())[id]?.servers;
    const hasServers = (id: string, expected: object): Promise<void> =>
      world.eventually(async () => assert.deepEqual(await servers(id), expected));

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
        await world.create("BackendGroup", "web", groupOf("toy", "web", { parameters: { weight: "18" } }));
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
        await world.create("BackendGroup", "judged", groupOf("toy", "judged", spec));
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
        await world.create("BackendGroup", "twin", groupOf("toy", "web"));
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

      test("the load balancer is deleted at the driver when nothing uses it, and the driver's object after it", async () => {
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
      before(() => addWire(rogue.url));

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
  });
}
