/** What `kubectl apply -k` makes of `deploy` and `deploy/policies`, on a real kube-apiserver: nothing refused, no warnings. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { type RunningControlPlane, startControlPlane } from "../support/control-plane.ts";

const DEPLOY = resolve(import.meta.dirname, "../../deploy");
const APPLIED = {
  ".": [
    "clusterrole.rbac.authorization.k8s.io/azlb-controller",
    "clusterrolebinding.rbac.authorization.k8s.io/azlb-controller",
    "deployment.apps/azlb-controller",
    "poddisruptionbudget.policy/azlb-controller",
    "role.rbac.authorization.k8s.io/azlb-controller",
    "role.rbac.authorization.k8s.io/azlb-release-brake",
    "rolebinding.rbac.authorization.k8s.io/azlb-controller",
    "serviceaccount/azlb-controller",
  ],
  policies: ["addresses", "controller-fields", "exposure", "member-lists", "node-events"].flatMap((name) => [
    `validatingadmissionpolicy.admissionregistration.k8s.io/azlb-${name}`,
    `validatingadmissionpolicybinding.admissionregistration.k8s.io/azlb-${name}`,
  ]),
};

let plane: RunningControlPlane;
before(async () => {
  plane = await startControlPlane();
});
after(() => plane.close());

for (const [folder, objects] of Object.entries(APPLIED)) {
  test(`kubectl apply -k deploy/${folder}`, async () => {
    const flags = ["--kubeconfig", plane.kubeconfig, "--validate=strict", "--output=name"];
    const args = ["apply", "-k", resolve(DEPLOY, folder), ...flags];
    const { stdout, stderr } = await promisify(execFile)(plane.binaries.kubectl, args);
    assert.equal(stderr, "");
    assert.deepEqual(stdout.trim().split("\n").toSorted(), objects.toSorted());
  });
}
