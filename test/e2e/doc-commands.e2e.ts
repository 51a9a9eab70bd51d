/**
 * Every command of the task pages is run, as it stands there, on one sandbox: blocks marked `sh`, in the order of the page. Blocks
 * marked `console` need a cluster or a machine of their own and are not run. A page leaves no Service behind.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";

import { SILENT_LOG } from "../../src/core/util/log.ts";
import { startSandbox, type RunningSandbox } from "../../src/main/sandbox.ts";
import { COMPILE_CACHE } from "../support/azlb-process.ts";
import { controlPlaneBinaries } from "../support/control-plane-binaries.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const TASKS = join(ROOT, "docs/tasks");
const MANY = 60;

suite("commands of the task pages", () => {
  let sandbox: RunningSandbox;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let run = 0;
  before(async () => {
    sandbox = await startSandbox({ azure: { topology: { nodes: 3 } }, withController: true, log: SILENT_LOG });
    folder = mkdtempSync(join(tmpdir(), "azlb-docs-"));
    symlinkSync((await controlPlaneBinaries(() => {})).kubectl, join(folder, "kubectl"));
    const config = join(folder, "azure.json");
    writeFileSync(config, JSON.stringify(sandbox.azure.cloudConfig));
    const path = [folder, join(ROOT, "bin"), process.env["PATH"]].join(":");
    env = { ...process.env, ...COMPILE_CACHE, PATH: path, AZLB_CLOUD_CONFIG: config, KUBECONFIG: sandbox.kubeconfig };
  });
  after(async () => {
    await sandbox.close();
    rmSync(folder, { recursive: true });
    process.stderr.write(`doc commands: ${run} were run\n`);
  });

  for (const page of readdirSync(TASKS)) {
    test(page, async () => {
      for (const block of blocksOf(readFileSync(join(TASKS, page), "utf8"))) {
        await shell(block);
        run += commandsIn(block);
      }
      assert.equal(await shell("kubectl get services -o name"), "service/kubernetes\n", "a Service is left");
    });
  }

  test("there are many of them", () => assert.ok(run >= MANY, `${run} commands were run`));

  async function shell(script: string): Promise<string> {
    try {
      const options = { cwd: ROOT, env, timeout: 300_000 };
      return (await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], options)).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${script}\n${stdout}${stderr}`, { cause: error });
    }
  }
});

/** Marked `sh`; those in a list are indented. */
function blocksOf(text: string): string[] {
  return [...text.matchAll(/^( *)```sh\n([\s\S]*?)^ *```$/gm)].map(([, indent = "", block = ""]) =>
    block.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  );
}

/** Lines that begin a command: of a here-document only the first. */
function commandsIn(block: string): number {
  const plain = block.replaceAll(/<<-?'?(\w+)'?[\s\S]*?^\1$/gm, "");
  return plain.split("\n").filter((line) => line.trim() !== "" && !/^(for|do|done)\b/.test(line)).length;
}
