import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceText, withShortIds } from "./resource-text.ts";

const network = (group: string, path: string): string =>
  `/subscriptions/sub/resourceGroups/${group}/providers/Microsoft.Network/${path}`;

test("a resource is called by what it is and its name, with the group where it is not the cluster's", () => {
  const table: readonly (readonly [string, string])[] = [
    [network("rg", "loadBalancers/kubernetes"), "load balancer kubernetes"],
    [network("RG", "loadBalancers/lb/backendAddressPools/p"), "pool p of load balancer lb"],
    [network("other", "publicIPAddresses/mine"), "public IP mine in resource group other"],
    [network("rg", "networkSecurityGroups/nsg"), "security group nsg"],
    [network("rg", "bastionHosts/b"), "bastionHosts b"],
    [
      "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/vmss/virtualMachines/3",
      "machine 3 of scale set vmss",
    ],
    ["services/default/web", "Service default/web"],
  ];
  for (const [id, text] of table) assert.equal(resourceText(id, "rg"), text);
});

test("ids in a text are cut to what tells them apart", () => {
  const ids = [network("rg", "loadBalancers/lb/probes/p"), network("other", "publicIPAddresses/mine")];
  assert.equal(
    withShortIds(JSON.stringify(ids), "rg"),
    '["loadBalancers/lb/probes/p","resourceGroups/other/publicIPAddresses/mine"]',
  );
});
