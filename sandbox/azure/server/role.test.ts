import assert from "node:assert/strict";
import { test } from "node:test";

import { accessOf, allows } from "./role.ts";

const GROUP = "/subscriptions/s/resourceGroups/rg";
const NETWORK = `${GROUP}/providers/Microsoft.Network`;

const ACCESSES: readonly [string, string, string, string][] = [
  ["GET", `${NETWORK}/loadBalancers/x`, "Microsoft.Network/loadBalancers/read", `${NETWORK}/loadBalancers/x`],
  ["GET", `${NETWORK}/loadBalancers`, "Microsoft.Network/loadBalancers/read", GROUP],
  [
    "GET",
    "/subscriptions/s/providers/Microsoft.Network/loadBalancers",
    "Microsoft.Network/loadBalancers/read",
    "/subscriptions/s",
  ],
  [
    "PUT",
    `${NETWORK}/loadBalancers/x/backendAddressPools/p`,
    "Microsoft.Network/loadBalancers/backendAddressPools/write",
    `${NETWORK}/loadBalancers/x/backendAddressPools/p`,
  ],
  [
    "POST",
    `${NETWORK}/loadBalancers/x/migrateToIpBased`,
    "Microsoft.Network/loadBalancers/migrateToIpBased/action",
    `${NETWORK}/loadBalancers/x`,
  ],
  [
    "DELETE",
    `${NETWORK}/publicIPAddresses/p`,
    "Microsoft.Network/publicIPAddresses/delete",
    `${NETWORK}/publicIPAddresses/p`,
  ],
  ["PUT", GROUP, "Microsoft.Resources/subscriptions/resourceGroups/write", GROUP],
  [
    "GET",
    "/subscriptions/s/providers/Microsoft.Compute",
    "Microsoft.Resources/subscriptions/providers/read",
    "/subscriptions/s/providers/Microsoft.Compute",
  ],
];

for (const [method, path, action, scope] of ACCESSES) {
  test(`${method} ${path} asks for ${action}`, () => {
    assert.deepEqual(accessOf(method, path), { action, scope });
  });
}

test("actions allow with wildcards and without case; notActions take away", () => {
  const role = {
    actions: ["Microsoft.Network/*", "*/read"],
    notActions: ["microsoft.network/publicIPAddresses/write"],
  };
  assert.equal(allows(role, "Microsoft.Network/loadBalancers/write"), true);
  assert.equal(allows(role, "Microsoft.Compute/virtualMachines/read"), true);
  assert.equal(allows(role, "Microsoft.Compute/virtualMachines/write"), false);
  assert.equal(allows(role, "Microsoft.Network/publicIPAddresses/write"), false);
});
