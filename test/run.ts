/**
 * `npm test`, once types and lint hold: runs test files as `node --test` does, several at a time, the slow ones first.
 * Arguments choose: names of groups (`unit`, `contract`, `integration`, `long`), or files; by default all groups but
 * `long`. `--slowest` lists the files that took longest.
 *
 * Integration tests mostly wait for timers of a controller or of an emulator, so more of them run at a time than there
 * are processors.
 */
import { globSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const ROOT = resolve(import.meta.dirname, "..");
/** Of each test and each hook: far beyond what any takes, so that one that hangs is told of. */
const TEST_TIMEOUT_MS = 900_000;
const FILES_PER_PROCESSOR = 3;
const SLOWEST_SHOWN = 25;

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  integration: ["test/integration/**/*.test.ts"],
  contract: ["test/contract/**/*.test.ts"],
  unit: ["src/**/*.test.ts", "sandbox/**/*.test.ts", "test/structure/**/*.test.ts"],
  long: ["test/long/**/*.test.ts"],
};
const BY_DEFAULT = ["integration", "contract", "unit"];

/** What would keep the others waiting if it began late. */
const SLOW = [
  "test/integration/crash-points.test.ts",
];

const { slowest, chosen } = parseArguments(process.argv.slice(2));
const files = filesOf(chosen.length > 0 ? chosen : BY_DEFAULT);
if (files.length === 0) {
  process.stderr.write(`no test files: give names of groups (${Object.keys(GROUPS).join(", ")}) or of files\n`);
  process.exit(2);
}
// What one file compiled saves the next one half of its start.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "azlb-compile-cache");
const concurrency = availableParallelism() * FILES_PER_PROCESSOR;
const durations = new Map<string, number>();
run({ files, concurrency, timeout: TEST_TIMEOUT_MS, cwd: ROOT })
  .on("test:fail", () => (process.exitCode = 1))
  .on("test:summary", ({ file, duration_ms: ms }) => void (file !== undefined && durations.set(file, ms)))
  .once("end", () => void (slowest && showSlowest()))
  .compose(new spec())
  .pipe(process.stdout);

function parseArguments(given: readonly string[]): { slowest: boolean; chosen: readonly string[] } {
  return { slowest: given.includes("--slowest"), chosen: given.filter((one) => one !== "--slowest") };
}

/** In the order in which they begin. */
function filesOf(names: readonly string[]): string[] {
  const found = names.flatMap((name) => globSync(GROUPS[name] ?? name, { cwd: ROOT }).toSorted());
  const first = SLOW.filter((file) => found.includes(file));
  return [...new Set([...first, ...found])].map((file) => resolve(ROOT, file));
}

function showSlowest(): void {
  const sorted = [...durations].toSorted(([, one], [, other]) => other - one).slice(0, SLOWEST_SHOWN);
  for (const [file, ms] of sorted) process.stderr.write(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}\n`);
}
