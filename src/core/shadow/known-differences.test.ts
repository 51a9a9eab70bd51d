import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { aService, CONFIG } from "../../../test/support/core-fixtures.ts";
import { explain, KNOWN_DIFFERENCES, type ChangeContext } from "./known-differences.ts";
import type { Finding } from "./findings.ts";

const DOCUMENT = readFileSync(join(import.meta.dirname, "../../../docs/differences.md"), "utf8");

for (const { id, incumbent, azlb, why } of KNOWN_DIFFERENCES) {
  test(`${id} is a row of docs/differences.md, in the same words`, () => {
    assert.ok(DOCUMENT.includes(`\n| ${incumbent} | ${azlb} | ${why} |\n`), `| ${incumbent} | ${azlb} | ${why} |`);
  });
}

test("each has an id of its own", () => {
  assert.equal(new Set(KNOWN_DIFFERENCES.map(({ id }) => id)).size, KNOWN_DIFFERENCES.length);
});

const GROUP = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network";
const CONTEXT: ChangeContext = {
  config: CONFIG,
  services: [aService()],
  refused: new Set(),
  concerned: new Set(["default/web"]),
  isUntouched: false,
  nodes: new Set(["node-1"]),
};
const LOAD_BALANCER = `${GROUP}/loadBalancers/kubernetes`;

const CASES: readonly (readonly [what: string, finding: Finding, id: string | undefined])[] = [
  ["a rule that is missing", { kind: "missing", resourceId: LOAD_BALANCER, path: "loadBalancingRules/a" }, undefined],
  [
    "a server of another client that was removed",
    {
      kind: "missing",
      resourceId: LOAD_BALANCER,
      path: "backendAddressPools/kubernetes/loadBalancerBackendAddresses/x",
    },
    "foreign-pool-entries",
  ],
  [
    "a node that was removed",
    {
      kind: "missing",
      resourceId: LOAD_BALANCER,
      path: "backendAddressPools/kubernetes/loadBalancerBackendAddresses/node-1",
    },
    undefined,
  ],
  [
    "the admin state of a node",
    {
      kind: "field",
      resourceId: `${LOAD_BALANCER}/backendAddressPools/kubernetes`,
      path: "loadBalancerBackendAddresses/node-1/adminState",
    },
    "admin-state",
  ],
  [
    "a port of a rule",
    { kind: "field", resourceId: LOAD_BALANCER, path: "loadBalancingRules/a/frontendPort" },
    undefined,
  ],
];

for (const [what, finding, id] of CASES) {
  test(`${what}: ${id ?? "unexplained"}`, () => assert.equal(explain(finding, CONTEXT)?.id, id));
}
