import assert from "node:assert/strict";
import { test } from "node:test";
import type { Listed } from "./observed-azure.ts";
import { batchWindowShareOf, isBodyOf, isOwnedByService, KINDS, knownType, LISTED_KINDS, listPath } from "./kinds.ts";

const SUBSCRIPTIONS = { subscriptionId: "sub", networkSubscriptionId: "sub" };
const GROUP = "/subscriptions/sub/resourceGroups/rg/providers";
const LB = `${GROUP}/Microsoft.Network/loadBalancers/lb`;
const POOL = `${LB}/backendAddressPools/pool`;
const NSG = `${GROUP}/Microsoft.Network/networkSecurityGroups/nsg`;
const INSTANCES = `${GROUP}/Microsoft.Compute/virtualMachineScaleSets/vmss/virtualMachines`;

test("metric labels are the kinds' names, or what dashboards have known since the first release", () => {
  const first = { backendPool: "membership", nicPools: "attachment", securityGroup: "access" };
  const names = Object.keys(KINDS).map((kind) => [kind, kind]);
  const labels = Object.entries(KINDS).map(([kind, { metricLabel }]) => [kind, metricLabel]);
  assert.deepEqual(Object.fromEntries(labels), { ...Object.fromEntries(names), ...first });
  assert.deepEqual([KINDS.publicIP.metricLabel, KINDS.loadBalancer.metricLabel], ["publicIP", "loadBalancer"]);
});

test("an id tells the kind, in whatever case it is written", () => {
  const table = [
    [LB, "loadBalancer"],
    [LB.toUpperCase().replace("SUBSCRIPTIONS", "subscriptions"), "loadBalancer"],
    [POOL, "backendPool"],
    [NSG, "securityGroup"],
    [`${INSTANCES}/3`, "nicPools"],
    [`${GROUP}/Microsoft.Network/bastionHosts/b`, undefined],
    [`${GROUP}/Microsoft.Other/loadBalancers/lb`, undefined],
    ["nonsense", undefined],
  ] as const;
  for (const [id, kind] of table) assert.equal(knownType(id)?.kind, kind, id);
});

test("a body is of the kind that its id tells", () => {
  assert.ok(isBodyOf("loadBalancer", { id: LB, name: "lb", properties: {} }));
  assert.ok(!isBodyOf("publicIP", { id: LB, name: "lb", properties: {} }));
  for (const nothing of [undefined, null, "lb", {}, { id: 7 }]) assert.ok(!isBodyOf("loadBalancer", nothing));
});

test("Services own load balancers, public IPs and security rules; pools are the cluster's", () => {
  const owned = (["publicIP", "loadBalancer", "securityGroup"] as const).map((kind) => isOwnedByService({ kind }));
  const shared = (["backendPool", "nicPools"] as const).map((kind) => isOwnedByService({ kind }));
  assert.deepEqual(
    [owned, shared],
    [
      [true, true, true],
      [false, false],
    ],
  );
});

test("a security group may gather for as long as its write takes, all others for a quarter", () => {
  assert.deepEqual([NSG, LB, POOL].map(batchWindowShareOf), [1, 0.25, 0.25]);
});

test("security groups and subnets are read one by one, instances are listed with their power states", () => {
  const subnet = `${GROUP}/Microsoft.Network/virtualNetworks/vnet/subnets/subnet`;
  assert.deepEqual(
    [NSG, subnet, LB, POOL].map((id) => knownType(id)?.read),
    ["single", "single", "list", "part"],
  );
  assert.equal(knownType(`${INSTANCES}/any`)?.listQuery, "$expand=instanceView");
});

test("what decisions see by resource group is read as lists, and its resources are in the list of their group", () => {
  assert.ok(LISTED_KINDS.includes("publicIP"));
  for (const kind of LISTED_KINDS) {
    const known = knownType(`${listPath(kind, SUBSCRIPTIONS, "rg")}/one`);
    assert.deepEqual([known?.kind, known?.read], [kind, "list"]);
  }
});

test("what decisions see by resource group is found and replaced in the lists of its own kind", () => {
  for (const kind of LISTED_KINDS) {
    const id = `${listPath(kind, SUBSCRIPTIONS, "RG")}/one`;
    const listed = { [kind]: new Map([["rg", [{ id, name: "one", properties: {} }]]]) } as Listed;
    const azure = { loadBalancers: [], listed, subnets: new Map(), securityGroup: undefined };
    assert.equal(KINDS[kind].find(azure, id.toLowerCase())?.id, id);
    const without = KINDS[kind].replace(azure, id, undefined);
    assert.deepEqual(without.listed, { [kind]: new Map([["rg", []]]) });
  }
});
