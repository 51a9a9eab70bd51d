/** Commands that cannot reach a cluster end at once with one line that names what to mend, and exit code 2. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";

import { startKubernetes, type RunningKubernetes } from "../../../sandbox/kubernetes/index.ts";

const AZLB = resolve(import.meta.dirname, "../../../bin/azlb");
const dir = mkdtempSync(join(tmpdir(), "azlb-bad-input-"));
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
/** The cloud is not asked before the cluster; any config that can be read will do. */
const CLOUD_CONFIG = file(
  "azure.json",
  JSON.stringify({
    cloud: "AzurePublicCloud",
    tenantId: "t",
    subscriptionId: "s",
    resourceGroup: "r",
    location: "westus2",
    useManagedIdentityExtension: true,
    vnetName: "v",
    subnetName: "s",
    securityGroupName: "n",
    vmType: "vmss",
    loadBalancerSku: "standard",
  }),
);

let kubernetes: RunningKubernetes;
before(async () => void (kubernetes = await startKubernetes({ log: () => {} })));
after(async () => {
  await kubernetes.close();
  rmSync(dir, { recursive: true });
});

function explain(kubeconfig: string): Promise<{ code: unknown; stderr: string }> {
  const args = ["explain", "service/web", "-n", "shop", "--kubeconfig", kubeconfig, "--cloud-config", CLOUD_CONFIG];
  return new Promise((done) => {
    execFile(AZLB, args, { timeout: 240_000 }, (error, _stdout, stderr) => done({ code: error?.code ?? 0, stderr }));
  });
}

const kubeconfig = (server: string, token = "x"): string => `
current-context: c
contexts: [{ name: c, context: { cluster: k, user: u } }]
clusters: [{ name: k, cluster: { server: "${server}", certificate-authority: ${kubernetes.caFile} } }]
users: [{ name: u, user: { token: ${token} } }]
`;

const CASES: readonly [what: string, text: () => string, stderr: RegExp][] = [
  ["no YAML", () => "clusters: [", /^azlb: .*config: not YAML: .+\n$/],
  [
    "a missing field",
    () => kubeconfig("https://a").replace("server:", "sever:"),
    /config: clusters\[0\]\.cluster\.server is missing\n$/,
  ],
  ["an unreachable server", () => kubeconfig("https://127.0.0.1:1"), /^azlb: .*ECONNREFUSED 127\.0\.0\.1:1\)\n$/],
  ["expired credentials", () => kubeconfig(kubernetes.url), /^azlb: .*401 Unauthorized.*\n$/],
];

for (const [what, text, stderr] of CASES) {
  test(`${what}: one line, exit code 2`, async () => {
    const ended = await explain(file("config", text()));
    assert.match(ended.stderr, stderr);
    assert.equal(ended.stderr.trim().split("\n").length, 1, ended.stderr);
    assert.equal(ended.code, 2);
  });
}

test("a kubeconfig that is not there: one line, exit code 2", async () => {
  const { code, stderr } = await explain("/nowhere/config");
  assert.equal(stderr, "azlb: /nowhere/config: the kubeconfig cannot be read: ENOENT\n");
  assert.equal(code, 2);
});
