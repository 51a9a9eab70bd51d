import assert from "node:assert/strict";
import { test } from "node:test";
import { armTypeOf, batchWindowShareOf, isBodyOf, isOwnedByService, KINDS, kindOfId, listedType } from "./kinds.ts";

const GROUP = "/subscriptions/sub/resourceGroups/rg/providers";
const LB = `${GROUP}/Microsoft.Network/loadBalancers/lb`;
const POOL = `${LB}/backendAddressPools/pool`;
const NSG = `${GROUP}/Microsoft.Network/networkSecurityGroups/nsg`;
const INSTANCES = `${GROUP}/Microsoft.Compute/virtualMachineScaleSets/vmss/virtualMachines`;

test("metric labels are what dashboards have known since the first release", () => {
  const labels = Object.entries(KINDS).map(([kind, { metricLabel }]) => [kind, metricLabel]);
  assert.deepEqual(Object.fromEntries(labels), {
    publicIP: "publicIP",
    loadBalancer: "loadBalancer",
    backendPool: "membership",
    nicPools: "attachment",
    securityGroup: "access",
  });
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
  for (const [id, kind] of table) assert.equal(kindOfId(id), kind, id);
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
    [NSG, subnet, LB, POOL].map((id) => armTypeOf(id)?.read),
    ["single", "single", "list", "part"],
  );
  assert.equal(listedType(INSTANCES)?.listQuery, "$expand=instanceView");
});
