/**
 * What the controller loads: of the installed packages only those that it needs. Packages of the sandbox are installed with
 * it, since one package has both, but no part of them runs in the controller's process.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "../..");
const ENTRIES = ["src/main/controller.ts", "src/main/stderr-log.ts"];
const NEEDED = ["@azure/core-rest-pipeline", "@azure/identity", "prom-client", "undici", "yaml"];
/** Only where a collector is named (`src/main/tracing.test.ts`). */
const FOR_TRACES = ["api", "exporter-trace-otlp-http", "exporter-trace-otlp-proto", "resources", "sdk-trace"];
/** Imports of values; those of types alone load nothing. */
const IMPORT = /^(?:import|export) (?!type )(?:[^;]*? from )?"([^"]+)";|\bimport\("([^"]+)"\)/gm;

test("the controller loads no package of the sandbox, and no file of it", () => {
  const [files, packages] = [new Set<string>(), new Set<string>()];
  const visit = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const [, named, loaded] of readFileSync(file, "utf8").matchAll(IMPORT)) {
      const source = named ?? loaded ?? "";
      if (source.startsWith(".")) visit(join(dirname(file), source));
      else if (!source.startsWith("node:")) packages.add(packageOf(source));
    }
  };
  for (const entry of ENTRIES) visit(join(ROOT, entry));
  assert.ok(files.size > 100, `only ${files.size} files were found`);
  const traces = FOR_TRACES.map((name) => `@opentelemetry/${name}`);
  assert.deepEqual([...packages].toSorted(), [...NEEDED, ...traces].toSorted());
  assert.deepEqual(
    [...files].filter((file) => !file.startsWith(join(ROOT, "src/"))),
    [],
  );
});

test("the Node that package.json asks for is the one that the command asks for", () => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { engines: { node: string } };
  const [, major] = /-lt (\d+)/.exec(readFileSync(join(ROOT, "bin/azlb"), "utf8")) ?? [];
  assert.equal(engines.node, `>=${major}`);
});

/** Its name, without what follows it in a path. */
function packageOf(source: string): string {
  return source
    .split("/")
    .slice(0, source.startsWith("@") ? 2 : 1)
    .join("/");
}
