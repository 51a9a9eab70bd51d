import assert from "node:assert/strict";
import { test } from "node:test";

import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import { record } from "../../../../test/support/lbcf-objects.ts";
import { addressMistake, poolConflict, recordMistake } from "./azure-record.ts";

const LOAD_BALANCER = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/lb";
const mistakeOf = (pool: string | undefined, backendAddr = "10.0.0.1"): string | undefined =>
  recordMistake(record({ backendAddr }, {}, { lbInfo: pool === undefined ? {} : { pool } }), CONFIG);

test("a record of a pool and an address is one, in any case", () => {
  const pool = `${LOAD_BALANCER}/backendAddressPools/web`;
  for (const [id, address] of [
    [pool, "10.0.0.1"],
    [pool.toLowerCase(), "fd00::1"],
    [pool.replace("/rg/", "/a_(b).c-d/"), "10.0.0.1"],
  ] as const) {
    assert.equal(mistakeOf(id, address), undefined);
  }
});

test("anything else leads nowhere, and the way out is named", () => {
  const POOLS = [
    undefined,
    "",
    "rubbish",
    LOAD_BALANCER,
    `${LOAD_BALANCER}/backendAddressPools/`,
    `${LOAD_BALANCER}/backendAddressPools/web?x=y`,
    `${LOAD_BALANCER}/backendAddressPools/web/more`,
    `${LOAD_BALANCER}/frontendIPConfigurations/web`,
    "/subscriptions/s/resourceGroups/../providers/Microsoft.Network/loadBalancers/lb/backendAddressPools/web",
    "https://example.com/backendAddressPools/web",
    `${LOAD_BALANCER}/backendAddressPools/${CONFIG.clusterName}`, // that of the Services
    "x".repeat(100_000),
  ];
  for (const pool of POOLS) {
    const mistake = mistakeOf(pool) ?? "";
    assert.match(mistake, /is no pool that lbcf-azure writes: .*forget: "true"/, pool);
    assert.ok(mistake.length < 500);
  }
  for (const address of ["", "my-web.com", "10.0.0.1:80", "300.0.0.1", "x".repeat(100_000)]) {
    const mistake = mistakeOf(`${LOAD_BALANCER}/backendAddressPools/web`, address) ?? "";
    assert.match(mistake, /is no IP address: .*forget: "true"/);
    assert.ok(mistake.length < 500);
  }
});

test("an address that is special on every machine enters no pool", () => {
  const mistake = (backendAddr: string): string | undefined => addressMistake(record({ backendAddr }), []);
  for (const address of ["10.0.0.1", "20.1.2.3", "fd00::1", "2001:db8::1"]) assert.equal(mistake(address), undefined);
  for (const address of ["127.0.0.1", "169.254.169.254", "168.63.129.16", "0.0.0.0", "::1", "::ffff:127.0.0.1"]) {
    assert.match(mistake(address) ?? "", /, which is no backend: remove it from static/, address);
  }
});

test("a record enters only a pool that its load balancer's namespace has", () => {
  const lbInfo = { pool: `${LOAD_BALANCER}/backendAddressPools/web` };
  const conflict = (
    lbName: string,
    namespace: string,
    owner?: "Bind",
    sharesWith: readonly string[] = [],
  ): string | undefined => {
    const holder = { namespace, name: "first", sharesWith };
    const metadata = { namespace: "team", ...(owner && { owner: { kind: owner, name: "b", uid: "u" } }) };
    return poolConflict(record({}, metadata, { lbInfo, lbName }), holder);
  };
  assert.match(
    poolConflict(record({}, {}, { lbInfo }), undefined) ?? "",
    /named by no LoadBalancer: delete the record/,
  );
  assert.equal(conflict("web", "other", undefined, ["team"]), undefined);
  assert.equal(conflict("web", "other", "Bind", ["*"]), undefined);
  assert.equal(conflict("web", "team"), undefined);
  assert.equal(conflict("lbcf-wide", "kube-system"), undefined);
  assert.equal(conflict("lbcf-inner", "team", "Bind"), undefined);
  for (const holder of ["other", "tea", "team-2"]) {
    const refusal = conflict("web", holder, undefined, ["elsewhere"]) ?? "";
    assert.match(refusal, /lbInfo\.pool ".*" is used by namespace "/, holder);
    assert.match(refusal, /add "team" to annotation lbcf\.tkestack\.io\/share-with of "first" there/);
  }
  assert.match(conflict("lbcf-wide", "team") ?? "", /namespace "team"/);
});
