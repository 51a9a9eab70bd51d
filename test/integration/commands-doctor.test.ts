/** `azlb doctor` as people run it: a line for each check, the fix of what is wrong, exit code 1 where something is. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { LEASES } from "../../src/kube/client/resources.ts";
import { microTime } from "../../src/kube/election/lease.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { type Ended, runAzlb } from "../support/azlb-process.ts";
import { commandSandbox } from "../support/command-sandbox.ts";
import { FaultControl } from "../support/fault-control.ts";

const { dir, sandbox } = await commandSandbox();

function doctor(change: Readonly<Record<string, unknown>>, ...more: readonly string[]): Promise<Ended> {
  const path = join(dir, "azure.json");
  writeFileSync(path, JSON.stringify({ ...sandbox.azure.cloudConfig, ...change }));
  return runAzlb("doctor", "--kubeconfig", sandbox.kubeconfig, "--cloud-config", path, ...more);
}

test("a sound cluster: every line OK or not to be checked here, exit code 0; the report has the same", async () => {
  const file = join(dir, "report.json");
  const { code, stdout, stderr } = await doctor({}, "--report", file);
  assert.equal(code, 0, stdout + stderr);
  for (const what of [
    "Kubernetes",
    "controllers",
    "cloud config",
    "clock",
    "identity",
    "resourceGroup",
    "quota",
    "api-versions",
    "rights in Azure",
    "settings",
  ]) {
    assert.match(stdout, new RegExp(`^OK +${what} `, "m"));
  }
  assert.match(stdout, /azlb does not run, the resource lock is free/);
  assert.match(stdout, /\nNothing is wrong\.\n$/);
  const { checks } = JSON.parse(readFileSync(file, "utf8")) as { checks: { kind: string; what: string }[] };
  assert.ok(checks.some(({ kind, what }) => kind === "ok" && what === "identity"));
});

const WRONG: readonly [what: string, change: Readonly<Record<string, unknown>>, line: RegExp, fix: RegExp][] = [
  ["a key", { vmType: "vmsss" }, /^WRONG +cloud config +.*vmType.*"vmsss"/m, /fix: correct \S+azure\.json/],
  [
    "the group",
    { resourceGroup: "norg" },
    /^WRONG +resourceGroup +"norg" does not exist/m,
    /fix: correct resourceGroup/,
  ],
  [
    "the security group",
    { securityGroupName: "nonsg" },
    /^WRONG +read security group +there is no security group "nonsg" in "rg"/m,
    /fix: correct securityGroupName in \S+azure\.json/,
  ],
  [
    "the VNet's resource group",
    { vnetResourceGroup: "nogroup" },
    /^WRONG +read VNet +resource group "nogroup" does not exist/m,
    /fix: correct vnetResourceGroup in \S+azure\.json/,
  ],
  [
    "the endpoint",
    { resourceManagerEndpoint: "https://127.0.0.1:1" },
    /^WRONG +Azure +.*ECONNREFUSED/m,
    /fix: check network, proxy, cloud and resourceManagerEndpoint/,
  ],
];

for (const [what, change, line, fix] of WRONG) {
  test(`${what} of the config is wrong: told with the fix, exit code 1, without secrets`, async () => {
    const file = join(dir, "report.json");
    const { code, stdout, stderr } = await doctor(change, "--report", file);
    assert.match(stdout, line, stderr);
    assert.match(stdout, fix);
    assert.match(stdout, /went wrong\.\n$/);
    assert.equal(code, 1);
    const secret = String(sandbox.azure.cloudConfig["aadClientSecret"]);
    assert.ok(!`${stdout}${stderr}${readFileSync(file, "utf8")}`.includes(secret));
  });
}

test("each right of the role is asked for: told which are missing, with the role that has them", async () => {
  const setRoles = async (roles: object): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ roles });
    const { status } = await fetch(`${sandbox.azure.controlUrl}/settings`, { method: "PATCH", headers, body });
    assert.equal(status, 200);
  };
  await setRoles({ "*": { actions: ["*/read"], notActions: [] } });
  const { code, stdout } = await doctor({});
  await setRoles({});
  assert.match(stdout, /^WRONG +rights in Azure +missing on rg: .*Microsoft\.Network\/loadBalancers\/write/m);
  assert.doesNotMatch(stdout, /missing on rg: .*\/read/);
  assert.equal(code, 1);
});

test("a right is missing in Azure: told with the role", async () => {
  const faults = new FaultControl(sandbox.azure.controlUrl);
  const effect = { kind: "status", status: 403, code: "AuthorizationFailed" };
  await faults.arm({ method: ["GET"], path: "**/publicIPAddresses", count: null, effect });
  const { code, stdout } = await doctor({});
  await faults.clear();
  assert.match(stdout, /^WRONG +read public IPs +no right /m);
  assert.match(stdout, /fix: assign the role of deploy\/azure-role\.json/);
  assert.equal(code, 1);
});

test("the API server does not answer: told with the fix, and the rest is checked", async () => {
  const file = join(dir, "elsewhere");
  writeFileSync(file, readFileSync(sandbox.kubeconfig, "utf8").replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"));
  const { code, stdout } = await doctor({}, "--kubeconfig", file);
  assert.match(stdout, /^WRONG +Kubernetes +.*ECONNREFUSED/m);
  assert.match(stdout, /^OK +identity /m);
  assert.equal(code, 1);
});

test("azlb and the incumbent's service controller both run: told with the flag that ends it", async () => {
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  const hold = async (name: string, holderIdentity: string): Promise<void> => {
    const spec = { holderIdentity, leaseDurationSeconds: 900, renewTime: microTime(Date.now()) };
    await client.create(LEASES, { metadata: { namespace: "kube-system", name }, spec });
  };
  await hold("azlb-controller", "azlb-1");
  await hold("aks-managed-resource-locker", "cloud-controller-manager");
  const { code, stdout } = await doctor({});
  assert.match(
    stdout,
    /^WRONG +controllers +azlb runs \(azlb-1\), the resource lock is held by cloud-controller-manager: /m,
  );
  assert.match(stdout, /fix: start cloud-controller-manager with --controllers=\*,-service-lb-controller/);
  assert.equal(code, 1);
  for (const name of ["azlb-controller", "aks-managed-resource-locker"]) {
    await client.delete(LEASES, { namespace: "kube-system", name });
  }
  await close();
});
