import assert from "node:assert/strict";
import { test } from "node:test";

import { matchesSelector, parseLabelSelector } from "./label-selector.ts";

function matches(raw: unknown, labels: Record<string, string>): boolean {
  const { selector, problems } = parseLabelSelector(raw);
  assert.deepEqual(problems, []);
  return matchesSelector(selector, labels);
}

test("an empty selector matches everything", () => {
  assert.equal(matches({}, {}), true);
  assert.equal(matches({ matchLabels: {} }, { a: "b" }), true);
});

test("matchLabels and matchExpressions must all hold", () => {
  const raw = {
    matchLabels: { tier: "gold" },
    matchExpressions: [
      { key: "zone", operator: "In", values: ["a", "b"] },
      { key: "old", operator: "DoesNotExist" },
    ],
  };
  assert.equal(matches(raw, { tier: "gold", zone: "a" }), true);
  assert.equal(matches(raw, { tier: "gold", zone: "c" }), false);
  assert.equal(matches(raw, { tier: "gold" }), false);
  assert.equal(matches(raw, { tier: "gold", zone: "b", old: "" }), false);
});

test("NotIn holds where the label is absent, Exists where it has any value", () => {
  assert.equal(matches({ matchExpressions: [{ key: "a", operator: "NotIn", values: ["x"] }] }, {}), true);
  assert.equal(matches({ matchExpressions: [{ key: "a", operator: "NotIn", values: ["x"] }] }, { a: "x" }), false);
  assert.equal(matches({ matchExpressions: [{ key: "a", operator: "Exists" }] }, { a: "" }), true);
  assert.equal(matches({ matchExpressions: [{ key: "toString", operator: "Exists" }] }, {}), false);
});

test("names of fields match without case, as in the rest of the cloud config", () => {
  assert.equal(matches({ MatchLabels: { Tier: "gold" } }, { Tier: "gold" }), true);
});

test("what is wrong is told with its path, its value and what is allowed", () => {
  const cases: readonly [unknown, RegExp][] = [
    ["tier=gold", /^is "tier=gold", allowed: an object/],
    [{ labels: {} }, /^\.labels is not a field/],
    [{ matchLabels: { a: 1 } }, /^\.matchLabels\.a is 1, allowed: a text$/],
    [{ matchExpressions: {} }, /^\.matchExpressions is \{\}, allowed: a list$/],
    [{ matchExpressions: [{ operator: "In" }] }, /^\.matchExpressions\[0\]\.key is missing/],
    [
      { matchExpressions: [{ key: "a", operator: "in" }] },
      /\.operator is "in", allowed: In, NotIn, Exists, DoesNotExist$/,
    ],
    [{ matchExpressions: [{ key: "a", operator: "In" }] }, /\.values is \[\], allowed: a list of texts$/],
    [{ matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] }, /allowed: none, with Exists$/],
  ];
  for (const [raw, expected] of cases) {
    const { problems } = parseLabelSelector(raw);
    assert.equal(problems.length, 1, JSON.stringify(raw));
    assert.match(problems[0] ?? "", expected);
  }
});
