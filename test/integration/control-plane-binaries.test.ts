/** Finding and building a real control plane's binaries, as far as it goes without one: no Go, no network. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

const E2E = resolve(import.meta.dirname, "../e2e/run.ts");
const GO_BUILD = resolve(import.meta.dirname, "../support/go-build.ts");

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "azlb-binaries-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("without binaries and without Go nothing is claimed: a message, and success for a person", () => {
  const { status, stderr, stdout } = runE2e({});
  assert.equal(status, 0, stderr);
  assert.match(stderr, /nothing was tested: no etcd, kube-apiserver, kubectl here: set KUBEBUILDER_ASSETS .* Go/);
  assert.equal(stdout, "");
});

test("the same is a failure where CI=true", () => {
  assert.equal(runE2e({ CI: "true" }).status, 1);
});

test("a named place that lacks its program is an error that names the setting", () => {
  const { status, stderr } = runE2e({ KUBEBUILDER_ASSETS: folder });
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`KUBEBUILDER_ASSETS=${folder}: there is no program ${folder}/etcd`));
});

test("two that want the same program build it once, and leave neither locks nor unfinished files", async () => {
  const into = join(folder, "bin");
  fakeGo(`echo built >> ${folder}/builds; sleep 1; echo program > "$out"`);
  assert.deepEqual(await Promise.all([goBuild(into), goBuild(into)]), [0, 0]);
  assert.equal(readFileSync(join(folder, "builds"), "utf8"), "built\n");
  assert.deepEqual(readdirSync(into), ["tool"]);
});

test("a dead builder's lock is taken over", async () => {
  const into = join(folder, "bin");
  fakeGo('echo program > "$out"');
  mkdirSync(into);
  writeFileSync(join(into, "lock"), String(spawnSync("true").pid));
  assert.equal(await goBuild(into), 0);
  assert.deepEqual(readdirSync(into), ["tool"]);
});

test("a build that fails leaves nothing that looks built", async () => {
  const into = join(folder, "bin");
  fakeGo('echo half > "$out"; exit 1');
  assert.notEqual(await goBuild(into), 0);
  assert.deepEqual(readdirSync(into), []);
});

/** `npm run e2e` on a machine that has nothing but Node and a shell. */
function runE2e(env: Record<string, string>): { status: number | null; stderr: string; stdout: string } {
  return spawnSync(process.execPath, [E2E], {
    encoding: "utf8",
    env: { PATH: folder, HOME: folder, XDG_CACHE_HOME: join(folder, "cache"), ...env },
  });
}

/** Puts a `go` on PATH that runs the script with `$out` set to the file to be built. */
function fakeGo(script: string): void {
  const body = `#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nout=$2\n${script}\n`;
  writeFileSync(join(folder, "go"), body);
  chmodSync(join(folder, "go"), 0o755);
}

function goBuild(into: string): Promise<number | null> {
  const order = { module: folder, linkerFlags: "", orders: [{ name: "tool", package: "example.com/tool" }], into };
  const program = `import { goBuild } from ${JSON.stringify(GO_BUILD)};
    await goBuild({ ...${JSON.stringify(order)}, say: () => undefined });`;
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { env, stdio: "ignore" });
  return new Promise((done) => child.once("close", done));
}
