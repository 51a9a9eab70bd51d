/** A public IP that has lost its tags may be a user's by now: it is used, told, and never deleted with the Service. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { ServiceRig } from "../../support/service-rig.ts";

test("a public IP under the Service's name without tags stays when the Service goes, and the Service says so", async () => {
  const rig = await ServiceRig.open(openEmbeddedCluster);
  try {
    await rig.apply({ name: "web" });
    await rig.served("web");
    const [publicIP] = await rig.list("publicIPAddresses");
    assert.ok(publicIP !== undefined);
    await rig.stop();
    await rig.put(`publicIPAddresses/${publicIP.name}`, { ...publicIP, tags: {} });
    await rig.start();
    const message = await rig.warned("web", "PublicIPNotTagged");
    assert.ok(message.includes(publicIP.name), message);
    await rig.delete("web");
    assert.deepEqual(
      (await rig.list("publicIPAddresses")).map(({ name }) => name),
      [publicIP.name],
    );
  } finally {
    await rig.close();
  }
});
