/**
 * The arrows of docs/architecture.md, kept by a test: which folder may import which others.
 * A folder that is not in its table may import nothing of ours but itself.
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
  "src/agent": ["src/core", "src/kube"],
  "src/api": ["src/core", "src/controller", "src/kube"],
  "src/dashboard": ["src/core"],
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
  "src/main": [
    "src/cli",
    "src/agent",
    "src/api",
    "src/controller",
    "src/azure",
    "src/kube",
    "src/core",
    "sandbox/azure",
    "sandbox/kubernetes",
  ],
  "sandbox/azure": ["sandbox/shared"],
  "sandbox/kubernetes": ["sandbox/shared"],
  "sandbox/shared": [],
};

/**
 * The same for the folders, and the files beside them, of `src/core`. Each may import only what stands above it, so
 * there are no cycles.
 */
const CORE_ARROWS: Record<string, readonly string[]> = {
  util: [],
  events: [],
  "outcome.ts": ["events"],
  "retry.ts": [],
  model: ["util"],
  config: ["util", "model"],
  backends: ["util", "model", "config"],
  brake: ["util", "model"],
  "freshness.ts": ["model", "backends"],
  "admin-state": ["util", "events", "outcome.ts", "model", "config", "backends"],
  intent: ["util", "events", "outcome.ts", "model", "config"],
  placement: ["util", "outcome.ts", "config", "intent"],
  resources: [
    "util",
    "outcome.ts",
    "model",
    "config",
    "backends",
    "brake",
    "freshness.ts",
    "admin-state",
    "intent",
    "placement",
  ],
  "steps.ts": ["outcome.ts", "model", "resources"],
  "observed.ts": ["model", "config", "brake", "intent", "resources"],
  service: ["util", "outcome.ts", "model", "config", "backends", "intent", "resources", "steps.ts", "observed.ts"],
  guard: ["util", "model", "config", "intent", "resources"],
  reach: ["util", "model", "backends", "admin-state", "resources", "observed.ts"],
  inventory: ["model", "config", "backends", "admin-state", "resources"],
  plan: ["util", "model", "brake", "intent", "resources", "steps.ts", "observed.ts", "service"],
  view: [
    "util",
    "events",
    "outcome.ts",
    "model",
    "config",
    "backends",
    "admin-state",
    "intent",
    "resources",
    "observed.ts",
    "service",
    "plan",
    "reach",
  ],
  shadow: ["util", "model", "config", "intent", "resources", "steps.ts", "observed.ts", "service", "plan"],
  lbcf: ["util", "events", "outcome.ts", "model", "config", "brake", "admin-state", "resources"],
};

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !/\.(test|laws)\.ts$/.test(file))
    .map((file) => join(folder, file));
}

function folderOf(path: string): string {
  return path
    .split("/")
    .slice(0, /^(bench|sim)\//.test(path) ? 1 : 2)
    .join("/");
}

/** `resources` of `src/core/resources/kinds.ts`. */
function corePartOf(path: string): string {
  return path.split("/")[2] ?? "";
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
    relative(ROOT, resolve(ROOT, dirname(file), match[1] ?? "")),
  );
}

for (const file of [...sources("src"), ...sources("sandbox")]) {
  test(`${file} imports only what its folder may`, () => {
    const own = folderOf(file);
    const allowed = ARROWS[own] ?? [];
    for (const imported of importsOf(file)) {
      const folder = folderOf(imported);
      assert.ok(folder === own || allowed.includes(folder), `${own} must not import ${imported}`);
    }
  });
}

for (const file of sources("src/core")) {
  test(`${file} imports only what its part of the core may`, () => {
    const own = corePartOf(file);
    const allowed = CORE_ARROWS[own] ?? [];
    for (const imported of importsOf(file)) {
      const part = corePartOf(imported);
      assert.ok(part === own || allowed.includes(part), `core/${own} must not import ${imported}`);
    }
  });
}

test("each part of the core imports only what stands above it in the table", () => {
  const parts = Object.keys(CORE_ARROWS);
  for (const [at, part] of parts.entries()) {
    const below = CORE_ARROWS[part]?.filter((other) => !parts.slice(0, at).includes(other));
    assert.deepEqual(below, [], part);
  }
});

test("the core imports no package at all", () => {
  for (const file of sources("src/core")) {
    const text = readFileSync(join(ROOT, file), "utf8");
    assert.doesNotMatch(text, /from "[^.]/, `${file} imports a package`);
  }
});
