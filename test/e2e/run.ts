/**
 * `npm run e2e`: the suites of this folder against a real kube-apiserver and etcd. File names given on the command
 * line narrow it down; `--build-only` sees that the binaries are there and runs nothing. Where no control plane can be
 * had nothing is claimed: a message and success for a person, a failure where CI=true, since a CI that silently tests
 * nothing is worse than a red one.
 */
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";

import { NoControlPlane, controlPlaneBinaries } from "../support/control-plane-binaries.ts";
import { helmBinary, NoHelm } from "../support/helm.ts";
import { runFiles } from "../support/run-files.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const FILE_DEADLINE_MS = 1_800_000;
const SLOWEST_FIRST = [
  "test/e2e/services-take-over.e2e.ts",
  "test/e2e/services-incumbent.e2e.ts",
  "test/e2e/lbcf-crashes.e2e.ts",
  "test/e2e/services-others.e2e.ts",
  "test/e2e/services.e2e.ts",
];

const say = (line: string): void => void process.stderr.write(`e2e: ${line}\n`);

async function main(given: readonly string[]): Promise<number> {
  try {
    await controlPlaneBinaries(say); // builds what is missing before any test's clock runs
    await helmBinary(say);
  } catch (error) {
    if (!(error instanceof NoControlPlane || error instanceof NoHelm)) throw error;
    say(`nothing was tested: ${error.message}`);
    return process.env["CI"] === "true" ? 1 : 0;
  }
  if (given.includes("--build-only")) return 0;
  const all = globSync("test/e2e/**/*.e2e.ts", { cwd: ROOT }).toSorted();
  const files = given.length > 0 ? given : [...new Set([...SLOWEST_FIRST, ...all])];
  // each has an etcd, a kube-apiserver and a process of its own, which wait for each other most of the time
  const atOnce = availableParallelism() + 1;
  return runFiles({ files, atOnce, deadlineMs: FILE_DEADLINE_MS, showTimes: true });
}

process.exitCode = await main(process.argv.slice(2));
