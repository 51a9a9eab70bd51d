/** Selectors, JSONPaths and ages: how objects are chosen and shown. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../contract.ts";
import { pod } from "../kinds/pod.ts";
import { duration } from "./column.ts";
import { readJsonPath } from "./json-path.ts";
import { parseSelectors } from "./selectors.ts";

const OBJECT: KubeObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", namespace: "n", labels: { app: "web", tier: "front", size: "5" } },
  spec: { nodeName: "node-0" },
  status: { conditions: [{ type: "Ready", status: "True" }], list: [{ v: 1 }, { v: 2 }] },
};

const LABELS: readonly [selector: string, matches: boolean][] = [
  ["app=web", true],
  ["app==web,tier!=back", true],
  ["app!=web", false],
  ["absent!=x", true],
  ["app in (api, web)", true],
  ["app notin (web)", false],
  ["absent notin (web)", true],
  ["tier", true],
  ["!tier", false],
  ["!absent", true],
  ["size>4,size<6", true],
  ["size>5", false],
];

for (const [labelSelector, matches] of LABELS) {
  test(`labels: ${labelSelector} ${matches ? "matches" : "does not match"}`, () => {
    assert.equal(parseSelectors(pod, { labelSelector })?.(OBJECT), matches);
  });
}

const FIELDS: readonly [selector: string, matches: boolean][] = [
  ["metadata.name=a", true],
  ["metadata.name!=a", false],
  ["spec.nodeName=node-0,status.phase!=Failed", true],
  ["spec.hostNetwork=false", true],
];

for (const [fieldSelector, matches] of FIELDS) {
  test(`fields: ${fieldSelector} ${matches ? "matches" : "does not match"}`, () => {
    assert.equal(parseSelectors(pod, { fieldSelector })?.(OBJECT), matches);
  });
}

test("a selector that cannot be understood, or names a field that is not selectable, is refused", () => {
  for (const query of [
    { labelSelector: "a=b=c" },
    { labelSelector: "a in b" },
    { labelSelector: "size>x" },
    { fieldSelector: "spec.containers=x" },
    { fieldSelector: "nonsense" },
  ]) {
    assert.throws(() => parseSelectors(pod, query), { code: 400 }, JSON.stringify(query));
  }
});

const PATHS: readonly [path: string, value: unknown][] = [
  [".metadata.name", "a"],
  [".metadata['namespace']", "n"],
  [".status.list[1].v", 2],
  [".status.list[*].v", 1],
  ['.status.conditions[?(@.type=="Ready")].status', "True"],
  [".spec.absent.deeper", undefined],
];

for (const [path, value] of PATHS) {
  test(`JSONPath ${path} finds ${JSON.stringify(value)}`, () => assert.deepEqual(readJsonPath(OBJECT, path), value));
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const AGES: readonly [forMs: number, text: string][] = [
  [-500, "0s"],
  [107 * SECOND, "107s"],
  [129 * SECOND, "2m9s"],
  [3 * MINUTE, "3m"],
  [12 * MINUTE + 5 * SECOND, "12m"],
  [5 * HOUR + 3 * MINUTE, "5h3m"],
  [30 * HOUR, "30h"],
  [3 * DAY + 4 * HOUR, "3d4h"],
  [41 * DAY, "41d"],
  [800 * DAY, "2y70d"],
];

for (const [forMs, text] of AGES) test(`an age of ${text}`, () => assert.equal(duration(forMs), text));
