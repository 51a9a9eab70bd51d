/** The designs' names stay findable: each stands in the code exactly under its own name, marked `@design`. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

const SRC = resolve(import.meta.dirname, "../../src");

const NAMES = [
  "GetLoadBalancer",
  "EnsureLoadBalancer",
  "UpdateLoadBalancer",
  "EnsureLoadBalancerDeleted",
  "getServiceLoadBalancer",
  "reconcileLoadBalancer",
  "reconcileSecurityGroup",
  "reconcilePublicIP",
  "AdminStateManager",
  "AdminStateController",
  "BackendGroup",
  "BackendRecord",
];

const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => readFileSync(join(SRC, file), "utf8"));

for (const name of NAMES) {
  test(`${name} is found under its name`, () => {
    assert.ok(
      sources.some((text) => new RegExp(`@design ${name}\\b`).test(text)),
      `nothing in src is marked @design ${name}`,
    );
  });
}

test("the command tells the version of the package", () => {
  const { version } = JSON.parse(readFileSync(resolve(SRC, "../package.json"), "utf8")) as { version: string };
  assert.match(readFileSync(join(SRC, "main/version.ts"), "utf8"), new RegExp(`"${version}"`));
});
