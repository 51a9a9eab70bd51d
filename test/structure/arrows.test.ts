/**
 * The arrows of docs/architecture.md, kept by a test: who may import whom.
 * A folder that is not named in the table may import nothing of ours but itself.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "../..");

/** folder → the other folders of ours that it may import (tests aside). */
const ARROWS: Record<string, readonly string[]> = {
  "src/core": [],
  "src/controller": ["src/core", "src/azure", "src/kube"],
  "src/azure": ["src/core"],
  "src/kube": ["src/core"],
  "src/cli": [
    "src/main",
    "src/controller",
    "src/azure",
    "src/kube",
    "src/core",
    "sandbox/azure",
    "sandbox/kubernetes",
    "bench",
    "sim",
  ],
  "src/main": ["src/cli", "src/controller", "src/azure", "src/kube", "src/core", "sandbox/azure", "sandbox/kubernetes"],
  "sandbox/azure": ["sandbox/shared"],
  "sandbox/kubernetes": ["sandbox/shared"],
  "sandbox/shared": [],
};

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.(test|laws)\.ts$/.test(file))
    .map((file) => join(folder, file));
}

function houseOf(path: string): string {
  return path
    .split("/")
    .slice(0, /^(bench|sim)\//.test(path) ? 1 : 2)
    .join("/");
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
    relative(ROOT, resolve(ROOT, dirname(file), match[1] ?? "")),
  );
}

for (const file of [...sources("src"), ...sources("sandbox")]) {
  test(`${file} imports only what its folder may`, () => {
    const own = houseOf(file);
    const allowed = ARROWS[own] ?? [];
    for (const imported of importsOf(file)) {
      const house = houseOf(imported);
      assert.ok(house === own || allowed.includes(house), `${own} must not import ${imported}`);
    }
  });
}

test("the core imports no package at all", () => {
  for (const file of sources("src/core")) {
    const text = readFileSync(join(ROOT, file), "utf8");
    assert.doesNotMatch(text, /from "[^.]/, `${file} imports a package`);
  }
});

test("in the core, only LBCF imports LBCF", () => {
  for (const file of sources("src/core").filter((each) => !each.startsWith("src/core/lbcf/"))) {
    const imported = importsOf(file).find((each) => each.startsWith("src/core/lbcf/"));
    assert.equal(imported, undefined, `${file} imports ${imported}`);
  }
});
