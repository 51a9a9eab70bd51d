import assert from "node:assert/strict";
import { test } from "node:test";
import { editDistance, nearest } from "./nearest.ts";

test("the distance counts letters to insert, delete or replace", () => {
  assert.equal(editDistance("kitten", "sitting"), 3);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("same", "same"), 0);
});

test("the nearest word is found whatever its case", () => {
  assert.equal(nearest("LOADBALANCERSKU", ["location", "loadBalancerSku"]), "loadBalancerSku");
  assert.equal(nearest("subnet", ["subnetName", "vnetName"]), "subnetName");
  assert.equal(nearest("anything", []), undefined);
});
