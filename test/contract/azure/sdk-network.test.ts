/** The other network resources through the official SDK, both majors. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { armHttp, errorCode } from "./arm-http.ts";
import { azureUnderTest, listed } from "./azure-under-test.ts";

const azure = await azureUnderTest({ topology: { nodes: 2, vmType: "standard", foreign: true } });
const group = azure.resourceGroup;
const location = azure.account.location;
const network = `/subscriptions/${azure.subscriptionId}/resourceGroups/${group}/providers/Microsoft.Network`;
const subnet = { id: `${network}/virtualNetworks/vnet/subnets/subnet` };

const code = (attempt: Promise<unknown>): Promise<string | undefined> =>
  attempt.then(
    () => "it was not refused",
    (error: { code?: string }) => error.code,
  );

for (const [index, { label, client }] of azure.networks.entries()) {
  const name = (what: string): string => `${what}-${index}`;

  test(`${label}: a security group has six default rules, and rules of its own that do not clash`, async () => {
    const created = await client.networkSecurityGroups.beginCreateOrUpdateAndWait(group, name("group"), { location });
    assert.equal(created.defaultSecurityRules?.length, 6);
    const rule = {
      protocol: "Tcp",
      access: "Allow",
      direction: "Inbound",
      priority: 500,
      sourceAddressPrefix: "Internet",
      sourcePortRange: "*",
      destinationAddressPrefix: "*",
      destinationPortRanges: ["80", "443"],
    };
    await client.securityRules.beginCreateOrUpdateAndWait(group, name("group"), "web", rule);
    const seen = await client.networkSecurityGroups.get(group, name("group"));
    assert.deepEqual(seen.securityRules?.[0]?.destinationPortRanges, ["80", "443"]);
    assert.equal(
      await code(client.securityRules.beginCreateOrUpdateAndWait(group, name("group"), "clash", rule)),
      "SecurityRuleConflict",
    );
    await client.securityRules.beginDeleteAndWait(group, name("group"), "web");
    await client.networkSecurityGroups.beginDeleteAndWait(group, name("group"));
    assert.equal(
      await code(client.networkSecurityGroups.beginDeleteAndWait(group, "nsg")),
      "InUseNetworkSecurityGroupCannotBeDeleted",
    );
  });

  test(`${label}: a virtual network and its subnets`, async () => {
    await client.virtualNetworks.beginCreateOrUpdateAndWait(group, name("vnet"), {
      location,
      addressSpace: { addressPrefixes: ["10.8.0.0/16"] },
      subnets: [{ name: "one", addressPrefix: "10.8.0.0/24" }],
    });
    await client.subnets.beginCreateOrUpdateAndWait(group, name("vnet"), "two", { addressPrefix: "10.8.1.0/24" });
    const names = (await listed(client.subnets.list(group, name("vnet")))).map((item) => item.name);
    assert.deepEqual(names, ["one", "two"]);
    assert.equal(
      await code(
        client.subnets.beginCreateOrUpdateAndWait(group, name("vnet"), "three", { addressPrefix: "10.8.1.0/25" }),
      ),
      "NetcfgSubnetRangesOverlap",
    );
    const free = await client.virtualNetworks.checkIPAddressAvailability(group, name("vnet"), "10.8.0.9");
    assert.equal(free.available, true);
    await client.virtualNetworks.beginDeleteAndWait(group, name("vnet"));
  });

  test(`${label}: an internal frontend gets an address of its subnet`, async () => {
    const balancer = await client.loadBalancers.beginCreateOrUpdateAndWait(group, name("internal"), {
      location,
      sku: { name: "Standard" },
      frontendIPConfigurations: [{ name: "front", subnet, privateIPAllocationMethod: "Dynamic" }],
    });
    const seen = await client.loadBalancers.get(group, name("internal"));
    assert.match(seen.frontendIPConfigurations?.[0]?.privateIPAddress ?? "", /^10\.240\./);
    assert.ok(balancer.id);
    const link = await client.privateLinkServices.beginCreateOrUpdateAndWait(group, name("link"), {
      location,
      loadBalancerFrontendIpConfigurations: [{ id: seen.frontendIPConfigurations?.[0]?.id ?? "" }],
      ipConfigurations: [{ name: "nat", subnet, primary: true, privateIPAddressVersion: "IPv4" }],
    });
    assert.match(link.alias ?? "", /\.westus2\.azure\.privatelinkservice$/);
    await client.privateLinkServices.beginDeleteAndWait(group, name("link"));
    await client.loadBalancers.beginDeleteAndWait(group, name("internal"));
  });

  test(`${label}: prefixes and addresses of them`, async () => {
    const prefix = await client.publicIPPrefixes.beginCreateOrUpdateAndWait(group, name("prefix"), {
      location,
      sku: { name: "Standard" },
      prefixLength: 30,
    });
    assert.match(prefix.ipPrefix ?? "", /\/30$/);
    const address = await client.publicIPAddresses.beginCreateOrUpdateAndWait(group, name("from-prefix"), {
      location,
      sku: { name: "Standard" },
      publicIPAllocationMethod: "Static",
      publicIPPrefix: { id: prefix.id ?? "" },
    });
    assert.equal(address.publicIPPrefix?.id, prefix.id);
  });

  test(`${label}: a NIC joins a pool, and both sides tell it`, async () => {
    const pool = `${network}/loadBalancers/kubernetes/backendAddressPools/foreign-pool`;
    const seen = await client.loadBalancerBackendAddressPools.get(group, "kubernetes", "foreign-pool");
    assert.equal(seen.backendIPConfigurations?.length, 2);
    const nic = await client.networkInterfaces.get(group, "foreign-vm-0-nic");
    assert.equal(nic.ipConfigurations?.[0]?.loadBalancerBackendAddressPools?.[0]?.id, pool);
    assert.equal(nic.virtualMachine?.id?.split("/").at(-1), "foreign-vm-0");
    const members = seen.loadBalancerBackendAddresses ?? [];
    assert.equal(members[0]?.networkInterfaceIPConfiguration?.id, nic.ipConfigurations?.[0]?.id);
  });

  test(`${label}: on a NIC pool only adminState of existing members can be written`, async () => {
    const pools = client.loadBalancerBackendAddressPools;
    const states = async () =>
      (await pools.get(group, "kubernetes", "foreign-pool")).loadBalancerBackendAddresses?.map(
        (member) => member.adminState,
      );
    const seen = await pools.get(group, "kubernetes", "foreign-pool");
    const [first, second] = seen.loadBalancerBackendAddresses ?? [];
    const put = (...addresses: object[]) =>
      pools.beginCreateOrUpdateAndWait(group, "kubernetes", "foreign-pool", {
        loadBalancerBackendAddresses: addresses,
      });
    await put({ ...first, adminState: "Down" }, { ...second });
    assert.deepEqual(await states(), ["Down", undefined]);
    const refused = "ModificationOfNICIpConfigBackendPoolNotSupported";
    assert.equal(await code(put({ ...first })), refused, "one is left out");
    assert.equal(await code(put()), refused, "all are left out");
    assert.equal(await code(put({ ...first }, { ...second }, { name: "new" })), refused, "one is added");
    assert.deepEqual(await states(), ["Down", undefined], "a refused PUT changes nothing");
    await put({ ...first, adminState: "None" }, { ...second });
    assert.deepEqual(await states(), [undefined, undefined]);
  });

  test(`${label}: names in another case find the same resource, and come back as they were made`, async () => {
    const seen = await client.loadBalancers.get(group.toUpperCase(), "KUBERNETES");
    assert.equal(seen.id, `${network}/loadBalancers/kubernetes`);
  });
}

test("on the wire, a pool PUT that gives a NIC member another NIC is refused too", async () => {
  const arm = await armHttp(azure);
  const path = `${network}/loadBalancers/kubernetes/backendAddressPools/foreign-pool?api-version=2025-05-01`;
  type Pool = { properties: { loadBalancerBackendAddresses: { properties: Record<string, unknown> }[] } };
  const pool = (await arm.send("GET", path)).body as Pool;
  const other = { id: `${network}/networkInterfaces/agent-0-nic/ipConfigurations/ipconfig1` };
  Object.assign(pool.properties.loadBalancerBackendAddresses[0]?.properties ?? {}, {
    networkInterfaceIPConfiguration: other,
  });
  const changed = await arm.send("PUT", path, { body: pool });
  assert.deepEqual([changed.status, errorCode(changed)], [400, "ModificationOfNICIpConfigBackendPoolNotSupported"]);
});

test("rule health is answered through an operation", async () => {
  const health = await azure.network.loadBalancerLoadBalancingRules.beginHealthAndWait(
    group,
    "kubernetes",
    "foreign-rule",
  );
  assert.equal((health.up ?? 0) + (health.down ?? 0), 2);
});

test("the newest major's own pollers work too", async () => {
  const { NetworkManagementClient } = await import("@azure/arm-network");
  const client = new NetworkManagementClient(azure.credential, azure.subscriptionId, { endpoint: azure.armEndpoint });
  const poller = client.publicIPAddresses.createOrUpdate(group, "polled", {
    location,
    sku: { name: "Standard" },
    publicIPAllocationMethod: "Static",
  });
  assert.equal((await poller.pollUntilDone()).provisioningState, "Succeeded");
  await client.publicIPAddresses.delete(group, "polled");
});
