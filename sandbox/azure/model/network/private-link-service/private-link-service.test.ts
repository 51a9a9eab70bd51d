import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  build,
  codeOf,
  frontend,
  internalFrontend,
  LB,
  lbBody,
  member,
  nicBody,
  nicId,
  poolId,
  SUBNET,
  VNET,
  azureWithLoadBalancer,
} from "../../test-fixtures.ts";
import { NETWORK } from "../../test-azure.ts";

const PLS = `${NETWORK}/privateLinkServices/pls`;
const LINKS = `${VNET}/subnets/links`;
type Fields = Record<string, unknown>;

function body(more: Fields = {}, address: Fields = {}, lb = LB): Fields {
  return {
    location: "eastus",
    properties: {
      ipConfigurations: [{ name: "nat", properties: { subnet: { id: LINKS }, ...address } }],
      loadBalancerFrontendIpConfigurations: [{ id: `${lb}/frontendIPConfigurations/front` }],
      ...more,
    },
  };
}

describe("a private link service", () => {
  test("has an alias and a NIC of its own, and its frontend knows it", () => {
    const azure = build(azureWithLoadBalancer(), [PLS, body()]);
    const { properties } = azure.get(PLS).body;
    assert.match(properties.alias, /^pls\.[0-9a-f-]{36}\.eastus\.azure\.privatelinkservice$/);
    const [nic] = properties.networkInterfaces;
    assert.match(nic.id, /networkInterfaces\/pls\.nic\.[0-9a-f-]{36}$/);
    assert.deepEqual(azure.get(nic.id).body.properties.privateLinkService, { id: PLS });
    assert.equal(codeOf(azure.delete(nic.id)), "NicInUse");
    assert.deepEqual(azure.get(`${LB}/frontendIPConfigurations/front`).body.properties.privateLinkServices, [
      { id: PLS },
    ]);
    assert.equal(azure.delete(LB).status, 400);
    assert.equal(azure.put(LB, lbBody({ frontends: [frontend("other", "pip2")] })).status, 400);
    azure.delete(PLS);
    assert.equal(azure.get(nic.id).status, 404);
    assert.equal(azure.delete(LB).status, 202);
  });

  test("keeps its connections through a PUT, and cannot go while it has any", () => {
    const azure = build(azureWithLoadBalancer(), [PLS, body()]);
    const connection = `${PLS}/privateEndpointConnections/pe.1`;
    const state = (status: string) => ({ properties: { privateLinkServiceConnectionState: { status } } });
    build(
      azure,
      [connection, state("Pending")],
      [connection, state("Approved")],
      [PLS, body({ enableProxyProtocol: true })],
    );
    assert.equal(azure.get(connection).body.properties.privateLinkServiceConnectionState.status, "Approved");
    assert.equal(azure.delete(PLS).status, 400);
    assert.equal(azure.delete(connection).status, 202);
    assert.equal(azure.delete(PLS).status, 202);
  });

  const refusals: readonly (readonly [string, Fields, string])[] = [
    ["a destination address", body({ destinationIPAddress: "10.0.0.1" }), "PrivateLinkServiceUdrIsDisabled"],
    [
      "a subnet with network policies",
      body({}, { subnet: { id: SUBNET } }),
      "PrivateLinkServiceCannotBeCreatedInSubnetThatHasNetworkPoliciesEnabled",
    ],
    [
      "an address that is taken",
      body({}, { privateIPAllocationMethod: "Static", privateIPAddress: "10.0.1.4" }),
      "PrivateIPAddressInUse",
    ],
    [
      "a frontend that is not there",
      body({ loadBalancerFrontendIpConfigurations: [{ id: `${LB}/frontendIPConfigurations/no` }] }),
      "InvalidResourceReference",
    ],
    ["no frontend", body({ loadBalancerFrontendIpConfigurations: [] }), "PrivateLinkServiceMissingFrontend"],
    [
      "nine addresses",
      body({
        ipConfigurations: Array.from({ length: 9 }, (_, index) => ({
          name: `n${index}`,
          properties: { subnet: { id: LINKS } },
        })),
      }),
      "PrivateLinkServiceIpConfigurationCountInvalid",
    ],
  ];
  for (const [what, written, code] of refusals) {
    test(`is refused ${what}`, () => {
      const azure = build(azureWithLoadBalancer(), [nicId("taken"), nicBody([], { subnet: { id: LINKS } })]);
      assert.equal(codeOf(azure.put(PLS, written)), code);
    });
  }

  test("is refused a load balancer with addresses in a pool", () => {
    const azure = azureWithLoadBalancer();
    build(azure, [poolId("pool"), { properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1")] } }]);
    assert.equal(codeOf(azure.put(PLS, body())), "PrivateLinkServiceNotSupportedWithIPBasedBackendPool");
  });

  test("keeps addresses out of the pools of its load balancer", () => {
    const azure = build(azureWithLoadBalancer(), [PLS, body()]);
    const addresses = { properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1")] } };
    assert.equal(codeOf(azure.put(poolId("pool"), addresses)), "PrivateLinkServiceNotSupportedWithIPBasedBackendPool");
    const migration = azure.send("POST", `${LB}/migrateToIpBased`, { pools: ["pool"] });
    assert.equal(codeOf(migration), "PrivateLinkServiceNotSupportedWithIPBasedBackendPool");
    azure.delete(PLS);
    assert.equal(azure.put(poolId("pool"), addresses).status, 200);
  });

  test("moves between frontends of its load balancer", () => {
    const both = lbBody({ frontends: [internalFrontend("front"), internalFrontend("second")] });
    const azure = build(azureWithLoadBalancer(), [LB, both], [PLS, body()]);
    const second = [{ id: `${LB}/frontendIPConfigurations/second` }];
    assert.equal(azure.put(PLS, body({ loadBalancerFrontendIpConfigurations: second })).status, 200);
    assert.equal(azure.put(LB, lbBody({ frontends: [internalFrontend("second")] })).status, 200);
  });

  test("approves connections of the subscriptions that it trusts", () => {
    const trusted = "11111111-1111-4111-8111-111111111111";
    const azure = build(azureWithLoadBalancer(), [PLS, body({ autoApproval: { subscriptions: [trusted] } })]);
    const stateOf = (name: string, subscription: string): string => {
      const id = `/subscriptions/${subscription}/resourceGroups/g/providers/Microsoft.Network/privateEndpoints/${name}`;
      const connection = `${PLS}/privateEndpointConnections/${name}`;
      build(azure, [connection, { properties: { privateEndpoint: { id } } }]);
      return azure.get(connection).body.properties.privateLinkServiceConnectionState.status;
    };
    assert.equal(stateOf("theirs", trusted), "Approved");
    assert.equal(stateOf("others", "22222222-2222-4222-8222-222222222222"), "Pending");
  });

  test("stays with its load balancer, which has room for a few", () => {
    const other = `${NETWORK}/loadBalancers/other`;
    const azure = azureWithLoadBalancer({}, { limits: { privateLinkServicesPerLoadBalancer: 1 } });
    build(azure, [other, lbBody({ frontends: [internalFrontend("front")] })], [PLS, body()]);
    assert.equal(codeOf(azure.put(PLS, body({}, {}, other))), "PrivateLinkServiceLoadBalancerCannotBeChanged");
    assert.equal(codeOf(azure.put(`${PLS}2`, body())), "PrivateLinkServiceCountLimitReachedForLoadBalancer");
  });

  test("keeps its subnet from getting network policies", () => {
    const azure = build(azureWithLoadBalancer(), [PLS, body()]);
    const enabled = { properties: { addressPrefix: "10.0.1.0/24", privateLinkServiceNetworkPolicies: "Enabled" } };
    assert.equal(
      codeOf(azure.put(LINKS, enabled)),
      "PrivateLinkServiceNetworkPoliciesCannotBeEnabledOnPrivateLinkServiceSubnet",
    );
  });
});
