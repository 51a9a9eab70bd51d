/** What people know from kubectl works alike: contexts and their namespace, completion in a shell, plugins, versions. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";

import { parse, stringify } from "yaml";

import { NAMESPACES, SERVICES } from "../../src/kube/client/resources.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { VERSION } from "../../src/main/version.ts";
import { runAzlb } from "../support/azlb-process.ts";
import { commandSandbox } from "../support/command-sandbox.ts";

const { dir, sandbox } = await commandSandbox();
const BIN = resolve(import.meta.dirname, "../../bin");
const run = promisify(execFile);
const env = { ...process.env, PATH: `${BIN}:${process.env["PATH"]}` };

const { client, close } = openKubeClient({ kubeconfig: sandbox.kubeconfig, userAgent: "test" });
after(close);

/** The sandbox's kubeconfig, whose current context leads nowhere; `live` is the sandbox with namespace `shop`. */
function twoContexts(): string {
  const config = parse(readFileSync(sandbox.kubeconfig, "utf8")) as {
    clusters: { name: string; cluster: object }[];
    contexts: { name: string; context: object }[];
  };
  const [only] = config.contexts;
  const path = join(dir, "two-contexts");
  const contexts = [
    { name: "live", context: { ...only?.context, namespace: "shop" } },
    { name: "dead", context: { ...only?.context, cluster: "nowhere" } },
  ];
  const clusters = [...config.clusters, { name: "nowhere", cluster: { server: "https://127.0.0.1:1" } }];
  writeFileSync(path, stringify({ ...config, "current-context": "dead", contexts, clusters }));
  return path;
}

test("--context names the cluster, and its namespace is the one that is meant", async () => {
  await client.create(NAMESPACES, { metadata: { name: "shop" } });
  const place = { namespace: "shop", name: "web" };
  await client.create(SERVICES, { metadata: place, spec: { type: "LoadBalancer", ports: [{ port: 80 }] } });
  const config = join(dir, "conventions.json");
  writeFileSync(config, JSON.stringify(sandbox.azure.cloudConfig));
  const explain = (...flags: readonly string[]) =>
    runAzlb("explain", "service/web", "--kubeconfig", twoContexts(), "--cloud-config", config, ...flags);
  const [live, elsewhere, current, unknown] = await Promise.all([
    explain("--context", "live"),
    explain("--context", "live", "-n", "default"),
    explain(),
    explain("--context", "staging"),
  ]);
  await client.delete(SERVICES, place);
  assert.match(live.stdout, /^Service +shop\/web$/m, live.stderr);
  assert.match(elsewhere.stderr, /default\/web/);
  assert.match(current.stderr, /^azlb: the Kubernetes API server does not answer/);
  assert.match(unknown.stderr, /--context names context "staging", but contexts has no entry of that name/);
  assert.deepEqual([elsewhere.code, current.code, unknown.code], [2, 2, 2]);
});

/** What bash offers after these words. */
async function offered(...words: readonly string[]): Promise<string[]> {
  // compopt works while bash itself completes, and not here
  const script = `compopt() { :; }; source <(azlb completion bash)
    COMP_WORDS=(azlb "$@"); COMP_CWORD=$#; __azlb_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run("bash", ["-c", script, "bash", ...words], { env });
  return stdout.split("\n").filter((line) => line !== "");
}

test("a shell completes commands, flags and their values", async () => {
  assert.deepEqual(await offered("exp"), ["explain"]);
  assert.deepEqual(await offered("get", ""), ["lb", "pool", "members", "nsg", "pip"]);
  assert.deepEqual(await offered("plan", "--drift-policy", ""), ["report", "enforce", "ignore"]);
});

test("kubectl finds the plugin; azlb says its version, also as JSON", async () => {
  const { stdout } = await run("kubectl-azlb", ["version", "-o", "json"], { env });
  const { version } = JSON.parse(stdout) as { version: string };
  assert.equal(version, VERSION);
});
