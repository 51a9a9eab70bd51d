/**
 * The role in `deploy/viewer-rbac.yaml`, on a real kube-apiserver that writes down each request: a shadow, `azlb plan` and
 * `azlb doctor` work with it, and ask for nothing else. The doctor tells the rights that the caller lacks.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { SILENT_LOG } from "../../src/core/util/log.ts";
import { openShadow } from "../../src/main/shadow.ts";
import { type Ended, runAzlb } from "../support/azlb-process.ts";
import { ServiceRig } from "../support/service-rig.ts";
import { ConfinedPlane, usedOf } from "./confined-plane.ts";

const RIGHTS = "selfsubjectaccessreviews";

describe("the viewer's role", () => {
  let plane: ConfinedPlane;
  let rig: ServiceRig;

  before(async () => {
    plane = await ConfinedPlane.start(["viewer-rbac.yaml"], {}, ["azlb-viewer"]);
    rig = await ServiceRig.open(() => Promise.resolve(plane.cluster()));
    await rig.apply({ name: "web" });
    await rig.served("web");
    await rig.stop();
  });
  after(() => rig.close());

  test("a shadow needs no more", async () => {
    const { shadow, cache, close } = await openShadow({
      ...rig.viewOptions,
      kubeconfig: plane.kubeconfig,
      log: SILENT_LOG,
    });
    await cache.synced;
    await shadow.look(new AbortController().signal);
    const { services, entries, refusedSettings } = shadow.report();
    await close();
    assert.deepEqual([services, entries, refusedSettings], [1, [], []]);
  });

  test("nor does a plan", async () => {
    assert.equal((await azlb(plane, rig, "plan")).stdout, "Nothing to do.\n");
  });

  test("nor does reach: it sees that no pod of the Service serves", async () => {
    const { stdout, stderr } = await azlb(plane, rig, "reach", "web", "--from=198.51.100.7");
    assert.match(stdout, /^\S+ port 80\/TCP: NO, no endpoint of the Service serves on any node$/m, stderr);
  });

  test("the doctor tells which rights of the controller are missing", async () => {
    const { code, stdout } = await azlb(plane, rig, "doctor");
    assert.match(stdout, /^OK +controllers +azlb does not run/m);
    assert.match(
      stdout,
      /^WRONG +rights in Kubernetes +missing with this kubeconfig: patch services, patch services status, .*update leases azlb-controller/m,
    );
    assert.doesNotMatch(stdout, /missing with this kubeconfig:.* list services/);
    assert.equal(code, 1);
  });

  test("everything that was asked for is a read; none was refused but that of CRDs", async () => {
    const requests = plane.requests().filter(({ what }) => !/customresourcedefinitions|selfsubject/.test(what));
    const writes = usedOf(requests).filter((what) => !/^(?:get|list|watch) /.test(what));
    assert.deepEqual(writes, []);
    assert.ok(plane.requests().some(({ what }) => what.includes(RIGHTS)));
  });
});

describe("the controller's role", () => {
  test("the doctor finds every right of deploy/rbac.yaml", async () => {
    const plane = await ConfinedPlane.start(["rbac.yaml"]);
    const rig = await ServiceRig.open(() => Promise.resolve(plane.cluster()));
    try {
      const { stdout } = await azlb(plane, rig, "doctor");
      assert.match(stdout, /^OK +rights in Kubernetes +everything of deploy\/rbac\.yaml/m);
    } finally {
      await rig.close();
    }
  });
});

function azlb(plane: ConfinedPlane, rig: ServiceRig, ...command: readonly string[]): Promise<Ended> {
  return runAzlb(...command, `--kubeconfig=${plane.kubeconfig}`, `--cloud-config=${rig.azure.cloudConfigFile}`);
}
