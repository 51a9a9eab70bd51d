/**
 * Runs test files as `node --test` does, several processes at a time, in the given order; prints what failed and the
 * closing figures, and answers with the exit code of the whole. A file has a process of its own, unless it stands in a
 * batch (`test-batch.ts`).
 *
 * With AZLB_SECOND_TRY=1, as CI has it, a few files that failed are run once more, each alone: a whole run of an hour is not
 * lost for one test that depends on the machine. What passes only then is named in the last lines: it is a bug to mend.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { pathToFileURL } from "node:url";

import type { CpuTime } from "./report-cpu-time.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const BATCH = join(import.meta.dirname, "test-batch.ts");
const REPORT_CPU_TIME = join(import.meta.dirname, "report-cpu-time.ts");
const FILE_DEADLINE = join(import.meta.dirname, "file-deadline.ts");
/** Fewer collections of garbage: most of what a test makes is short-lived. */
const YOUNG_GENERATION = "--max-semi-space-size=32";
/** More files than that do not fail by chance. */
const MOST_SECOND_TRIES = 3;
/** After its own deadline a process that does not end by itself, because its event loop is blocked, is killed. */
const KILLED_AFTER_MS = 30_000;

export interface FileRun {
  /** From the root of the repository; a list is a batch. */
  readonly files: readonly (string | readonly string[])[];
  /** Processes that run at a time. */
  readonly atOnce: number;
  /** How long one process may take: far beyond what any takes, so that one that hangs is named. */
  readonly deadlineMs: number;
  /** Lists the processor time of each process and how long each file took, on stderr. */
  readonly showTimes?: boolean;
}

export async function runFiles({ files, atOnce, deadlineMs, showTimes = false }: FileRun): Promise<number> {
  // What one process compiled saves the next one half of its start.
  process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "azlb-compile-cache");
  const folder = mkdtempSync(join(tmpdir(), "azlb-test-run-"));
  const report = join(folder, "cpu-times");
  process.env["AZLB_FILE_DEADLINE_MS"] = String(deadlineMs);
  if (showTimes) process.env["AZLB_CPU_TIMES"] = report;
  try {
    const processes = new Map(
      files.map((one, at) =>
        typeof one === "string" ? [resolve(ROOT, one), [one]] : [batchFile(folder, at, one), one],
      ),
    );
    const options = {
      concurrency: atOnce,
      timeout: deadlineMs + KILLED_AFTER_MS,
      execArgv: [YOUNG_GENERATION, "--import", FILE_DEADLINE, ...(showTimes ? ["--import", REPORT_CPU_TIME] : [])],
    };
    const { failed, seconds } = await runAll({ ...options, files: [...processes.keys()] });
    if (showTimes) {
      printCpuTimes(report);
      printTimes(seconds);
    }
    if (failed.size === 0) return 0;
    return process.env["AZLB_SECOND_TRY"] === "1" ? await secondTry(failedFiles(failed, processes), options) : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The file that runs a batch, named after where its first file stands. */
function batchFile(folder: string, at: number, files: readonly string[]): string {
  const path = join(folder, `batch-${at}-from-${basename(files[0] ?? "", ".test.ts")}.mjs`);
  const paths = JSON.stringify(files.map((file) => resolve(ROOT, file)));
  writeFileSync(path, `import { runBatch } from ${JSON.stringify(pathToFileURL(BATCH))};\nrunBatch(${paths});\n`);
  return path;
}

/** Of a batch only the files that failed, where those are known. */
function failedFiles(failed: ReadonlySet<string>, processes: ReadonlyMap<string, readonly string[]>): string[] {
  const isFailed = (file: string): boolean => failed.has(resolve(ROOT, file));
  const ofProcess = ([path, files]: [string, readonly string[]]): readonly string[] => {
    const known = files.filter(isFailed);
    return failed.has(path) && known.length === 0 ? files : known;
  };
  return [...processes].flatMap(ofProcess);
}

async function secondTry(files: readonly string[], options: Omit<Run, "files">): Promise<number> {
  if (files.length === 0 || files.length > MOST_SECOND_TRIES) return 1;
  process.stdout.write(`\nonce more, alone: ${files.join(", ")}\n`);
  const { failed } = await runAll({ ...options, files: files.map((file) => resolve(ROOT, file)), concurrency: 1 });
  if (failed.size > 0) return 1;
  process.stderr.write(`\nPASSED ONLY THE SECOND TIME, so a bug of the test or of the product: ${files.join(", ")}\n`);
  return 0;
}

interface Outcome {
  /** Paths of files and of processes in which a test failed. */
  readonly failed: ReadonlySet<string>;
  /** By file. */
  readonly seconds: ReadonlyMap<string, number>;
}

interface Run {
  readonly files: string[];
  readonly concurrency: number;
  /** Of a process, a test and a hook. */
  readonly timeout: number;
  readonly execArgv: string[];
}

function runAll(options: Run): Promise<Outcome> {
  const seconds = new Map<string, number>();
  const failed = new Set<string>();
  return new Promise((done) => {
    run({ ...options, cwd: ROOT })
      .on("test:fail", ({ name, nesting, file = "" }) => {
        if (nesting === 0) failed.add(resolve(ROOT, name.endsWith(".ts") ? name : file));
      })
      .on("test:summary", ({ file, duration_ms: ms, success }) => {
        if (file !== undefined) seconds.set(file, ms / 1000);
        if (!success) failed.add(file ?? ROOT);
      })
      .on("test:pass", ({ name, nesting, details }) => {
        if (nesting === 0 && name.endsWith(".test.ts")) seconds.set(resolve(ROOT, name), details.duration_ms / 1000);
      })
      .compose(new spec())
      .on("end", () => done({ failed, seconds }))
      .pipe(process.stdout, { end: false });
  });
}

function printTimes(seconds: ReadonlyMap<string, number>): void {
  process.stderr.write("\nfrom the start of a file to its end:\n");
  for (const [file, taken] of [...seconds].toSorted(([, one], [, other]) => other - one)) {
    process.stderr.write(`${taken.toFixed(1).padStart(7)} s  ${nameOf(file)}\n`);
  }
}

function printCpuTimes(report: string): void {
  const lines = existsSync(report) ? readFileSync(report, "utf8").trim().split("\n") : [];
  const times = lines.map((line) => JSON.parse(line) as CpuTime);
  const totalOf = ({ ownSeconds, childrenSeconds }: CpuTime): number => ownSeconds + childrenSeconds;
  const all = times.reduce((sum, one) => sum + totalOf(one), 0);
  process.stderr.write(
    `\nprocessor time, ${all.toFixed(0)} s in all (in brackets: of processes that a test started):\n`,
  );
  for (const one of times.toSorted((a, b) => totalOf(b) - totalOf(a))) {
    const children = one.childrenSeconds > 0 ? ` (${one.childrenSeconds.toFixed(1)})` : "";
    process.stderr.write(`${totalOf(one).toFixed(1).padStart(7)} s  ${nameOf(one.file)}${children}\n`);
  }
}

function nameOf(path: string): string {
  return path.startsWith(ROOT) ? relative(ROOT, path) : basename(path);
}
