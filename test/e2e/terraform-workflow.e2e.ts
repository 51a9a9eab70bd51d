/**
 * The steps of examples/terraform/workflow.yaml, run as its runner would run them, on the example beside it: with the command out
 * of its archive by `npx`, and a mirror of the registry in place of the network. Needs what `npm run build-tofu` builds.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, suite, test } from "node:test";

import { parse } from "yaml";

import { bundle } from "../../build/bundle.ts";
import { providerMirror } from "../support/tofu-run.ts";
import { tofuPrograms } from "../support/tofu.ts";

const EXAMPLE = resolve(import.meta.dirname, "../../examples/terraform");
const WITHIN_MS = 900_000;

interface Workflow {
  readonly env: Readonly<Record<string, string>>;
  readonly jobs: { readonly test: { readonly steps: readonly { readonly name?: string; readonly run?: string }[] } };
}

const workflow = parse(readFileSync(join(EXAMPLE, "workflow.yaml"), "utf8")) as Workflow;
const programs = tofuPrograms();
const skip = programs === undefined ? "no OpenTofu in the cache: `npm run build-tofu` builds it" : false;

suite("the workflow that tests a module", { skip }, () => {
  let folder: string;
  let module: string;
  let env: NodeJS.ProcessEnv;
  const groups: number[] = [];
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "azlb-workflow-"));
    module = join(folder, "module");
    cpSync(EXAMPLE, module, { recursive: true });
    await bundle("cli", join(folder, "dist"));
    const archive = join(folder, "azlb-cli.tar.gz");
    execFileSync("tar", ["--create", "--gzip", "--file", archive, "--directory", join(folder, "dist"), "cli"]);
    env = {
      ...process.env,
      ...workflow.env,
      AZLB: archive,
      RUNNER_TEMP: folder,
      GITHUB_ENV: join(folder, "github-env"),
      TF_CLI_CONFIG_FILE: providerMirror(programs ?? "", folder),
      TF_INPUT: "0",
      npm_config_cache: join(folder, "npm"),
      npm_config_offline: "true",
      PATH: [programs ?? "", dirname(process.execPath), process.env["PATH"]].join(":"),
    };
  });
  after(() => {
    for (const group of groups) {
      try {
        process.kill(-group, "SIGTERM");
      } catch {
        // nothing of this step is left
      }
    }
    rmSync(folder, { recursive: true, force: true });
  });

  for (const { name = "", run } of workflow.jobs.test.steps) {
    if (run === undefined) continue;
    test(name, async () => {
      const log = join(folder, "step.log");
      writeFileSync(log, "");
      // its own group of processes: what a step leaves running goes on until the end, as on a runner
      const shell = spawn("bash", ["-c", `exec >>"$1" 2>&1 </dev/null; set -eo pipefail; ${run}`, "bash", log], {
        cwd: module,
        env: { ...env, ...written(env["GITHUB_ENV"] ?? "") },
        stdio: "ignore",
        detached: true,
        timeout: WITHIN_MS,
      });
      groups.push(shell.pid ?? 0);
      const [code] = (await once(shell, "exit")) as [number | null];
      assert.equal(code, 0, readFileSync(log, "utf8"));
    });
  }
});

/** Variables that earlier steps have set. */
function written(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}
