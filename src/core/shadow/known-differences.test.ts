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

const TWO = ["kubernetes", "lb2"].map((name) => ({
  name,
  primaryVmSet: "",
  allowServicePlacement: true,
  serviceSelector: undefined,
  namespaceSelector: undefined,
  nodeSelector: undefined,
}));
const GOING = aService({ name: "going" });
const SEVERAL: ChangeContext = {
  ...CONTEXT,
  config: { ...CONFIG, loadBalancers: TWO },
  services: [aService(), { ...GOING, metadata: { ...GOING.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }],
  concerned: new Set(["default/web", "default/going"]),
};
const ENTRY = "backendAddressPools/kubernetes/loadBalancerBackendAddresses/node-1";
const RULE = "loadBalancingRules/a";

/** With several load balancers: what is explained, and what is close to it and is not. */
const SEVERAL_CASES: readonly (readonly [
  what: string,
  finding: Omit<Finding, "resourceId">,
  id: string | undefined,
])[] = [
  ["a node that is in no pool", { kind: "missing", path: ENTRY }, "nodes-join-at-once"],
  ["a node that is in a pool too many", { kind: "extra", path: ENTRY }, undefined],
  ["the part of a Service that may move", { kind: "missing", path: RULE, service: "default/web" }, "moves-at-once"],
  ["a part of the Service that goes", { kind: "extra", path: RULE, service: "default/going" }, undefined],
  [
    "the pool of the Service that goes",
    { kind: "extra", path: "backendAddressPools/default-going", service: "default/going" },
    "own-pool-stays",
  ],
  [
    "the pool of another",
    { kind: "extra", path: "backendAddressPools/default-web", service: "default/going" },
    undefined,
  ],
];

for (const [what, finding, id] of SEVERAL_CASES) {
  test(`several load balancers, ${what}: ${id ?? "unexplained"}`, () => {
    assert.equal(explain({ ...finding, resourceId: LOAD_BALANCER }, SEVERAL)?.id, id);
  });
}

test("labels explain what the incumbent left as it is only where labels are asked for", () => {
  const finding: Finding = { kind: "missing", resourceId: LOAD_BALANCER, path: RULE, service: "default/going" };
  const untouched = { ...SEVERAL, isUntouched: true };
  assert.equal(explain(finding, untouched), undefined);
  const nodeSelector = { requirements: [] };
  const loadBalancers = TWO.map((one) => ({ ...one, nodeSelector }));
  const selecting = { ...untouched, config: { ...CONFIG, loadBalancers } };
  assert.equal(explain(finding, selecting)?.id, "labels-at-once");
});
