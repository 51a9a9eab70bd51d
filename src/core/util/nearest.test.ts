import assert from "node:assert/strict";
import { test } from "node:test";
import { editDistance, nearest } from "./nearest.ts";

test("the distance counts letters to insert, delete or replace", () => {
  assert.equal(editDistance("kitten", "sitting"), 3);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("same", "same"), 0);
  assert.equal(editDistance("kitten", "sitting", 3), 3);
  assert.equal(editDistance("kitten", "sitting", 2), 3);
});

test("the nearest word is found whatever its case", () => {
  assert.equal(nearest("LOADBALANCERSKU", ["location", "loadBalancerSku"]), "loadBalancerSku");
  assert.equal(nearest("subnet", ["subnetName", "vnetName"]), "subnetName");
  assert.equal(nearest("anything", []), undefined);
});

test("beyond a slip, words in common count before letters", () => {
  const known = ["health-probe-protocol", "health-probe-request-path"];
  assert.equal(nearest("health-probe-path", known), "health-probe-request-path");
  assert.equal(nearest("health-probe-protocl", known), "health-probe-protocol");
});
