import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { NETWORK } from "../../test-azure.ts";
import { azureWithLoadBalancer, build, codeOf, LB, SUBNET, VNET } from "../../test-fixtures.ts";

const PLS = `${NETWORK}/privateLinkServices/pls`;
const ENDPOINT = `${NETWORK}/privateEndpoints/pe`;
type Fields = Record<string, unknown>;

const service = {
  location: "eastus",
  properties: {
    ipConfigurations: [{ name: "nat", properties: { subnet: { id: `${VNET}/subnets/links` } } }],
    loadBalancerFrontendIpConfigurations: [{ id: `${LB}/frontendIPConfigurations/front` }],
  },
};

function endpoint(collection: string, to = PLS, more: Fields = {}): Fields {
  const connection = { name: "link", properties: { privateLinkServiceId: to } };
  return { location: "eastus", properties: { subnet: { id: SUBNET }, [collection]: [connection], ...more } };
}

const AUTOMATIC = "privateLinkServiceConnections";
const MANUAL = "manualPrivateLinkServiceConnections";

describe("a private endpoint", () => {
  test("has a NIC with an address of its subnet, and is an approved connection of its service", () => {
    const azure = build(azureWithLoadBalancer(), [PLS, service], [ENDPOINT, endpoint(AUTOMATIC)]);
    const { properties } = azure.get(ENDPOINT).body;
    assert.equal(properties[AUTOMATIC][0].properties.privateLinkServiceConnectionState.status, "Approved");
    const nic = azure.get(properties.networkInterfaces[0].id).body;
    assert.deepEqual(nic.properties.privateEndpoint, { id: ENDPOINT });
    assert.match(nic.properties.ipConfigurations[0].properties.privateIPAddress, /^10\./);
    const [connection] = azure.get(PLS).body.properties.privateEndpointConnections;
    assert.deepEqual(connection.properties.privateEndpoint, { id: ENDPOINT });
    assert.equal(codeOf(azure.delete(nic.id)), "NicInUse");
    assert.equal(codeOf(azure.delete(PLS)), "InUsePrivateLinkServiceCannotBeDeleted");
    assert.equal(azure.put(ENDPOINT, endpoint(AUTOMATIC)).status, 200);
    assert.equal(azure.get(PLS).body.properties.privateEndpointConnections.length, 1);
  });

  test("waits for the owner of the service where it asks, and shows the decision", () => {
    const azure = build(azureWithLoadBalancer(), [PLS, service], [ENDPOINT, endpoint(MANUAL)]);
    const shown = (): string =>
      azure.get(ENDPOINT).body.properties[MANUAL][0].properties.privateLinkServiceConnectionState.status;
    assert.equal(shown(), "Pending");
    const [connection] = azure.get(PLS).body.properties.privateEndpointConnections;
    const privateLinkServiceConnectionState = { status: "Rejected", description: "no" };
    build(azure, [connection.id, { properties: { privateLinkServiceConnectionState } }]);
    assert.equal(shown(), "Rejected");
    azure.delete(connection.id);
    assert.equal(shown(), "Disconnected");
  });

  test("takes its NIC and its connection with it", () => {
    const azure = build(azureWithLoadBalancer(), [PLS, service], [ENDPOINT, endpoint(AUTOMATIC)]);
    const [nic] = azure.get(ENDPOINT).body.properties.networkInterfaces;
    assert.equal(azure.delete(ENDPOINT).status, 202);
    assert.equal(azure.get(nic.id).status, 404);
    assert.deepEqual(azure.get(PLS).body.properties.privateEndpointConnections, []);
    assert.equal(azure.delete(PLS).status, 202);
  });

  test("may have a name and an address for its NIC, and another service than the emulator has", () => {
    const storage = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a";
    const ipConfigurations = [
      { name: "fixed", properties: { privateIPAddress: "10.0.0.77", groupId: "blob", memberName: "blob" } },
    ];
    const more = { customNetworkInterfaceName: "pe-nic", ipConfigurations };
    const azure = build(azureWithLoadBalancer(), [ENDPOINT, endpoint(AUTOMATIC, storage, more)]);
    const nic = azure.get(`${NETWORK}/networkInterfaces/pe-nic`).body;
    assert.equal(nic.properties.ipConfigurations[0].properties.privateIPAddress, "10.0.0.77");
    const [connection] = azure.get(ENDPOINT).body.properties[AUTOMATIC];
    assert.equal(connection.properties.privateLinkServiceConnectionState.status, "Approved");
  });

  test("without a subnet, a connection or its service is refused", () => {
    const azure = azureWithLoadBalancer();
    assert.equal(
      codeOf(azure.put(ENDPOINT, { location: "eastus", properties: { [AUTOMATIC]: [] } })),
      "PrivateEndpointMissingSubnet",
    );
    const none = { location: "eastus", properties: { subnet: { id: SUBNET } } };
    assert.equal(codeOf(azure.put(ENDPOINT, none)), "PrivateEndpointMustHaveOnePrivateLinkServiceConnection");
    assert.equal(azure.put(ENDPOINT, endpoint(AUTOMATIC)).status, 400);
  });
});
