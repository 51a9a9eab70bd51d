import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { byOwner } from "../../../../test/support/by-owner.ts";
import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import { absentParts, azureParts } from "./azure-parts.ts";
import { parseAzureAttributes, parseAzureSpec } from "./azure-spec.ts";
import { type AzurePartsFragment, mergeAzureParts as merge } from "./merge-azure-parts.ts";

const mergeAzureParts = byOwner(merge, ({ parts }) => parts.owner.key);

const KEY = "default/web";
const CLUSTER = { pools: ["kubernetes"], entries: new Set(["node-1"]) };

function wanted(text: Record<string, string>, lbSpec: Record<string, string> = {}, key = KEY): AzurePartsFragment {
  const target = parseAzureSpec({ name: "lb", ...lbSpec }, key, CONFIG);
  const attributes = parseAzureAttributes(text);
  assert.ok(!("mistake" in target) && !("mistake" in attributes));
  const parts = azureParts({ key, config: CONFIG, target, attributes, zones: [] });
  return { parts, leftPool: undefined, cluster: CLUSTER, isClusters: false };
}

function left(poolName: string, isOwn = true, key = KEY): AzurePartsFragment {
  return { parts: absentParts(key, CONFIG), leftPool: { name: poolName, isOwn }, cluster: CLUSTER, isClusters: false };
}

function put(seen: LoadBalancer | undefined, ...fragments: AzurePartsFragment[]): LoadBalancer {
  const { outcome } = mergeAzureParts(seen, fragments);
  assert.equal(outcome.kind, "put");
  return outcome.kind === "put" ? outcome.body : assert.fail();
}

const RULES = { frontend: "internal", rules: "80:8080" };
const theirs: LoadBalancer = {
  id: "/lb",
  name: "lb",
  sku: { name: "Standard" },
  tags: { team: "them" },
  properties: {
    frontendIPConfigurations: [{ name: "theirs", properties: {} }],
    backendAddressPools: [{ name: "people", properties: { loadBalancerBackendAddresses: [] } }],
  },
};

describe("mergeAzureParts", () => {
  test("creates a load balancer, tags it, and deletes it when it is empty again", () => {
    const made = put(undefined, wanted(RULES));
    assert.equal(made.tags?.["azlb-lbcf"], "lbcf:default/web");
    const pool = made.properties.backendAddressPools?.[0]?.name ?? "";
    assert.equal(mergeAzureParts(made, [left(pool)]).outcome.kind, "delete");
  });

  test("without a frontend a missing one cannot be made", () => {
    assert.equal(mergeAzureParts(undefined, [wanted({})]).outcome.kind, "unchanged");
  });

  test("is settled by its own result", () => {
    const made = put(undefined, wanted(RULES));
    assert.equal(mergeAzureParts(made, [wanted(RULES)]).outcome.kind, "unchanged");
  });

  test("adopts one that is there: nothing of it changes, and it is never deleted", () => {
    const adopted = put(theirs, wanted({ frontend: "theirs", rules: "80:8080" }));
    assert.deepEqual(adopted.tags, theirs.tags);
    assert.deepEqual(adopted.properties.frontendIPConfigurations, theirs.properties.frontendIPConfigurations);
    const pool = adopted.properties.backendAddressPools?.[1]?.name ?? "";
    const after = put(adopted, left(pool));
    assert.deepEqual(after.properties.backendAddressPools, theirs.properties.backendAddressPools);
    assert.deepEqual(after.properties.loadBalancingRules, []);
  });

  test("a frontend that does not exist is found out", () => {
    const { stale } = mergeAzureParts(theirs, [wanted({ frontend: "nobody", rules: "80:8080" })]);
    assert.deepEqual(stale, ["lbcf:default/web"]);
  });

  test("a pool with foreign entries, or that foreign rules refer to, stays", () => {
    const made = put(undefined, wanted(RULES));
    const [pool] = made.properties.backendAddressPools ?? [];
    assert.ok(pool);
    const entries = [{ name: "theirs", properties: { ipAddress: "10.0.0.1" } }];
    const used = { ...pool, properties: { loadBalancerBackendAddresses: entries } };
    const seen = { ...made, properties: { ...made.properties, backendAddressPools: [used] } };
    const after = put(seen, left(pool.name));
    assert.deepEqual(after.properties.backendAddressPools, [used]);
    assert.equal(after.properties.frontendIPConfigurations?.length, 1); // Azure wants one where a pool is
  });

  test("a named pool stays in a foreign load balancer, and goes in one that the controller created", () => {
    const adopted = put(theirs, wanted({ frontend: "theirs", rules: "80:8080" }, { pool: "people" }));
    const after = put(adopted, left("people", false));
    assert.deepEqual(after.properties.backendAddressPools, theirs.properties.backendAddressPools);
    const made = put(undefined, wanted(RULES, { pool: "mine" }));
    assert.equal(mergeAzureParts(made, [left("mine", false)]).outcome.kind, "delete");
  });

  test("an empty foreign load balancer is empty again afterwards", () => {
    const empty: LoadBalancer = { id: "/lb", name: "lb", sku: { name: "Standard" }, properties: {} };
    const adopted = put(empty, wanted(RULES));
    const after = put(adopted, left(adopted.properties.backendAddressPools?.[0]?.name ?? ""));
    assert.deepEqual(after.properties.frontendIPConfigurations, []);
    assert.deepEqual(after.properties.backendAddressPools, []);
  });

  test("the cluster's own pools do not keep it alive, a node that is not the cluster's does", () => {
    const made = put(undefined, wanted(RULES));
    const own = made.properties.backendAddressPools?.[0]?.name ?? "";
    const withNodes = (name: string): LoadBalancer => {
      const nodes = { name: "kubernetes", properties: { loadBalancerBackendAddresses: [{ name, properties: {} }] } };
      const pools = [...(made.properties.backendAddressPools ?? []), nodes];
      return { ...made, properties: { ...made.properties, backendAddressPools: pools } };
    };
    assert.equal(mergeAzureParts(withNodes("node-1"), [left(own)]).outcome.kind, "delete");
    assert.equal(mergeAzureParts(withNodes("stranger"), [left(own)]).outcome.kind, "put");
  });

  test("two LoadBalancers share one without disturbing each other", () => {
    const other = wanted({ frontend: "internal", rules: "81:8081" }, {}, "default/other");
    const both = put(undefined, wanted(RULES), other);
    assert.equal(both.properties.loadBalancingRules?.length, 2);
    const [first] = both.properties.backendAddressPools ?? [];
    const after = put(both, left(first?.name ?? "", true, KEY));
    assert.deepEqual(
      after.properties.loadBalancingRules?.map(({ properties }) => properties.frontendPort),
      [81],
    );
  });

  test("a port that is taken is refused in words", () => {
    const seen = put(theirs, wanted({ frontend: "theirs", rules: "80:8080" }));
    const other = wanted({ frontend: "theirs", rules: "80:9090" }, {}, "default/other");
    assert.equal(mergeAzureParts(seen, [other]).refused[0]?.rejection.reason, "PortConflict");
  });

  test("a Basic load balancer is refused", () => {
    const basic = { ...theirs, sku: { name: "Basic" } };
    assert.equal(mergeAzureParts(basic, [wanted(RULES)]).refused[0]?.rejection.reason, "LoadBalancerSkuMismatch");
  });
});
