/** The chart has the manifests of `deploy`, the version of the program, and a default for every value that its schema knows. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

import { parse } from "yaml";

import { CHART_FILES, copiedManifests } from "../../build/chart-files.ts";
import { VERSION } from "../../src/main/version.ts";

const DEPLOY = resolve(import.meta.dirname, "../../deploy");

test("the chart's copies are the manifests of deploy (npm run chart)", () => {
  const entries = readdirSync(CHART_FILES, { recursive: true, encoding: "utf8" });
  const files = entries.filter((file) => statSync(join(CHART_FILES, file)).isFile());
  assert.deepEqual(files.toSorted(), copiedManifests());
  for (const file of files) {
    assert.equal(readFileSync(join(CHART_FILES, file), "utf8"), readFileSync(join(DEPLOY, file), "utf8"), file);
  }
});

test("the chart installs this version", () => {
  const chart = parse(readFileSync(join(DEPLOY, "chart/Chart.yaml"), "utf8")) as Record<string, string>;
  assert.deepEqual([chart["version"], chart["appVersion"]], [VERSION, VERSION]);
});

test("each value that the schema knows has a default, and the other way round", () => {
  const schema = JSON.parse(readFileSync(join(DEPLOY, "chart/values.schema.json"), "utf8")) as {
    properties: Record<string, unknown>;
  };
  const values = parse(readFileSync(join(DEPLOY, "chart/values.yaml"), "utf8")) as Record<string, unknown>;
  const known = Object.keys(schema.properties).filter((key) => key !== "global");
  assert.deepEqual(Object.keys(values).toSorted(), known.toSorted());
});
