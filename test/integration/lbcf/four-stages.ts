/**
 * The four stages of LBCF's consistency design, with a controller that is a process of its own and is killed outright:
 *
 *   1  every ready pod has a record, with a finalizer, and stands in the load balancer
 *   2  the controller is killed while pods disappear; no controller hears of it
 *   3  a new controller finds records without pods, and deletes them; their finalizers hold them
 *   4  once they are deregistered the finalizers go, and the records with them
 *
 * People's servers in the same pool stay as they are, byte for byte.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { ControllerProcess } from "../../support/controller-process.ts";
import { startToyDriver, type ToyDriver } from "./toy-driver.ts";
import { LbcfWorld } from "./world.ts";

const FOREIGN = [
  { name: "a-person", properties: { ipAddress: "10.240.9.1", adminState: "Up", shoeSize: 44 } },
  { name: "another", properties: { ipAddress: "10.240.9.2", adminState: "Down", nested: { list: [1, { a: null }] } } },
];
const FINALIZER = "lbcf.tkestack.io/deregister-backend";

export function lbcfFourStages(name: string, open: ClusterOpener): void {
  describe(`the four stages on ${name}`, { concurrency: false }, () => {
    let world: LbcfWorld;
    let toy: ToyDriver;
    let controller: ControllerProcess;
    let foreign: string;

    before(async () => {
      [world, toy] = await Promise.all([
        LbcfWorld.open(open, { azure: { plainHttp: true }, withController: false }),
        startToyDriver(),
      ]);
      await world.addSharedLoadBalancer(FOREIGN);
      foreign = await foreignBytes();
      await start();
      await world.create("LoadBalancerDriver", "toy", { driverType: "Webhook", url: toy.url });
      await world.create("LoadBalancer", "toy", { lbDriver: "toy", lbSpec: { id: "toy-1" } });
      const lbSpec = { name: "shared", pool: "mixed" };
      await world.create("LoadBalancer", "azure", { lbDriver: "lbcf-azure", lbSpec });
      const pods = { ports: [{ port: 8080 }], byLabel: { selector: { app: "web" } } };
      await world.create("BackendGroup", "web", { loadBalancers: ["azure", "toy"], pods });
    });
    after(async () => {
      await controller?.kill();
      await world?.close();
      await toy?.stop();
    });

    const start = async (): Promise<void> => {
      const files = { kubeconfig: world.cluster.kubeconfig, cloudConfig: world.azure.cloudConfigFile };
      controller = await ControllerProcess.start(files, ["--lbcf-webhook-hosts=*,127.0.0.0/8"]);
      await controller.ready();
    };
    const ours = async (): Promise<readonly string[]> =>
      (await world.entries("shared"))
        .filter((entry) => entry.name.startsWith("azlb-"))
        .map(({ properties }) => properties.ipAddress ?? "")
        .sort();
    async function foreignBytes(): Promise<string> {
      const entries = (await world.entries("shared")).filter((entry) => !entry.name.startsWith("azlb-"));
      assert.equal(entries.length, FOREIGN.length);
      return JSON.stringify(entries, (key, value: unknown) => (key === "etag" ? undefined : value)); // the whole LB's
    }
    const servers = async (): Promise<readonly string[]> =>
      Object.keys((await toy.table())["toy-1"]?.servers ?? {}).sort();
    const isAt = (...ips: string[]): Promise<void> =>
      world.eventually(async () => {
        assert.deepEqual(await ours(), ips);
        assert.deepEqual(
          await servers(),
          ips.map((ip) => `${ip}:8080`),
        );
        assert.equal((await world.records()).length, 2 * ips.length);
      });

    test("stage 1: every ready pod has a record with a finalizer, and is registered", async () => {
      for (const at of [1, 2, 3, 4]) await world.addPod(`web-${at}`, { ip: `10.244.0.${at}` });
      await isAt("10.244.0.1", "10.244.0.2", "10.244.0.3", "10.244.0.4");
      for (const { metadata } of await world.records()) assert.deepEqual(metadata.finalizers, [FINALIZER]);
    });

    test("stages 2 to 4: pods that vanish while it is dead are taken out after it", async () => {
      const dying = world.killPod("web-1"); // under way when the controller dies
      await controller.kill();
      await dying;
      await world.killPod("web-2");
      await world.addPod("web-5", { ip: "10.244.0.5" });
      const remembered = (await world.records()).map(({ status }) => status?.backendAddr ?? "");
      for (const entry of await ours()) assert.ok(remembered.includes(entry), `${entry} is forgotten`);
      await start();
      await isAt("10.244.0.3", "10.244.0.4", "10.244.0.5");
      assert.equal(await foreignBytes(), foreign);
    });

    test("when the group goes, everything of ours goes, and nothing else", async () => {
      await controller.kill();
      await world.delete("BackendGroup", "web");
      await start();
      await isAt();
      await world.eventually(async () => assert.equal(await world.exists("BackendGroup", "web"), false));
      assert.equal(await foreignBytes(), foreign);
    });
  });
}
