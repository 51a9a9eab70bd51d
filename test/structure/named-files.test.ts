/**
 * Comments and documents name only files that exist. A bare name may be that of any file of ours; a path may leave out
 * its first folders. Code is not looked at: the compiler checks imports.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "../..");
const ELSEWHERE = /^((site\/)?(node_modules|dist|\.cache)|\.git|coverage|release)(\/|$)/;

/** `clock.ts`, `test/support/cluster.ts`, `docs/lbcf.md`; not the end of an address, of a glob or of a placeholder. */
const FILE = /(?<![\w/.*<>{}:@-])(?:\.{0,2}\/)*((?:[\w@-]+\/)*[\w-][\w.-]*\.(?:ts|md))(?![\w*{<])/g;
/** `src/core`, `deploy/azure-role.json`: whatever begins with a folder of the root, and goes on. */
const FROM_THE_ROOT =
  /(?<![\w/.*<>{}:@-])(?:src|sandbox|test|bench|sim|docs|deploy|examples)\/[\w./-]*[\w](?![\w*{<])/g;
/** Stands for any name. */
const PLACEHOLDER = /^[a-z]\.(test\.)?ts$/;

const entries = readdirSync(ROOT, { recursive: true, withFileTypes: true })
  .map((entry) => ({ path: relative(ROOT, join(entry.parentPath, entry.name)), isFile: entry.isFile() }))
  .filter(({ path }) => !ELSEWHERE.test(path));
const files = entries.filter(({ isFile }) => isFile).map(({ path }) => path);
const paths = new Set(entries.map(({ path }) => path));
/** Each file under its path and under every end of it. */
const ends = new Set(
  files.flatMap((path) => {
    const parts = path.split("/");
    return parts.map((_, at) => parts.slice(at).join("/"));
  }),
);

function proseOf(file: string): string {
  const text = readFileSync(join(ROOT, file), "utf8");
  if (file.endsWith(".md")) return text;
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm)].map(([comment]) => comment).join("\n");
}

function missing(file: string): string[] {
  const prose = proseOf(file);
  const named = [...prose.matchAll(FILE)].map(([, name = ""]) => name);
  const rooted = [...prose.matchAll(FROM_THE_ROOT)].map(([name]) => name);
  return [
    ...named.filter((name) => !ends.has(name) && !PLACEHOLDER.test(name)),
    ...rooted.filter((name) => !paths.has(name) && !ends.has(name)),
  ];
}

test("comments and documents name files that exist", () => {
  const found = files.filter((path) => /\.(ts|md)$/.test(path)).map((path) => [path, missing(path)] as const);
  assert.deepEqual(Object.fromEntries(found.filter(([, names]) => names.length > 0)), {});
});

test("a file's name is told from the end of an address, of a glob or of a placeholder", () => {
  const named = (prose: string): string[] => [...prose.matchAll(FILE)].map(([, name = ""]) => name);
  assert.deepEqual(named("see `a/one.ts`, two.ts. And ../b/c-d.md#e"), ["a/one.ts", "two.ts", "b/c-d.md"]);
  assert.deepEqual(named("https://example.com/f/g.md, h/**/*.ts, <name>.ts and i.tsx"), []);
});
