/**
 * What a reader does who opens each function where it first runs. A *return* is the first run of a function in a file that
 * was opened before, has been left, and is not on the call stack: the reader opens it again. Helpers (`core/util`, `core/model`)
 * are looked up, not followed, so they are no returns.
 */

/** The first run of a function, and what was on the call stack above it, innermost first. */
export interface FirstRun {
  readonly url: string;
  readonly name: string;
  readonly line: number;
  /** The files of the functions that called it. */
  readonly callers: readonly string[];
  /** The files of the functions that await it. */
  readonly waiting: readonly string[];
}

const HELPERS = /^core\/(util|model)\//;

export interface WalkCount {
  readonly returns: number;
  readonly lines: readonly string[];
  readonly byFile: readonly (readonly [file: string, returns: number])[];
}

export function countReturns(runs: readonly FirstRun[], root: string): WalkCount {
  const opened = new Set<string>();
  const byFile = new Map<string, number>();
  const lines: string[] = [];
  let current = "";
  for (const { url, name, line, callers, waiting } of runs) {
    const file = url.slice(root.length);
    const isReturn =
      opened.has(url) && url !== current && !callers.includes(url) && !waiting.includes(url) && !HELPERS.test(file);
    if (isReturn) byFile.set(file, (byFile.get(file) ?? 0) + 1);
    const depth = callers.filter((caller) => caller.startsWith(root)).length;
    lines.push(
      `${isReturn ? "return" : opened.has(url) ? "      " : "   new"} ${"  ".repeat(depth)}${file}:${line} ${name}`,
    );
    opened.add(url);
    if (!HELPERS.test(file)) current = url;
  }
  const sorted = [...byFile].sort((one, other) => other[1] - one[1]);
  return { returns: sorted.reduce((sum, [, count]) => sum + count, 0), lines, byFile: sorted };
}
