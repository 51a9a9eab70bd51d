import assert from "node:assert/strict";
import { test } from "node:test";
import {
  loadBalancerId,
  loadBalancerPartId,
  nameOfId,
  parentId,
  parseId,
  publicIPId,
  sameId,
  securityGroupId,
  subnetId,
  virtualNetworkId,
} from "./ids.ts";

const config = {
  networkSubscriptionId: "net",
  loadBalancerResourceGroup: "lbs",
  securityGroupResourceGroup: "sgs",
  securityGroupName: "nsg",
  vnetResourceGroup: "vnets",
  vnetName: "vnet",
};

test("ids name the network subscription and each resource's own group", () => {
  const under = (group: string): string => `/subscriptions/net/resourceGroups/${group}/providers/Microsoft.Network`;
  assert.equal(loadBalancerId(config, "kubernetes"), `${under("lbs")}/loadBalancers/kubernetes`);
  assert.equal(publicIPId(config, "pips", "one"), `${under("pips")}/publicIPAddresses/one`);
  assert.equal(securityGroupId(config), `${under("sgs")}/networkSecurityGroups/nsg`);
  assert.equal(virtualNetworkId(config), `${under("vnets")}/virtualNetworks/vnet`);
  assert.equal(subnetId(config, "apps"), `${under("vnets")}/virtualNetworks/vnet/subnets/apps`);
});

test("an id comes apart into what it was built of", () => {
  const id = loadBalancerPartId(loadBalancerId(config, "kubernetes"), "probes", "p-1");
  assert.deepEqual(parseId(id), {
    subscription: "net",
    resourceGroup: "lbs",
    provider: "Microsoft.Network",
    type: "loadBalancers/probes",
    names: ["kubernetes", "p-1"],
    name: "p-1",
  });
  assert.equal(nameOfId(id), "p-1");
  assert.equal(parentId(id), loadBalancerId(config, "kubernetes"));
});

test("what is no id is not taken for one", () => {
  for (const text of ["", "kubernetes", "/subscriptions/s", "/subscriptions/s/resourceGroups/g/providers/p/odd"]) {
    assert.equal(parseId(text), undefined, text);
  }
});

test("ids are the same whatever their case, and nothing is the same as nothing", () => {
  assert.equal(sameId("/Subscriptions/S/x", "/subscriptions/s/X"), true);
  assert.equal(sameId("/a", "/b"), false);
  assert.equal(sameId(undefined, undefined), false);
});
