import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import { parametersMistake, parseAzureAttributes, parseAzureSpec } from "./azure-spec.ts";

function mistakeOf(parsed: object): string | undefined {
  return "mistake" in parsed ? String(parsed.mistake) : undefined;
}

describe("lbSpec of lbcf-azure", () => {
  test("needs a name; the rest has defaults", () => {
    const target = parseAzureSpec({ name: "lb" }, "default/web", CONFIG);
    assert.ok(!("mistake" in target));
    assert.deepEqual([target.name, target.resourceGroup, target.isOwnPool], ["lb", "rg", true]);
    assert.match(target.pool, /^kubernetes-default-web-[\da-f]{8}$/);
  });

  test("pools of different objects have different names, however long those are", () => {
    const poolOf = (key: string): string => {
      const target = parseAzureSpec({ name: "lb" }, key, CONFIG);
      return "pool" in target ? target.pool : "";
    };
    const long = `default/${"x".repeat(200)}`;
    assert.ok(poolOf(`${long}1`).length <= 80);
    assert.notEqual(poolOf(`${long}1`), poolOf(`${long}2`));
  });

  const BAD: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    ["no name", {}, /lbSpec\.name is missing/],
    ["an impossible name", { name: "-x" }, /lbSpec\.name "-x"/],
    ["an impossible group", { name: "lb", resourceGroup: "a/b" }, /lbSpec\.resourceGroup "a\/b"/],
    ["the cluster's own pool", { name: "lb", pool: "Kubernetes" }, /pool of this cluster's Services/],
    ["the pool of a migration", { name: "lb", pool: "kubernetes-Migration" }, /pool of this cluster's Services/],
    ["a misspelt key", { name: "lb", resourcegroup: "x" }, /resourcegroup is unknown.*did you mean resourceGroup/],
  ];
  for (const [what, lbSpec, message] of BAD) {
    test(`refuses ${what}`, () => assert.match(mistakeOf(parseAzureSpec(lbSpec, "a/b", CONFIG)) ?? "", message));
  }
});

test("where Services have pools of their own, a LoadBalancer has its own, too", () => {
  const config = { ...CONFIG, loadBalancers: [{ name: "lb2" }] } as unknown as typeof CONFIG;
  const parse = (lbSpec: Record<string, string>): string | undefined =>
    mistakeOf(parseAzureSpec(lbSpec, "a/b", config));
  assert.match(parse({ name: "LB2-internal", pool: "shop-web" }) ?? "", /lbSpec\.pool "shop-web" .*: leave it out/);
  assert.equal(parse({ name: "lb2" }), undefined);
  assert.equal(parse({ name: "theirs", pool: "shop-web" }), undefined);
});

describe("attributes of lbcf-azure", () => {
  test("rules in every spelling", () => {
    const parsed = parseAzureAttributes({ rules: "80:8080, 443/tcp@https:8443/healthz,53/UDP@tcp:8080" });
    assert.ok(!("mistake" in parsed));
    assert.deepEqual(parsed.rules, [
      { protocol: "TCP", frontendPort: 80, backendPort: 8080, probe: { protocol: "Tcp", port: 8080 } },
      {
        protocol: "TCP",
        frontendPort: 443,
        backendPort: 443,
        probe: { protocol: "Https", port: 8443, path: "/healthz" },
      },
      { protocol: "UDP", frontendPort: 53, backendPort: 53, probe: { protocol: "Tcp", port: 8080 } },
    ]);
    assert.deepEqual(parsed.frontend, { kind: "internal" });
  });

  test("none at all is a pool and nothing else", () => {
    assert.deepEqual(parseAzureAttributes({}), { frontend: undefined, rules: [], maxBackends: 5_000 });
  });

  test("an existing frontend by its name", () => {
    const parsed = parseAzureAttributes({ frontend: "theirs" });
    assert.deepEqual("frontend" in parsed && parsed.frontend, { kind: "named", name: "theirs" });
  });

  const BAD: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    ["no rule", { rules: "http" }, /"http" is no rule such as 80:8080\/TCP/],
    ["no port", { rules: "80:99999" }, /99999 is no port/],
    ["a frontend port twice", { rules: "80:8080,80:8081" }, /frontend port 80\/TCP is given twice/],
    ["a backend port twice", { rules: "80:8080,81:8080" }, /backend port 8080\/TCP is given twice/],
    ["UDP without a probe", { rules: "53/UDP" }, /UDP needs a probe/],
    ["a probe that is none", { rules: "80@ping" }, /"ping" is no probe/],
    ["a frontend that is none", { frontend: "a b" }, /frontend "a b"/],
    ["no number", { maxBackends: "many" }, /maxBackends "many"/],
    ["a misspelt key", { rule: "80" }, /did you mean rules/],
  ];
  for (const [what, attributes, message] of BAD) {
    test(`refuses ${what}`, () => assert.match(mistakeOf(parseAzureAttributes(attributes)) ?? "", message));
  }

  test("one port may serve TCP and UDP", () => {
    assert.ok(!("mistake" in parseAzureAttributes({ rules: "53/TCP,53/UDP@tcp:53" })));
  });
});

test("weights cannot be had", () => {
  assert.equal(parametersMistake({}), undefined);
  assert.match(parametersMistake({ weight: "5" }) ?? "", /parameters\.weight cannot be used: .* no weights/);
});
