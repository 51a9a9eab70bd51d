/** Eight Services at once on a load balancer that has room for three: Azure's limit is kept to before Azure refuses. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { propertiesOf, ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

const FIT = 3;

test("Services that do not fit on a Standard load balancer are refused, and cost nothing", async () => {
  const rig = await ServiceRig.open(openEmbeddedCluster, {
    azure: { model: { limits: { frontendsPerLoadBalancer: FIT } } },
    cloudConfig: { loadBalancerLimits: `frontends=${FIT}` },
  });
  try {
    const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    await Promise.all(names.map((name) => rig.apply({ name })));
    const served: string[] = [];
    for (const name of names) {
      await eventually(async () => {
        const { status } = await rig.service(name);
        const isServed = (status.loadBalancer.ingress ?? []).length > 0;
        const events = await rig.events(name);
        const told = events.find(({ reason }) => reason === "LoadBalancerFull")?.message;
        assert.ok(isServed || told !== undefined, `${name}: ${JSON.stringify(events)}`);
        if (isServed) served.push(name);
        else
          assert.match(
            told ?? "",
            /^load balancer "kubernetes" has no room: it would have more than the 3 frontends that Azure/,
          );
        const failed = events.filter(({ reason }) => reason === "SyncLoadBalancerFailed");
        assert.deepEqual(failed, [], "Azure was not asked for more than it allows");
      }, WITHIN_MS);
    }
    assert.equal(served.length, FIT);
    const [loadBalancer] = await rig.list("loadBalancers");
    assert.equal((propertiesOf(loadBalancer)["frontendIPConfigurations"] as unknown[]).length, FIT);
    assert.equal((await rig.list("publicIPAddresses")).length, FIT, "a Service that is refused has no public IP");

    await rig.delete(served[0] ?? "");
    const refused = names.filter((name) => !served.includes(name));
    // a change of a Service ends the pause that follows a refusal
    for (const name of refused) await rig.annotate(name, { "example.com/touched": "true" });
    await eventually(async () => {
      const services = await Promise.all(refused.map((name) => rig.service(name)));
      assert.ok(
        services.some(({ status }) => (status.loadBalancer.ingress ?? []).length > 0),
        "the oldest comes in",
      );
    }, WITHIN_MS);
  } finally {
    await rig.close();
  }
});
