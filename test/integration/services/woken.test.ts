/**
 * A Service that is refused because of another one is served as soon as that one makes room, long before it would be
 * looked at by itself.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { ServiceRig, type Manifest } from "../../support/service-rig.ts";

/** Well below the minute after which a refused Service is looked at anyway. */
const WITHIN_MS = 30_000;

let rig: ServiceRig;
before(async () => {
  rig = await ServiceRig.open(openEmbeddedCluster);
});
after(() => rig.close());

async function served(manifest: Manifest): Promise<string> {
  await rig.apply(manifest);
  const [address = ""] = await rig.served(manifest.name);
  return address;
}

test("the port is free again, since the other Service uses another one", async () => {
  const address = await served({ name: "holder" });
  await rig.apply({ name: "waiter", annotations: { "azure-load-balancer-ipv4": address } });
  await rig.warned("waiter", "PortConflict");
  await rig.patch("holder", { spec: { ports: [{ port: 81 }] } });
  await rig.publishedWithin("waiter", WITHIN_MS);
  assert.deepEqual(await rig.served("waiter"), [address]);
  for (const name of ["waiter", "holder"]) await rig.delete(name);
});

test("the DNS label is free again, since the other Service is deleted", async () => {
  const annotations = { "azure-dns-label-name": "shop" };
  await served({ name: "holder", annotations });
  await rig.apply({ name: "waiter", annotations });
  await rig.warned("waiter", "DNSLabelConflict");
  await rig.delete("holder");
  await rig.publishedWithin("waiter", WITHIN_MS);
  await rig.served("waiter");
  await rig.delete("waiter");
});

test("the load balancer has room again, and every Service that waited for it is looked at", async () => {
  await rig.restart({ loadBalancerLimits: "frontends=2" });
  await served({ name: "first" });
  await served({ name: "second" });
  for (const name of ["third", "fourth"]) {
    await rig.apply({ name });
    await rig.warned(name, "LoadBalancerFull");
  }
  await Promise.all(["first", "second"].map((name) => rig.delete(name)));
  for (const name of ["third", "fourth"]) await rig.publishedWithin(name, WITHIN_MS);
  for (const name of ["third", "fourth"]) await rig.delete(name);
});
