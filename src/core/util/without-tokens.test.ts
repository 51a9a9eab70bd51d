import assert from "node:assert/strict";
import { test } from "node:test";

import { withoutTokens } from "./without-tokens.ts";

const JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhemxiIn0.c2ln-bmF0_dXJl";

const CASES: readonly [what: string, said: string, told: string][] = [
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

for (const [what, said, told] of CASES) test(`what is told of ${what}`, () => assert.equal(withoutTokens(said), told));

test("Azure's words about Basic load balancers stay as they are", () => {
  const said = "Basic SKU load balancers cannot have Standard public IPs. Basic, Standard.";
  assert.equal(withoutTokens(said), said);
});
