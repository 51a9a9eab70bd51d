import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { claimSandboxHome } from "./sandbox-home.ts";

const dir = mkdtempSync(join(tmpdir(), "azlb-home-"));
after(() => rmSync(dir, { recursive: true }));
const env = { XDG_CACHE_HOME: join(dir, "cache") };

function files(text: string): { kubeconfig: string; cloudConfig: string } {
  const made = { kubeconfig: join(dir, `${text}-kubeconfig`), cloudConfig: join(dir, `${text}.json`) };
  for (const file of Object.values(made)) writeFileSync(file, text, { mode: 0o600 });
  return made;
}

test("one sandbox has the fixed place until it ends; the next finds it free", () => {
  const first = claimSandboxHome(files("first"), env);
  assert.ok(first !== undefined);
  assert.equal(readFileSync(first.kubeconfig, "utf8"), "first");
  assert.equal(statSync(first.cloudConfig).mode & 0o077, 0, "it has a secret");
  assert.equal(claimSandboxHome(files("second"), env), undefined);
  assert.equal(readFileSync(first.cloudConfig, "utf8"), "first");
  first.release();
  assert.ok(!existsSync(first.kubeconfig));
  const second = claimSandboxHome(files("second"), env);
  assert.equal(second && readFileSync(second.kubeconfig, "utf8"), "second");
});

test("what a process left that was killed is taken over", () => {
  const gone = 2 ** 22 + 1; // above the largest id that Linux gives
  writeFileSync(join(env.XDG_CACHE_HOME, "azlb/sandbox/owner"), `${gone}\n`);
  assert.ok(claimSandboxHome(files("third"), env) !== undefined);
});

test("without a home there is none", () => {
  assert.equal(claimSandboxHome(files("fourth"), {}), undefined);
});
