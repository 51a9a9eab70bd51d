import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiVersions, typeOf } from "./api-versions.ts";

const GROUP = "/subscriptions/s/resourceGroups/g";

test("the type of a path, whether it names a resource, a part, a list or a group", () => {
  assert.equal(typeOf(`${GROUP}/providers/Microsoft.Network/loadBalancers/l`), "Microsoft.Network/loadBalancers");
  assert.equal(typeOf(`${GROUP}/providers/Microsoft.Network/loadBalancers`), "Microsoft.Network/loadBalancers");
  assert.equal(
    typeOf(`${GROUP}/providers/Microsoft.Network/loadBalancers/l/backendAddressPools/p`),
    "Microsoft.Network/loadBalancers/backendAddressPools",
  );
  assert.equal(typeOf(GROUP), "resourceGroups");
  assert.equal(typeOf("/subscriptions/s/providers/Microsoft.Compute"), "providers");
});

test("each profile has its versions, scale set interfaces theirs", () => {
  const current = new ApiVersions("current");
  const stack = new ApiVersions("azureStack");
  const nics = "microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces";
  assert.deepEqual([current.of("Microsoft.Network/loadBalancers"), current.of(nics)], ["2026-01-01", "2018-10-01"]);
  assert.deepEqual(
    [
      "Microsoft.Network/loadBalancers",
      "Microsoft.Network/privateLinkServices",
      "Microsoft.Compute/virtualMachines",
    ].map((type) => stack.of(type)),
    ["2018-11-01", "2019-03-01", "2017-12-01"],
  );
  assert.equal(stack.of("Microsoft.Compute/virtualMachineScaleSets"), "2019-07-01");
  assert.equal(current.of("resourcegroups"), "2021-04-01");
});

test("a version that the cloud refuses is not asked again, for that type alone", () => {
  const versions = new ApiVersions("current");
  assert.equal(versions.refused("Microsoft.Network/loadBalancers", "2026-01-01"), true);
  assert.equal(versions.of("microsoft.network/loadBalancers"), "2025-05-01");
  assert.equal(versions.of("Microsoft.Network/publicIPAddresses"), "2026-01-01");
  for (const version of ["2025-05-01", "2024-05-01"]) {
    assert.equal(versions.refused("Microsoft.Network/loadBalancers", version), true);
  }
  assert.equal(versions.refused("Microsoft.Network/loadBalancers", "2022-07-01"), false);
});
