import assert from "node:assert/strict";
import { test } from "node:test";

import { isAllowed } from "./azure-permissions.ts";
import { ok, renderChecks, unknown, wrong } from "./doctor-checks.ts";

test("an action is allowed by one entry that does not take it back, in whatever case", () => {
  const read = "Microsoft.Network/loadBalancers/read";
  const table: readonly (readonly [readonly { actions: string[]; notActions?: string[] }[], boolean])[] = [
    [[], false],
    [[{ actions: ["*"] }], true],
    [[{ actions: ["*/read"] }], true],
    [[{ actions: ["microsoft.network/LOADBALANCERS/*"] }], true],
    [[{ actions: ["Microsoft.Network/loadBalancers/write"] }], false],
    [[{ actions: ["MicrosoftXNetwork/loadBalancers/read"] }, { actions: ["Microsoft?Network/*"] }], false],
    [[{ actions: ["*"], notActions: ["Microsoft.Network/*"] }], false],
    [[{ actions: ["*"], notActions: ["Microsoft.Network/*"] }, { actions: [read] }], true],
  ];
  for (const [permissions, allowed] of table) {
    assert.equal(isAllowed(read, permissions), allowed, JSON.stringify(permissions));
  }
});

test("each check is a line, what is wrong has its fix below, and no token is shown", () => {
  const checks = [
    ok("clock", "1 s from Azure's"),
    wrong("identity", "refused: Bearer abcdefghijklmnop", "correct it"),
    unknown("quota", "cannot be checked here"),
  ];
  assert.equal(
    renderChecks(checks),
    [
      "OK     clock     1 s from Azure's",
      "WRONG  identity  refused: Bearer (hidden)",
      "                 fix: correct it",
      "?      quota     cannot be checked here",
      "",
      "1 check went wrong.",
      "",
    ].join("\n"),
  );
});
