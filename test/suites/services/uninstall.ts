/** The controller is taken out of a cluster: no Service hangs, and Azure is left as it is. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { FINALIZER } from "../../../src/core/intent/ownership.ts";
import { APPLIED_ANNOTATION } from "../../../src/core/service/applied-state.ts";
import { CONFIG_MAPS, LEASES } from "../../../src/kube/client/resources.ts";
import { runAzlb } from "../../support/azlb-process.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { ServiceRig } from "../../support/service-rig.ts";

const LEASE = { namespace: "kube-system", name: "azlb-controller" };

export function uninstallSuite(name: string, open: ClusterOpener): void {
  describe(`uninstalling, on ${name}`, () => {
    let rig: ServiceRig;
    before(async () => {
      rig = await ServiceRig.open(open);
      await rig.apply({ name: "web" });
      await rig.served("web");
      await rig.stop();
    });
    after(() => rig.close());

    test("is refused in one line while the controller holds its Lease", async () => {
      const now = new Date().toISOString().replace("Z", "000Z");
      const spec = { holderIdentity: "a", leaseDurationSeconds: 3_600, acquireTime: now, renewTime: now };
      await rig.kube.create(LEASES, { metadata: LEASE, spec });
      const { code, stderr } = await run(rig);
      assert.equal(code, 1);
      assert.match(stderr, /^azlb: the controller runs: "a" holds the Lease kube-system\/azlb-controller\. [^\n]*\n$/);
      assert.ok((await rig.service("web")).metadata.finalizers?.includes(FINALIZER));
      await rig.kube.delete(LEASES, LEASE);
    });

    test("keeps addresses: Azure and the status stay, what the controller wrote into the cluster goes", async () => {
      const inAzure = await rig.everything();
      const { status } = await rig.service("web");
      const { code, stdout, stderr } = await run(rig);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /^Released: 1 Service\. .* deleted: 1 member list\.$/m);
      const { metadata, status: afterwards } = await rig.service("web");
      assert.deepEqual([metadata.finalizers ?? [], metadata.annotations?.[APPLIED_ANNOTATION]], [[], undefined]);
      assert.deepEqual(afterwards, status);
      const { items } = await rig.kube.list(CONFIG_MAPS, { namespace: "kube-system" });
      assert.deepEqual(
        items.filter((each) => each.metadata.name.startsWith("azlb-")),
        [],
      );
      await rig.delete("web");
      assert.deepEqual(await rig.everything(), inAzure);
    });
  });
}

function run({ cluster }: ServiceRig): ReturnType<typeof runAzlb> {
  return runAzlb("uninstall", "--keep-addresses", `--kubeconfig=${cluster.kubeconfig}`);
}
