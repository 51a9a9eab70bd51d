/**
 * The tests that need nothing but Node. Arguments choose: names of groups (below) or files; by default `unit`, `contract`
 * and `integration`. `--times` lists how long each file took.
 *
 * Most tests wait for a controller or for an emulator more than they compute, so more files run at a time than there are
 * processors; the slowest begin first, so that they do not run alone at the end.
 */
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { runFiles } from "./support/run-files.ts";

const ROOT = resolve(import.meta.dirname, "..");
const FILES_PER_PROCESSOR = 3;

/** Files whose campaigns are longer in `npm run test:long`. CI runs those that end within minutes. */
const MINUTES = [
  "test/integration/kube-client/endurance.test.ts",
  "test/integration/lbcf/crashes.test.ts",
  "test/integration/services/hostile-services.test.ts",
  "test/integration/services/two-writers.test.ts",
  "test/integration/simulation.test.ts",
];
const HOURS = [
  "test/integration/crash-points.test.ts",
  "test/integration/services/long-tail-take-over.test.ts",
  "test/integration/services/long-tail.test.ts",
  "test/integration/soak.test.ts",
];

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  integration: ["test/integration/**/*.test.ts"],
  contract: ["test/contract/**/*.test.ts"],
  unit: ["src/**/*.test.ts", "sandbox/**/*.test.ts", "test/structure/**/*.test.ts"],
  "long-sample": MINUTES,
  long: [...MINUTES, ...HOURS],
};
const DEFAULT_GROUPS = ["integration", "contract", "unit"];

/** Each takes more than half a minute of processor time or of waiting. */
const SLOWEST_FIRST: readonly string[] = [
  "test/integration/split-brain.test.ts",
  "test/integration/crash-points.test.ts",
  "test/integration/services/azure-role.test.ts",
  "test/integration/simulation.test.ts",
  "test/integration/secrets.test.ts",
  "test/integration/lbcf/crashes.test.ts",
  "test/integration/services/two-writers.test.ts",
  "test/integration/admin-state/crash.test.ts",
  "test/integration/soak.test.ts",
  "test/integration/services/take-over.test.ts",
  "test/integration/services/incumbent-states.test.ts",
  "test/integration/admin-state/connections.test.ts",
];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { times: { type: "boolean" } } });
const chosen = positionals.length > 0 ? positionals : DEFAULT_GROUPS;
const files = filesOf(chosen);
if (files.length === 0) {
  process.stderr.write(`no test files: give names of groups (${Object.keys(GROUPS).join(", ")}) or of files\n`);
  process.exit(2);
}
if (chosen.some((name) => name.startsWith("long"))) process.env["AZLB_CAMPAIGNS"] = "long";
const atOnce = availableParallelism() * FILES_PER_PROCESSOR;
process.exitCode = await runFiles({ files, atOnce, showTimes: values.times === true });

/** In the order in which they begin. A file that does not exist is kept, and fails. */
function filesOf(names: readonly string[]): string[] {
  const patterns = names.flatMap((name) => GROUPS[name] ?? [name]);
  const found = patterns.flatMap((one) => (one.includes("*") ? globSync(one, { cwd: ROOT }).toSorted() : [one]));
  return [...new Set([...SLOWEST_FIRST.filter((file) => found.includes(file)), ...found])];
}
