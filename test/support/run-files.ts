/**
 * Runs test files as `node --test` does, each in a process of its own, several at a time, in the given order; prints
 * what failed and the closing figures, and answers with the exit code of the whole.
 */
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const ROOT = resolve(import.meta.dirname, "../..");
/** Of each test and each hook: far beyond what any takes, so that one that hangs is told of. */
const TEST_TIMEOUT_MS = 900_000;

export interface FileRun {
  /** From the root of the repository. */
  readonly files: readonly string[];
  /** Files that run at a time. */
  readonly atOnce: number;
  /** Lists how long each file took, on stderr. */
  readonly showTimes?: boolean;
}

export function runFiles({ files, atOnce, showTimes = false }: FileRun): Promise<number> {
  // What one process compiled saves the next one half of its start.
  process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "azlb-compile-cache");
  const paths = files.map((file) => resolve(ROOT, file));
  const seconds = new Map<string, number>();
  let exitCode = 0;
  return new Promise((done) => {
    run({ files: paths, concurrency: atOnce, timeout: TEST_TIMEOUT_MS, cwd: ROOT })
      .on("test:fail", () => void (exitCode = 1))
      .on("test:summary", ({ file, duration_ms: ms }) => void (file !== undefined && seconds.set(file, ms / 1000)))
      .compose(new spec())
      .on("end", () => {
        if (showTimes) printTimes(seconds);
        done(exitCode);
      })
      .pipe(process.stdout, { end: false });
  });
}

function printTimes(seconds: ReadonlyMap<string, number>): void {
  for (const [file, taken] of [...seconds].toSorted(([, one], [, other]) => other - one)) {
    process.stderr.write(`${taken.toFixed(1).padStart(7)} s  ${relative(ROOT, file)}\n`);
  }
}
