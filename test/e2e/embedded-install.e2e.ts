/** `kubectl apply` of `deploy` and `helm install` of the chart, with the real programs, on the embedded Kubernetes API. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { type RunningKubernetes, startKubernetes } from "../../sandbox/kubernetes/index.ts";
import { controlPlaneBinaries } from "../support/control-plane-binaries.ts";
import { CHART, helm } from "../support/helm.ts";

const DEPLOY = resolve(import.meta.dirname, "../../deploy");

let kubernetes: RunningKubernetes;
before(async () => {
  kubernetes = await startKubernetes();
});
after(() => kubernetes.close());

async function kubectl(...args: readonly string[]): Promise<string> {
  const { kubectl: program } = await controlPlaneBinaries(() => undefined);
  const { stdout, stderr } = await promisify(execFile)(program, ["--kubeconfig", kubernetes.kubeconfig, ...args]);
  assert.equal(stderr, "");
  return stdout;
}

test("helm installs the chart, upgrades and uninstalls it", async () => {
  const flags = ["--namespace", "kube-system", "--kubeconfig", kubernetes.kubeconfig];
  const values = ["--set", "clusterName=kubernetes"];
  await helm("install", "azlb", CHART, ...values, ...flags);
  assert.match(await kubectl("get", "deployments", "-n", "kube-system", "-o", "name"), /^deployment\.apps\/azlb/);
  await helm("upgrade", "azlb", CHART, ...values, "--set", "replicas=3", ...flags);
  await helm("uninstall", "azlb", ...flags);
  const kinds = "deployments,clusterroles,clusterrolebindings,poddisruptionbudgets";
  // what a Kubernetes has of its own stays
  assert.equal(await kubectl("get", kinds, "-A", "-l", "!kubernetes.io/bootstrapping", "-o", "name"), "");
});

for (const folder of [".", "policies"]) {
  test(`kubectl applies deploy/${folder}, and again without a change`, async () => {
    const args = ["apply", "-k", resolve(DEPLOY, folder), "--validate=strict"];
    for (const line of (await kubectl(...args)).trim().split("\n")) assert.match(line, / created$/);
    const again = (await kubectl(...args)).trim().split("\n");
    // A patch of a PodDisruptionBudget's selector replaces it, which kubectl calls a change on every server.
    for (const line of again) assert.match(line, / unchanged$|^poddisruptionbudget\.policy\/.+ configured$/);
  });
}
