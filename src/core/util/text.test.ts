import assert from "node:assert/strict";
import { test } from "node:test";
import { closestMatch, editDistance, redactTokens } from "./text.ts";

test("the distance counts letters to insert, delete or replace", () => {
  assert.equal(editDistance("kitten", "sitting"), 3);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("same", "same"), 0);
  assert.equal(editDistance("kitten", "sitting", 3), 3);
  assert.equal(editDistance("kitten", "sitting", 2), 3);
});

test("the closest match is found whatever its case", () => {
  assert.equal(closestMatch("LOADBALANCERSKU", ["location", "loadBalancerSku"]), "loadBalancerSku");
  assert.equal(closestMatch("subnet", ["subnetName", "vnetName"]), "subnetName");
  assert.equal(closestMatch("anything", []), undefined);
});

test("beyond a typing error, words in common count before letters", () => {
  const known = ["health-probe-protocol", "health-probe-request-path"];
  assert.equal(closestMatch("health-probe-path", known), "health-probe-request-path");
  assert.equal(closestMatch("health-probe-protocl", known), "health-probe-protocol");
});

const JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhemxiIn0.c2ln-bmF0_dXJl";

const CASES: readonly [what: string, sent: string, shown: string][] = [
  ["a token of Azure or of a service account", `bad token ${JWT}.`, "bad token (hidden)."],
  ["the header that it came in", `Authorization: Bearer ${JWT}`, "Authorization: Bearer (hidden)"],
  ["any other token in that header", "authorization: bearer 0123456789abcdef", "authorization: bearer (hidden)"],
  ["a password", "Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic (hidden)"],
  ["several", `${JWT} ${JWT}`, "(hidden) (hidden)"],
  [
    "no token",
    "Basic SKU public IP kubernetes-a1 is in use by Bearer 7",
    "Basic SKU public IP kubernetes-a1 is in use by Bearer 7",
  ],
];

for (const [what, sent, shown] of CASES)
  test(`what is shown of ${what}`, () => assert.equal(redactTokens(sent), shown));

test("Azure's messages about Basic load balancers stay as they are", () => {
  const message = "Basic SKU load balancers cannot have Standard public IPs. Basic, Standard.";
  assert.equal(redactTokens(message), message);
});
