import assert from "node:assert/strict";
import { test } from "node:test";

import { CONFIG } from "../../../test/support/core-fixtures.ts";
import type { PlannedStep } from "../plan/render-plan.ts";
import { findingsOf, type Compared } from "./findings.ts";
import { keyOf, type Part, type Parts } from "./parts.ts";

const LB = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/kubernetes";
const BASE = `a${"0".repeat(31)}`;

function parts(...paths: readonly string[]): Parts {
  return new Map(paths.map((path): [string, Part] => [keyOf({ resourceId: LB, path }), { resourceId: LB, path }]));
}

function found(change: Partial<Compared>): string[] {
  const owners = { config: CONFIG, services: new Map([[BASE, "default/web"]]) };
  const none = { before: parts(), predicted: parts(), after: parts(), writes: [], owners };
  return findingsOf({ ...none, ...change }).map(({ kind, path, service }) => `${kind} ${path} ${service ?? ""}`.trim());
}

const write = (diff: PlannedStep["diff"], verb: PlannedStep["verb"] = "update"): PlannedStep => {
  return { verb, id: LB, owners: [], destructive: false, why: "", diff, predicted: false };
};

test("as predicted: nothing", () => {
  const predicted = parts("", `probes/${BASE}-TCP-80`);
  assert.deepEqual(found({ predicted, after: predicted }), []);
});

test("a part that is missing, and one too many, with their Service", () => {
  assert.deepEqual(found({ predicted: parts(`probes/${BASE}`), after: parts(`loadBalancingRules/${BASE}-TCP-80`) }), [
    `missing probes/${BASE} default/web`,
    `extra loadBalancingRules/${BASE}-TCP-80 default/web`,
  ]);
});

test("what is missing whole is told once", () => {
  assert.deepEqual(found({ before: parts(), predicted: parts("", `probes/${BASE}`) }), ["missing"]);
});

test("parts of other clients do not count, unless the prediction changes them", () => {
  assert.deepEqual(found({ before: parts("probes/theirs"), predicted: parts("probes/theirs") }), []);
  assert.deepEqual(found({ before: parts("probes/theirs"), after: parts("probes/theirs") }), ["extra probes/theirs"]);
});

test("a field that azlb would write; what a missing part explains is not told again", () => {
  const port = { path: `properties.probes[${BASE}].properties.port`, before: 1, after: 2 };
  assert.deepEqual(found({ writes: [write([port])] }), [`field probes/${BASE}/port default/web`]);
  assert.deepEqual(found({ predicted: parts(`probes/${BASE}`), writes: [write([port])] }), [
    `missing probes/${BASE} default/web`,
  ]);
});

test("patches of Services do not count", () => {
  assert.deepEqual(found({ writes: [write([{ path: "status", after: 1 }], "patch")] }), []);
});
