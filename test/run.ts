/**
 * The tests that need nothing but Node. Arguments choose: names of groups (below) or files; by default `unit`, `contract`
 * and `integration`. `--times` lists how long each file took, and its processor time.
 *
 * Starting a process, loading a thousand modules and running them before they are compiled is most of what a small file
 * costs, so files that leave nothing behind share processes (`batchesOf`). Most tests wait for a controller or for an
 * emulator more than they compute, so more files run at a time than there are processors; the slowest begin first, so that
 * they do not run alone at the end. A process that takes far too long is named and ended (`support/file-deadline.ts`).
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { runFiles } from "./support/run-files.ts";

const ROOT = resolve(import.meta.dirname, "..");
const FILES_PER_PROCESSOR = 3;
const MINUTE_MS = 60_000;

/** Files whose campaigns are longer in `npm run test:long`. CI runs those that end within minutes. */
const MINUTES = [
  "test/integration/kube-client/endurance.test.ts",
  "test/integration/lbcf/crashes.test.ts",
  "test/integration/secrets.test.ts",
  "test/integration/services/azure-role.test.ts",
  "test/integration/services/hostile-services.test.ts",
  "test/integration/services/two-writers.test.ts",
  "test/integration/simulation.test.ts",
];
/** CI runs a sample of these that is larger than that of `npm test`. */
const HOURS_IN_PART = ["test/integration/crash-points.test.ts"];
const HOURS = [
  "test/integration/agent/kills.test.ts",
  "test/integration/lbcf/kills.test.ts",
  "test/integration/services/incumbent-states.test.ts",
  "test/integration/services/long-tail-take-over.test.ts",
  "test/integration/services/long-tail.test.ts",
  "test/integration/services/take-over.test.ts",
  "test/integration/soak.test.ts",
];

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  integration: ["test/integration/**/*.test.ts"],
  contract: ["test/contract/**/*.test.ts"],
  unit: ["src/**/*.test.ts", "sandbox/**/*.test.ts", "sim/**/*.test.ts", "test/structure/**/*.test.ts"],
  "long-sample": [...HOURS_IN_PART, ...MINUTES],
  long: [...MINUTES, ...HOURS_IN_PART, ...HOURS],
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
  "test/integration/agent/kills.test.ts",
  "test/integration/soak.test.ts",
  "test/integration/services/take-over.test.ts",
  "test/integration/services/incumbent-states.test.ts",
  "test/integration/admin-state/connections.test.ts",
];

/**
 * Files that share processes, and how many make a batch: their tests close what they open, and neither change nor measure
 * the process.
 */
const SHARED: readonly { readonly files: RegExp; readonly perBatch: number }[] = [
  { files: /^src\/core\//, perBatch: 20 },
  { files: /^src\/(agent|azure|cli|controller|kube)\//, perBatch: 30 },
  { files: /^(sandbox|sim|test\/structure)\//, perBatch: 30 },
  { files: /^test\/(contract|integration)\//, perBatch: 6 },
];
/** These change the environment of the process, measure what it takes, or import a module that awaits at its top level. */
const ALONE: readonly string[] = [
  "src/azure/arm/credentials.test.ts",
  "test/integration/admin-state/traces.test.ts",
  "test/integration/fairness.test.ts",
  "test/integration/kube-client/endurance.test.ts",
  "test/integration/parsing-cost.test.ts",
  "test/structure/bundle.test.ts",
];
/** A module that awaits while it is loaded cannot be loaded into a suite. */
const AWAITS_AT_TOP_LEVEL = /^(?:const|let|await)\b.*\bawait |^await /m;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { times: { type: "boolean" } } });
const chosen = positionals.length > 0 ? positionals : DEFAULT_GROUPS;
const files = filesOf(chosen);
if (files.length === 0) {
  process.stderr.write(`no test files: give names of groups (${Object.keys(GROUPS).join(", ")}) or of files\n`);
  process.exit(2);
}
const campaigns = chosen.includes("long") ? "long" : chosen.includes("long-sample") ? "ci" : "sample";
if (campaigns !== "sample") process.env["AZLB_CAMPAIGNS"] = campaigns;
const atOnce = availableParallelism() * FILES_PER_PROCESSOR;
process.exitCode = await runFiles({
  files: batchesOf(files),
  atOnce,
  deadlineMs: { sample: 20, ci: 45, long: 360 }[campaigns] * MINUTE_MS,
  showTimes: values.times === true,
});

/** In the order in which they begin. A file that does not exist is kept, and fails. */
function filesOf(names: readonly string[]): string[] {
  const patterns = names.flatMap((name) => GROUPS[name] ?? [name]);
  const found = patterns.flatMap((one) => (one.includes("*") ? globSync(one, { cwd: ROOT }).toSorted() : [one]));
  return [...new Set([...SLOWEST_FIRST.filter((file) => found.includes(file)), ...found])];
}

/** Those that share begin where the first of them stands. They are dealt out in turn, so that no batch has all the slow ones. */
function batchesOf(names: readonly string[]): (string | readonly string[])[] {
  const sharing = Map.groupBy(names, (name) =>
    mayShare(name) ? SHARED.find((one) => one.files.test(name)) : undefined,
  );
  const processes: (string | readonly string[])[] = [];
  for (const name of names) {
    const shared = SHARED.find((one) => sharing.get(one)?.includes(name));
    if (shared === undefined) processes.push(name);
    else if (sharing.get(shared)?.[0] === name) processes.push(...dealtOut(sharing.get(shared) ?? [], shared.perBatch));
  }
  return processes;
}

/** A few files do not wait for each other in one process. */
function dealtOut(names: readonly string[], perBatch: number): string[][] {
  const count = Math.max(Math.ceil(names.length / perBatch), Math.min(names.length, atOnce));
  const batches = Array.from({ length: count }, (): string[] => []);
  for (const [at, name] of names.entries()) batches[at % batches.length]?.push(name);
  return batches;
}

function mayShare(name: string): boolean {
  if (SLOWEST_FIRST.includes(name) || ALONE.includes(name)) return false;
  const path = resolve(ROOT, name);
  return existsSync(path) && !AWAITS_AT_TOP_LEVEL.test(readFileSync(path, "utf8"));
}
