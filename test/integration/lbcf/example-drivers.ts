/**
 * The example drivers in other languages, written from LBCF's specification: a load balancer and its backends from their
 * creation to their end. The driver in Node has a longer suite (`webhook-drivers.ts`). A language whose tool chain the
 * machine does not have is left out.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { driverSteps, groupOf } from "./driver-steps.ts";
import { exampleDriver, type Language, startToyDriver } from "./toy-driver.ts";
import { condition, LbcfWorld } from "./world.ts";

export function lbcfExampleDrivers(name: string, open: ClusterOpener, languages: readonly Language[]): void {
  describe(`LBCF's example drivers on ${name}`, { concurrency: false }, () => {
    const scratch = mkdtempSync(join(tmpdir(), "azlb-drivers-"));
    let world: LbcfWorld;
    const { addDriver, addLoadBalancer, says } = driverSteps(() => world);

    before(async () => {
      world = await LbcfWorld.open(open);
      await world.addPod("web-0", { ip: "10.244.0.10" });
      await world.post("/api/v1/namespaces/default/services", {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "np" },
        spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30_129 }], selector: { app: "x" } },
      });
    });
    after(async () => {
      await world?.close();
      rmSync(scratch, { recursive: true, force: true });
    });

    for (const language of languages) {
      test(`${language}: load balancer, pods, nodes and addresses come, change and go`, async () => {
        const program = exampleDriver(language, scratch);
        if (program === undefined) return; // no tool chain
        const toy = await startToyDriver(undefined, program);
        const servers = async (): Promise<unknown> => (await toy.table())["one"]?.servers;
        try {
          await addDriver(language, toy.url);
          await addLoadBalancer(language, language, { id: "one" }, { attributes: { colour: "red" } });
          await says("LoadBalancer", language, "Created", "True");
          assert.deepEqual((await toy.table())["one"], { attributes: { colour: "red" }, servers: {} });
          await world.create("BackendGroup", "pods", groupOf(language, "web", { parameters: { weight: "18" } }));
          await world.create("BackendGroup", "static", { loadBalancers: [language], static: ["my-web.com:8080"] });
          const service = { name: "np", port: { port: 80 } };
          await world.create("BackendGroup", "nodes", { loadBalancers: [language], service });
          const nodes = world.azure.nodes.map(({ ip }) => [`${ip}:30129`, { weight: 1 }] as const);
          const rest = { "my-web.com:8080": { weight: 1 }, ...Object.fromEntries(nodes) };
          await world.eventually(async () =>
            assert.deepEqual(await servers(), { "10.244.0.10:80": { weight: 18 }, ...rest }),
          );
          await world.eventually(async () => {
            for (const record of await world.records()) assert.equal(condition(record, "Registered")?.status, "True");
          });
          await world.change("BackendGroup", "pods", { spec: { parameters: { weight: "36" } } });
          await world.change("LoadBalancer", language, { spec: { attributes: { colour: "blue" } } });
          await world.eventually(async () => {
            assert.deepEqual(await servers(), { "10.244.0.10:80": { weight: 36 }, ...rest });
            assert.deepEqual((await toy.table())["one"]?.attributes, { colour: "blue" });
          });
          await world.change("BackendGroup", "pods", { spec: { parameters: { weight: "much" } } });
          await says("BackendGroup", "pods", "Accepted", "False", "BackendRefused");
          for (const group of ["pods", "static", "nodes"]) await world.delete("BackendGroup", group);
          await world.eventually(async () => assert.deepEqual(await servers(), {}));
          await world.delete("LoadBalancer", language);
          await world.eventually(async () => assert.deepEqual(await toy.table(), {}));
          await world.delete("LoadBalancerDriver", language);
          await world.eventually(async () => assert.equal(await world.exists("LoadBalancerDriver", language), false));
        } finally {
          await toy.stop();
        }
      });
    }
  });
}
