/**
 * `npm run e2e`: the suites of this folder against a real kube-apiserver and etcd. File names given on the command
 * line narrow it down; `--build-only` sees that the binaries are there and runs nothing. Where no control plane can be
 * had nothing is claimed: a message and success for a person, a failure where CI=true, since a CI that silently tests
 * nothing is worse than a red one.
 */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

import { NoControlPlane, controlPlaneBinaries } from "../support/control-plane-binaries.ts";

/** Of each test and each hook: far beyond what any takes, so that one that hangs is told of. */
const TEST_TIMEOUT_MS = 900_000;

const say = (line: string): void => void process.stderr.write(`e2e: ${line}\n`);

async function main(files: readonly string[]): Promise<number> {
  try {
    await controlPlaneBinaries(say); // builds what is missing before any test's clock runs
  } catch (error) {
    if (!(error instanceof NoControlPlane)) throw error;
    say(`nothing was tested: ${error.message}`);
    return process.env["CI"] === "true" ? 1 : 0;
  }
  if (files.includes("--build-only")) return 0;
  const suites = files.length > 0 ? files : ["test/e2e/**/*.e2e.ts"];
  const root = resolve(import.meta.dirname, "../..");
  return (
    spawnSync(process.execPath, ["--test", `--test-timeout=${TEST_TIMEOUT_MS}`, ...suites], {
      cwd: root,
      stdio: "inherit",
    }).status ?? 1
  );
}

process.exitCode = await main(process.argv.slice(2));
