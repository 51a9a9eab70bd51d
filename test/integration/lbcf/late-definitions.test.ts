/** LBCF's definitions may come after the controller: it looks for them now and then, and serves Services meanwhile. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { installDefinitions } from "./definitions.ts";
import { condition, LbcfWorld } from "./world.ts";

test("a controller that was there first finds the definitions when they come", async () => {
  const world = await LbcfWorld.open(openEmbeddedCluster, { withDefinitions: false });
  try {
    const readyUrl = world.metricsUrl.replace("/metrics", "/readyz");
    await world.eventually(async () => assert.equal((await fetch(readyUrl)).status, 200));
    await installDefinitions(world.cluster);
    const spec = { lbDriver: "lbcf-azure", lbSpec: { name: "lb" }, attributes: { frontend: "internal" } };
    await world.create("LoadBalancer", "late", spec);
    await world.eventually(async () =>
      assert.equal(condition(await world.get("LoadBalancer", "late"), "Created")?.status, "True"),
    );
  } finally {
    await world.close();
  }
});
