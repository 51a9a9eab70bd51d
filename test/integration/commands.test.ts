/**
 * The commands as people run them. What cannot be used is told in one line that names it, with exit code 2; a signal ends
 * them in good order, with exit code 0.
 */
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { LEASES, SERVICES, type KubeObject } from "../../src/kube/client/resources.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { FaultControl } from "../support/fault-control.ts";
import { AzlbProcess, runAzlb } from "../support/azlb-process.ts";
import { eventually } from "../support/eventually.ts";
import { commandSandbox } from "../support/command-sandbox.ts";

const { dir, sandbox } = await commandSandbox();

/** The sandbox's cloud config with changes; `undefined` removes a key. */
function cloudConfig(change: Readonly<Record<string, unknown>>): string {
  const path = join(dir, "azure.json");
  writeFileSync(path, JSON.stringify({ ...sandbox.azure.cloudConfig, ...change }));
  return path;
}

function text(content: string): string {
  const path = join(dir, "azure.json");
  writeFileSync(path, content);
  return path;
}

const BAD: readonly [what: string, args: () => readonly string[], stderr: RegExp][] = [
  ["an unknown command", () => ["balance"], /unknown command 'balance'/],
  ["an unknown flag", () => ["controller", "--leader-elekt"], /unknown option '--leader-elekt'/],
  ["no cloud config", () => ["controller", "--kubeconfig", sandbox.kubeconfig], /give --cloud-config FILE/],
  [
    "a cloud config that is not there",
    () => controller("/nowhere/azure.json"),
    /\/nowhere\/azure\.json cannot be read/,
  ],
  ["a cloud config that is no JSON", () => controller(text("{")), /azure\.json: neither JSON nor YAML: .*[^:\s]$/m],
  ["a wrong value in it", () => controller(cloudConfig({ vmType: "vmsss" })), /vmType.*"vmsss"/],
  ["a missing key", () => controller(cloudConfig({ resourceGroup: undefined })), /resourceGroup/],
  [
    "a kubeconfig that is not there",
    () => ["controller", "--kubeconfig", "/nowhere/config", "--cloud-config", cloudConfig({})],
    /\/nowhere\/config: the kubeconfig cannot be read/,
  ],
  [
    "a number out of range",
    () => [...controller(cloudConfig({})), "--concurrent-service-syncs", "0"],
    /--concurrent-service-syncs.*0/,
  ],
  [
    "a wrong duration",
    () => [...controller(cloudConfig({})), "--drift-check-period", "soon"],
    /--drift-check-period.*soon/,
  ],
  [
    "a policy that there isn't",
    () => [...controller(cloudConfig({})), "--drift-policy", "undo"],
    /--drift-policy.*'undo' is invalid.*report, enforce, ignore/,
  ],
  [
    "a resource group in it that does not exist",
    () => plan(cloudConfig({ resourceGroup: "norg" })),
    /azure\.json: resourceGroup "norg" does not exist in subscription/,
  ],
  [
    "a subscription in it that does not exist",
    () => plan(cloudConfig({ subscriptionId: "00000000-0000-4000-8000-00000000dead" })),
    /azure\.json: subscriptionId "00000000-0000-4000-8000-00000000dead" does not exist/,
  ],
  ["a wrong timeout", () => plan(cloudConfig({}), "--timeout", "soon"), /--timeout.*soon/],
  ["a sandbox of no machine type", () => ["sandbox", "--vm-type", "cloud"], /--vm-type.*cloud/],
];

function plan(config: string, ...more: readonly string[]): readonly string[] {
  return ["plan", "--kubeconfig", sandbox.kubeconfig, "--cloud-config", config, ...more];
}

function controller(config: string): readonly string[] {
  return ["controller", "--kubeconfig", sandbox.kubeconfig, "--cloud-config", config];
}

for (const [what, args, expected] of BAD) {
  test(`${what}: told in one line, exit code 2`, async () => {
    const { code, stdout, stderr } = await runAzlb(...args());
    assert.match(stderr, expected);
    const lines = stderr
      .trim()
      .split("\n")
      .filter((line) => !line.startsWith("("));
    assert.equal(lines.length, 1, stderr);
    assert.equal(stdout, "");
    assert.equal(code, 2);
  });
}

test("no right to list Services: told at once with verb and resource, exit code 2", async () => {
  assert.ok(sandbox.kubeControlUrl !== null);
  const faults = new FaultControl(sandbox.kubeControlUrl);
  const effect = { kind: "status", status: 403, reason: "Forbidden" };
  await faults.arm({ method: ["GET"], path: "/api/v1/services", count: null, effect });
  const { code, stderr } = await runAzlb(...plan(cloudConfig({})));
  await faults.clear();
  assert.match(stderr, /^azlb: no right to list services in the whole cluster: grant the verbs list and watch/);
  assert.deepEqual([code, stderr.trim().split("\n").length], [2, 1], stderr);
});

test("--timeout: told in one line what was waited for, exit code 1", async () => {
  const faults = new FaultControl(sandbox.azure.controlUrl);
  await faults.arm({ method: ["GET"], path: "**", count: null, effect: { kind: "delay", delayMs: 20_000 } });
  const { code, stderr } = await runAzlb(...plan(cloudConfig({}), "--timeout", "2s"));
  await faults.clear();
  assert.match(stderr, /^azlb: not done after 2 s \(--timeout\), waiting for /);
  assert.deepEqual([code, stderr.trim().split("\n").length], [1, 1], stderr);
});

test("a Service that no controller serves: explain says so, alone and among all", async () => {
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  const metadata = { namespace: "default", name: "forgotten" };
  await client.create(SERVICES, { metadata, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
  const explain = (...object: readonly string[]) =>
    runAzlb("explain", ...object, "--kubeconfig", sandbox.kubeconfig, "--cloud-config", cloudConfig({}));
  const [one, all] = await Promise.all([explain("service/forgotten"), explain()]);
  await client.delete(SERVICES, metadata);
  await close();
  assert.match(one.stdout, /^controller +no controller holds the Lease kube-system\/azlb-controller: nothing is done/m);
  assert.equal(one.code, 1);
  assert.match(all.stdout, /^to do +default\/forgotten +new, at /m);
  assert.equal(all.code, 0, all.stderr);
});

test("SIGTERM ends the controller in good order and leaves its Lease free", async () => {
  const running = new AzlbProcess([
    ...controller(cloudConfig({})),
    "--health-port",
    "0",
    "--bind-address",
    "127.0.0.1",
  ]);
  await running.says(/the controller is running/);
  const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
  const holder = async (): Promise<string> => {
    const place = { namespace: "kube-system", name: "azlb-controller" };
    const { spec } = await client.get<KubeObject & { spec: { holderIdentity?: string } }>(LEASES, place);
    return spec.holderIdentity ?? "";
  };
  assert.notEqual(await holder(), "");
  const { code, stderr } = await running.end("SIGTERM");
  assert.equal(code, 0, stderr);
  assert.equal(await holder(), "");
  await close();
});

test("a sandbox for people: its files at a fixed place while it runs, and what it prints to curl is answered by a node", async () => {
  const running = new AzlbProcess(["sandbox"], { XDG_CACHE_HOME: dir });
  await running.says(/goes through 203\.0\.113\.\d+:80/);
  const [, url = ""] = /curl (http:\S+)/.exec(running.output) ?? [];
  await eventually(
    async () => assert.match(await (await fetch(url)).text(), /^node vmss00000\d answers GET \/$/m),
    60_000,
  );
  const kubeconfig = join(dir, "azlb/sandbox/kubeconfig");
  assert.ok(running.output.includes(`export KUBECONFIG=${kubeconfig}`), running.output);
  const { client, close } = openKubeClient({ kubeconfig, userAgent: "test" });
  assert.ok((await client.list(SERVICES, { namespace: "default" })).items.length > 0);
  await close();
  assert.equal((await running.end("SIGINT")).code, 0);
  assert.ok(!existsSync(kubeconfig));
});

test("Ctrl-C ends the sandbox in good order, also while its example is shown", async () => {
  for (const args of [["sandbox"], ["sandbox", "--json"]]) {
    const running = new AzlbProcess(args, { XDG_CACHE_HOME: dir });
    await running.says(/sandbox is running|"kubeconfig"/);
    const { code, stderr } = await running.end("SIGINT");
    assert.equal(code, 0, stderr);
    assert.ok(!/error/i.test(stderr), stderr);
  }
});
