/** Seeded nodes of every kind, as compute and network clients see them. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { azureUnderTest, listed, type AzureUnderTest } from "./azure-under-test.ts";

const group = "rg";

/** Addresses of the seeded nodes by name, as the emulator exports them. */
const exported = (azure: AzureUnderTest) => new Map(azure.nodes.map(({ name, ip }) => [name, ip]));
const resourceId = (providerId: string): string => providerId.replace("azure://", "");

test("a uniform scale set: instances, instance views, NICs", async () => {
  const azure = await azureUnderTest({ topology: { nodes: 3, vmType: "vmss" } });
  const set = await azure.compute.virtualMachineScaleSets.get(group, "vmss");
  assert.equal(set.sku?.capacity, 3);
  const instances = await listed(
    azure.compute.virtualMachineScaleSetVMs.list(group, "vmss", { expand: "instanceView" }),
  );
  assert.deepEqual(
    instances.map(({ id, osProfile }) => [osProfile?.computerName, id]),
    azure.nodes.map(({ name, providerId }) => [name, resourceId(providerId)]),
  );
  for (const instance of instances) {
    const codes = instance.instanceView?.statuses?.map(({ code }) => code) ?? [];
    assert.ok(codes.includes("PowerState/running") && codes.includes("ProvisioningState/succeeded"), codes.join());
  }
  for (const { client } of azure.networks) {
    const nics = await listed(client.networkInterfaces.listVirtualMachineScaleSetNetworkInterfaces(group, "vmss"));
    const addresses = nics.map((nic) => nic.ipConfigurations?.[0]?.privateIPAddress);
    assert.deepEqual(addresses, [...exported(azure).values()]);
  }
  const bad = azure.compute.virtualMachineScaleSetVMs.get(group, "vmss", "not-a-number");
  await assert.rejects(bad, (error: { statusCode?: number }) => error.statusCode === 400);
});

test("a flexible scale set: machines that name it, found by filter", async () => {
  const azure = await azureUnderTest({ topology: { nodes: 2, vmType: "vmssflex" } });
  const set = await azure.compute.virtualMachineScaleSets.get(group, "vmss");
  assert.equal(set.orchestrationMode, "Flexible");
  const machines = await listed(
    azure.compute.virtualMachines.list(group, { filter: `'virtualMachineScaleSet/id' eq '${set.id}'` }),
  );
  assert.deepEqual(
    machines.map(({ id, osProfile }) => [osProfile?.computerName, id]),
    azure.nodes.map(({ name, providerId }) => [name, resourceId(providerId)]),
  );
  const nic = await azure.network.networkInterfaces.get(group, "vmss000001-nic");
  assert.equal(nic.ipConfigurations?.[0]?.privateIPAddress, exported(azure).get("vmss000001"));
  assert.equal(nic.virtualMachine?.id, machines[1]?.id);
});

test("machines in an availability set", async () => {
  const azure = await azureUnderTest({ topology: { nodes: 2, vmType: "standard" } });
  const machines = await listed(azure.compute.virtualMachines.list(group));
  assert.deepEqual(
    machines.map(({ name, id }) => [name, id]),
    azure.nodes.map(({ name, providerId }) => [name, resourceId(providerId)]),
  );
  const view = await azure.compute.virtualMachines.instanceView(group, "agent-0");
  assert.ok(view.statuses?.some(({ code }) => code === "PowerState/running"));
  const set = await azure.compute.availabilitySets.get(group, "agents");
  assert.equal(set.virtualMachines?.length, 2);
});

test("an instance joins a pool through its scale set, and the pool shows it", async () => {
  const azure = await azureUnderTest({ topology: { nodes: 1, vmType: "vmss", backendPool: "nodeIPConfiguration" } });
  const { network, compute } = azure;
  const address = await network.publicIPAddresses.beginCreateOrUpdateAndWait(group, "ip", {
    location: "westus2",
    sku: { name: "Standard" },
    publicIPAllocationMethod: "Static",
  });
  const balancer = await network.loadBalancers.beginCreateOrUpdateAndWait(group, "kubernetes", {
    location: "westus2",
    sku: { name: "Standard" },
    frontendIPConfigurations: [{ name: "front", publicIPAddress: { id: address.id ?? "" } }],
    backendAddressPools: [{ name: "kubernetes" }],
  });
  const pool = { id: balancer.backendAddressPools?.[0]?.id ?? "" };
  const instance = await compute.virtualMachineScaleSetVMs.get(group, "vmss", "0");
  const config = instance.networkProfileConfiguration?.networkInterfaceConfigurations?.[0]?.ipConfigurations?.[0];
  assert.ok(config);
  config.loadBalancerBackendAddressPools = [pool];
  await compute.virtualMachineScaleSetVMs.update(group, "vmss", "0", instance);
  const seen = await network.loadBalancerBackendAddressPools.get(group, "kubernetes", "kubernetes");
  assert.equal(seen.backendIPConfigurations?.length, 1);
  assert.match(
    seen.backendIPConfigurations?.[0]?.id ?? "",
    /virtualMachineScaleSets\/vmss\/virtualMachines\/0\/networkInterfaces\//i,
  );
});
