/**
 * Several test files in one process, one after the other: what each would load and compile for itself is there for all of
 * them. Each is a suite of its own, so that the hooks of a file are run for its tests alone. What may share a process is
 * the caller's business (`run-files.ts`).
 */
import { createRequire } from "node:module";
import { relative, resolve } from "node:path";
import { describe } from "node:test";

const ROOT = resolve(import.meta.dirname, "../..");
const load = createRequire(import.meta.url);

/** `files`: absolute paths. */
export function runBatch(files: readonly string[]): void {
  for (const file of files) describe(relative(ROOT, file), () => void load(file));
}
