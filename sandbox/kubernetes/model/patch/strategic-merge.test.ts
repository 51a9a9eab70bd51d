import assert from "node:assert/strict";
import { test } from "node:test";

import type { JsonObject } from "../contract.ts";
import { service } from "../kinds/service/service.ts";
import { BadDirectiveError, strategicMerge } from "./strategic-merge.ts";

const HTTP = { name: "http", port: 80 };
const HTTPS = { name: "https", port: 443 };
const DNS = { name: "dns", port: 53 };

function portsAfter(ports: readonly object[], patch: JsonObject): unknown {
  const merged = strategicMerge({ spec: { ports } }, { spec: patch }, service.schema);
  return (merged["spec"] as JsonObject)["ports"];
}

const CASES: readonly { what: string; before: readonly object[]; patch: JsonObject; after: unknown }[] = [
  {
    what: "an element with a known key is merged in its place",
    before: [HTTP, HTTPS],
    patch: { ports: [{ port: 443, targetPort: 8443 }] },
    after: [HTTP, { ...HTTPS, targetPort: 8443 }],
  },
  { what: "a new element goes first", before: [HTTP, HTTPS], patch: { ports: [DNS] }, after: [DNS, HTTP, HTTPS] },
  {
    what: "unless an order is given",
    before: [HTTP, HTTPS],
    patch: { "$setElementOrder/ports": [{ port: 80 }, { port: 443 }, { port: 53 }], ports: [DNS] },
    after: [HTTP, HTTPS, DNS],
  },
  {
    what: "an order alone reorders",
    before: [HTTP, HTTPS],
    patch: { "$setElementOrder/ports": [{ port: 443 }, { port: 80 }] },
    after: [HTTPS, HTTP],
  },
  {
    what: "$patch delete removes an element",
    before: [HTTP, HTTPS],
    patch: { ports: [{ $patch: "delete", port: 80 }] },
    after: [HTTPS],
  },
  {
    what: "$patch delete of what is not there changes nothing",
    before: [HTTP],
    patch: { ports: [{ $patch: "delete", port: 53 }] },
    after: [HTTP],
  },
  {
    what: "$patch replace in a list takes the rest of it",
    before: [HTTP, HTTPS],
    patch: { ports: [{ $patch: "replace" }, DNS] },
    after: [DNS],
  },
  { what: "null deletes the list", before: [HTTP], patch: { ports: null }, after: undefined },
];

for (const { what, before, patch, after } of CASES) {
  test(`ports: ${what}`, () => assert.deepEqual(portsAfter(before, patch), after));
}

test("what the schema does not mark is replaced whole", () => {
  const before = { spec: { loadBalancerSourceRanges: ["10.0.0.0/8"], selector: { app: "web", tier: "front" } } };
  const patch = { spec: { loadBalancerSourceRanges: ["192.168.0.0/16"], selector: { tier: null, zone: "1" } } };
  assert.deepEqual(strategicMerge(before, patch, service.schema), {
    spec: { loadBalancerSourceRanges: ["192.168.0.0/16"], selector: { app: "web", zone: "1" } },
  });
});

test("finalizers are a set: a patch adds, and removes only by name", () => {
  const before = { metadata: { finalizers: ["a.io/1", "a.io/2"] } };
  const merge = (metadata: JsonObject): unknown =>
    (strategicMerge(before, { metadata }, service.schema)["metadata"] as JsonObject)["finalizers"];
  assert.deepEqual(merge({ finalizers: ["a.io/3"] }), ["a.io/3", "a.io/1", "a.io/2"]);
  assert.deepEqual(merge({ finalizers: ["a.io/2"] }), ["a.io/1", "a.io/2"]);
  assert.deepEqual(merge({ "$deleteFromPrimitiveList/finalizers": ["a.io/1"] }), ["a.io/2"]);
});

test("$retainKeys drops the others; $patch replace on a map takes the patch", () => {
  assert.deepEqual(strategicMerge({ s: { a: 1, b: 2 } }, { s: { $retainKeys: ["b", "c"], c: 3 } }, undefined), {
    s: { b: 2, c: 3 },
  });
  assert.deepEqual(strategicMerge({ s: { a: 1 } }, { s: { $patch: "replace", b: 2 } }, undefined), { s: { b: 2 } });
});

test("an unknown directive, a missing merge key and an incomplete order are refused", () => {
  for (const patch of [
    { ports: [{ $patch: "shuffle", port: 80 }] },
    { ports: [{ name: "no port" }] },
    { "$setElementOrder/ports": [{ port: 80 }], ports: [DNS] },
    { $patch: "shuffle" },
  ]) {
    assert.throws(() => portsAfter([HTTP], patch), BadDirectiveError, JSON.stringify(patch));
  }
});

test("names of JavaScript's own properties are keys like any other", () => {
  for (const name of ["__proto__", "constructor"]) {
    const patch = JSON.parse(`{"metadata": {"annotations": {"${name}": "x"}}}`) as JsonObject;
    const merged = strategicMerge({ metadata: { annotations: { kept: "1" } } }, patch, service.schema);
    assert.equal(JSON.stringify(merged), `{"metadata":{"annotations":{"kept":"1","${name}":"x"}}}`);
  }
});
