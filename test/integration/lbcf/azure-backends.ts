/** The built-in driver end to end: pods and nodes as entries of an Azure pool, beside what others put there. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { condition, LbcfWorld } from "./world.ts";

export function lbcfAzureBackends(name: string, open: ClusterOpener): void {
  describe(`lbcf-azure on ${name}`, () => {
    let world: LbcfWorld;

    before(async () => {
      world = await LbcfWorld.open(open, { azure: { plainHttp: true }, ...(process.env["LOG"] && { log: console }) });
    });
    after(() => world.close());

    test("a missing load balancer is made, with its frontend, rules, probes and pool", async () => {
      await world.create("LoadBalancer", "web", {
        lbDriver: "lbcf-azure",
        lbSpec: { name: "web-lb" },
        attributes: { frontend: "internal", rules: "80:8080/TCP,443:8443@http:8081/healthz" },
      });
      await world.eventually(async () => {
        const lb = await world.get("LoadBalancer", "web");
        assert.equal(condition(lb, "Created")?.status, "True", JSON.stringify(lb.status));
        assert.equal(condition(lb, "AttributesSynced")?.status, "True");
      });
      const body = await world.arm(world.loadBalancerPath("web-lb"));
      const rules = body?.properties["loadBalancingRules"] as { properties: { frontendPort: number } }[];
      assert.deepEqual(
        rules.map(({ properties }) => properties.frontendPort),
        [80, 443],
      );
    });

    test("ready pods are registered, and the record says so", async () => {
      await world.create("BackendGroup", "web", {
        loadBalancers: ["web"],
        pods: { ports: [{ port: 8080 }], byLabel: { selector: { app: "web" } } },
      });
      await world.addPod("web-0", { ip: "10.244.0.10" });
      await world.addPod("web-1", { ip: "10.244.0.11" });
      await world.addPod("web-2", { ip: "10.244.0.12", ready: false });
      await world.eventually(async () => {
        assert.deepEqual(await world.addresses("web-lb"), ["10.244.0.10", "10.244.0.11"]);
        const group = await world.get("BackendGroup", "web");
        assert.equal(group.status?.backends, 2);
        assert.equal(group.status?.registeredBackends, 2);
      });
    });

    test("a pod that goes is taken out, and its record goes last", async () => {
      await world.killPod("web-0");
      await world.eventually(async () => {
        assert.deepEqual(await world.addresses("web-lb"), ["10.244.0.11"]);
        assert.equal((await world.records()).length, 1);
      });
    });
  });
}
