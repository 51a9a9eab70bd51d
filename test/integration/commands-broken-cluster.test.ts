/** `azlb plan` where what the cloud config names is not there: who does not answer or what is missing, with key, file and fix. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { SERVICES } from "../../src/kube/client/resources.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { runAzlb } from "../support/azlb-process.ts";
import { commandSandbox } from "../support/command-sandbox.ts";
import { FaultControl } from "../support/fault-control.ts";

const { dir, sandbox } = await commandSandbox();

const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
await client.create(SERVICES, {
  metadata: {
    namespace: "default",
    name: "web",
    annotations: { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" },
  },
  spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
});
await close();

/** Of an internal Service. */
const CASES: readonly [what: string, change: object, code: number, said: RegExp][] = [
  [
    "a VNet",
    { vnetName: "novnet" },
    0,
    /^x default\/web +refused, SubnetNotFound: vnetName of \S+azure\.json: there is no VNet "novnet" in resource group "\S+": correct/,
  ],
  [
    "a subnet",
    { subnetName: "nosubnet" },
    0,
    /^x default\/web +refused, SubnetNotFound: subnetName of \S+azure\.json: VNet "vnet" has no subnet "nosubnet": name one that it has \("subnet"/,
  ],
  [
    "the resource group of the VNet",
    { vnetResourceGroup: "nogroup" },
    0,
    /^x default\/web +refused, SubnetNotFound: vnetResourceGroup of \S+azure\.json: resource group "nogroup" does not exist: name the one/,
  ],
  [
    "the resource group of the security group",
    { securityGroupResourceGroup: "nogroup" },
    2,
    /^azlb: \S+azure\.json: securityGroupResourceGroup "nogroup" does not exist in subscription "\S+": correct this key/,
  ],
  [
    "Azure itself",
    { resourceManagerEndpoint: "https://127.0.0.1:1/" },
    2,
    /^azlb: Azure does not answer: check cloud and resourceManagerEndpoint in \S+azure\.json.*ECONNREFUSED/,
  ],
];

for (const [what, change, code, said] of CASES) {
  test(`${what} is not there: told with key and fix`, async () => {
    const file = join(dir, "azure.json");
    writeFileSync(file, JSON.stringify({ ...sandbox.azure.cloudConfig, ...change }));
    const ended = await runAzlb("plan", "--kubeconfig", sandbox.kubeconfig, "--cloud-config", file);
    assert.match(ended.stdout + ended.stderr, said);
    assert.equal(ended.code, code);
  });
}

test("the Kubernetes API server is not there: told with the flag", async () => {
  const kubeconfig = join(dir, "kubeconfig");
  const cluster = { clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }] };
  const rest = { contexts: [{ name: "c", context: { cluster: "c", user: "u" } }], users: [{ name: "u", user: {} }] };
  writeFileSync(kubeconfig, JSON.stringify({ ...cluster, ...rest, "current-context": "c" }));
  const { code, stderr } = await runAzlb("plan", "--kubeconfig", kubeconfig, "--cloud-config", join(dir, "azure.json"));
  assert.match(stderr, /^azlb: the Kubernetes API server does not answer: .*--kubeconfig/);
  assert.equal(code, 2);
});

test("Azure asks to wait for longer than --timeout: told who is waited for, and the command ends", async () => {
  const faults = new FaultControl(sandbox.azure.controlUrl);
  const effect = { kind: "status", status: 429, code: "TooManyRequests", retryAfterSeconds: 3_600 };
  await faults.arm({ method: ["GET"], path: "/subscriptions/**", count: null, effect });
  const file = join(dir, "azure.json");
  writeFileSync(file, JSON.stringify(sandbox.azure.cloudConfig));
  const flags = ["--kubeconfig", sandbox.kubeconfig, "--cloud-config", file, "--timeout", "10s"];
  const { code, stderr } = await runAzlb("plan", ...flags);
  await faults.clear();
  assert.match(stderr, /Azure throttles reads until/);
  assert.match(stderr, /azlb: not done after 10 s \(--timeout\), waiting for Azure/);
  assert.equal(code, 1);
});
