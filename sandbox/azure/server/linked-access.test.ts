import assert from "node:assert/strict";
import { test } from "node:test";

import { linkedAccesses } from "./linked-access.ts";

test("a write asks to join what it refers to, wherever in its body", () => {
  const body = {
    properties: {
      frontendIPConfigurations: [
        { properties: { publicIPAddress: { id: "/p" }, loadBalancingRules: [{ id: "/r" }] } },
        { properties: { subnet: { id: "/v/subnets/s" } } },
      ],
      ipConfigurations: [{ properties: { loadBalancerBackendAddressPools: [{ id: "/a" }, { id: "/b" }] } }],
    },
  };
  assert.deepEqual(linkedAccesses("PUT", JSON.stringify(body)), [
    { action: "Microsoft.Network/publicIPAddresses/join/action", scope: "/p" },
    { action: "Microsoft.Network/virtualNetworks/subnets/join/action", scope: "/v/subnets/s" },
    { action: "Microsoft.Network/loadBalancers/backendAddressPools/join/action", scope: "/a" },
    { action: "Microsoft.Network/loadBalancers/backendAddressPools/join/action", scope: "/b" },
  ]);
});

test("reads, and what cannot be read, ask for nothing more", () => {
  assert.deepEqual(linkedAccesses("GET", '{"subnet": {"id": "/s"}}'), []);
  assert.deepEqual(linkedAccesses("PUT", '{"subnet": {"id": "/s"}'), []);
  assert.deepEqual(linkedAccesses("PUT", '{"subnet": null, "publicIPAddress": [7, {"id": 3}]}'), []);
});
