import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  build,
  codeOf,
  frontend,
  LB,
  lbBody,
  nicBody,
  nicId,
  NSG,
  POOL,
  poolId,
  rule,
  SCALE_SET,
  scaleSetBody,
  SUBNET,
  azureWithLoadBalancer,
} from "../test-fixtures.ts";
import { COMPUTE, NETWORK, type Wire, type TestAzure } from "../test-azure.ts";

const VM = `${COMPUTE}/virtualMachines/vm`;
const machine = (more = {}) => ({
  location: "eastus",
  properties: { networkProfile: { networkInterfaces: [{ id: nicId("nic") }] }, ...more },
});
const names = (azure: TestAzure, path: string, query = {}) =>
  azure.get(path, query).body.value.map((item: Wire) => item.name);
const poolMembers = (azure: TestAzure): string[] =>
  (azure.get(POOL).body.properties.backendIPConfigurations ?? []).map((item: Wire) => item.id);

describe("a virtual machine", () => {
  test("is Creating, then Succeeded; written again as it is, it needs no operation", () => {
    const azure = build(azureWithLoadBalancer(), [nicId("nic"), nicBody()]);
    const created = azure.put(VM, machine());
    assert.deepEqual([created.status, created.body.properties.provisioningState], [201, "Creating"]);
    const poll = azure.follow(created.headers["azure-asyncoperation"] ?? "").body;
    assert.deepEqual(
      [poll.status, poll.name, typeof poll.startTime, typeof poll.endTime],
      ["Succeeded", created.headers["x-ms-request-id"], "string", "string"],
    );
    const again = azure.put(VM, machine());
    assert.deepEqual(
      [again.status, again.body.properties.provisioningState, again.headers["azure-asyncoperation"]],
      [200, "Succeeded", undefined],
    );
  });

  test("shows its instance view alone, with the machine, or in a list", () => {
    const azure = build(azureWithLoadBalancer(), [nicId("nic"), nicBody()], [VM, machine()]);
    const codes = (view: Wire) => view.statuses.map((status: Wire) => status.code);
    const wanted = ["ProvisioningState/succeeded", "PowerState/running"];
    assert.deepEqual(codes(azure.get(`${VM}/instanceView`).body), wanted);
    assert.deepEqual(codes(azure.get(VM, { $expand: "instanceView" }).body.properties.instanceView), wanted);
    assert.equal(azure.get(VM).body.properties.instanceView, undefined);
    assert.deepEqual(
      codes(azure.get(`${COMPUTE}/virtualMachines`, { $expand: "instanceView" }).body.value[0].properties.instanceView),
      wanted,
    );
  });

  test("does not take a NIC of another, nor one that is not there", () => {
    const azure = build(azureWithLoadBalancer(), [nicId("nic"), nicBody()], [VM, machine()]);
    assert.equal(codeOf(azure.put(`${VM}2`, machine())), "NicInUse");
    azure.delete(VM);
    azure.delete(nicId("nic"));
    assert.equal(codeOf(azure.put(`${VM}2`, machine())), "InvalidResourceReference");
  });

  test("shows in its availability set, which stays while it does", () => {
    const set = `${COMPUTE}/availabilitySets/set`;
    const azure = build(azureWithLoadBalancer(), [nicId("nic"), nicBody()]);
    const created = azure.put(set, { location: "eastus" });
    assert.deepEqual([created.status, created.headers["azure-asyncoperation"]], [200, undefined]);
    build(azure, [VM, machine({ availabilitySet: { id: set } })]);
    assert.deepEqual(azure.get(set).body.properties.virtualMachines, [{ id: VM }]);
    assert.equal(codeOf(azure.delete(set)), "OperationNotAllowed");
    azure.delete(VM);
    assert.equal(azure.delete(set).status, 200);
    assert.equal(azure.get(set).status, 404);
  });
});

describe("a uniform scale set", () => {
  test("does not show capabilities that were written empty", () => {
    const written = (additionalCapabilities: object) => {
      const body: Wire = scaleSetBody(1);
      return { ...body, properties: { ...body.properties, additionalCapabilities } };
    };
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, written({})]);
    assert.equal("additionalCapabilities" in azure.get(SCALE_SET).body.properties, false);
    build(azure, [SCALE_SET, written({ ultraSSDEnabled: true })]);
    assert.deepEqual(azure.get(SCALE_SET).body.properties.additionalCapabilities, { ultraSSDEnabled: true });
  });

  test("has instances with NICs in the pool of its model", () => {
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, scaleSetBody(2, [POOL])]);
    assert.deepEqual(names(azure, `${SCALE_SET}/virtualMachines`), ["vmss_0", "vmss_1"]);
    const { body } = azure.get(`${SCALE_SET}/virtualMachines/1`);
    assert.deepEqual([body.instanceId, body.properties.osProfile.computerName], ["1", "node000001"]);
    const nics = azure.get(`${SCALE_SET.replace("Microsoft", "microsoft")}/networkInterfaces`).body.value;
    assert.deepEqual(
      nics.map((nic: Wire) => nic.properties.ipConfigurations[0].properties.privateIPAddress),
      ["10.0.0.4", "10.0.0.5"],
    );
    assert.deepEqual(
      poolMembers(azure),
      nics.map((nic: Wire) => nic.properties.ipConfigurations[0].id),
    );
    const nic = `${SCALE_SET}/virtualMachines/1/networkInterfaces/nic`;
    assert.equal(azure.get(`${nic}/ipConfigurations/ip`).body.id, poolMembers(azure)[1]);
    assert.equal(azure.get(nic).headers["etag"], nics[1].etag);
    assert.equal(azure.get(SUBNET).body.properties.ipConfigurations.length, 2);
  });

  test("tells an instance that is none, and one that is not there", () => {
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, scaleSetBody(1)]);
    assert.equal(azure.get(`${SCALE_SET}/virtualMachines/x`).status, 400);
    assert.deepEqual(
      [
        azure.get(`${SCALE_SET}/virtualMachines/7`).status,
        codeOf(azure.get(`${SCALE_SET}/virtualMachines/7/instanceView`)),
      ],
      [404, "NotFound"],
    );
    assert.equal(codeOf(azure.put(`${SCALE_SET}/virtualMachines/7`, { location: "eastus" })), "NotFound");
  });

  test("grows and shrinks with its capacity, and with an instance that is deleted", () => {
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, scaleSetBody(3, [POOL])]);
    azure.delete(`${SCALE_SET}/virtualMachines/1`);
    assert.equal(azure.get(SCALE_SET).body.sku.capacity, 2);
    assert.equal(poolMembers(azure).length, 2);
    build(azure, [SCALE_SET, scaleSetBody(3, [POOL])]);
    assert.deepEqual(names(azure, `${SCALE_SET}/virtualMachines`), ["vmss_0", "vmss_2", "vmss_3"]);
    assert.equal(azure.put(SCALE_SET, scaleSetBody(1, [POOL])).body.sku.capacity, 1);
    assert.deepEqual(names(azure, `${SCALE_SET}/virtualMachines`), ["vmss_0"]);
    azure.delete(SCALE_SET);
    assert.deepEqual(poolMembers(azure), []);
  });

  test("changes its model without its instances under a manual policy, and with them under an automatic one", () => {
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, scaleSetBody(1)]);
    build(azure, [SCALE_SET, scaleSetBody(1, [POOL])]);
    assert.deepEqual(poolMembers(azure), []);
    assert.equal(azure.get(`${SCALE_SET}/virtualMachines/0`).body.properties.latestModelApplied, false);
    const automatic = { upgradePolicy: { mode: "Automatic" } };
    build(azure, [SCALE_SET, scaleSetBody(1, [], automatic)], [SCALE_SET, scaleSetBody(1, [POOL], automatic)]);
    assert.equal(poolMembers(azure).length, 1);
    assert.equal(azure.get(`${SCALE_SET}/virtualMachines/0`).body.properties.latestModelApplied, true);
    build(azure, [SCALE_SET, scaleSetBody(0, [], automatic)]);
    assert.deepEqual(names(azure, `${SCALE_SET}/virtualMachines`), [], "what goes is not remodelled");
  });

  test("lets one instance join and leave a pool, and keeps its address", () => {
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, scaleSetBody(2)]);
    const instance = `${SCALE_SET}/virtualMachines/1`;
    const written = structuredClone(azure.get(instance).body);
    const [ip] =
      written.properties.networkProfileConfiguration.networkInterfaceConfigurations[0].properties.ipConfigurations;
    ip.properties.loadBalancerBackendAddressPools = [{ id: POOL }];
    assert.equal(azure.put(instance, written).body.properties.provisioningState, "Updating");
    assert.deepEqual(poolMembers(azure), [`${instance}/networkInterfaces/nic/ipConfigurations/ip`]);
    assert.equal(
      azure.get(`${instance}/networkInterfaces`).body.value[0].properties.ipConfigurations[0].properties
        .privateIPAddress,
      "10.0.0.5",
    );
    ip.properties.loadBalancerBackendAddressPools = [];
    build(azure, [instance, written]);
    assert.deepEqual(poolMembers(azure), []);
  });

  test("has public addresses where its model asks for them", () => {
    const body = scaleSetBody(1) as Wire;
    const [ip] =
      body.properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations[0].properties
        .ipConfigurations;
    ip.properties.publicIPAddressConfiguration = {
      name: "pub",
      properties: { dnsSettings: { domainNameLabel: "set" } },
    };
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, body]);
    const [address] = azure.get(`${SCALE_SET}/publicipaddresses`).body.value;
    assert.equal(address.properties.dnsSettings.fqdn, "vm0.set.eastus.cloudapp.azure.com");
    const path = `${SCALE_SET}/virtualMachines/0/networkInterfaces/nic/ipconfigurations/ip/publicipaddresses`;
    assert.deepEqual([names(azure, path), azure.get(`${path}/pub`).body.id], [["pub"], address.id]);
  });

  test("an instance that is being made cannot be written", () => {
    const azure = azureWithLoadBalancer();
    azure.tailMs = 5_000;
    azure.put(SCALE_SET, scaleSetBody(1));
    const answer = azure.put(`${SCALE_SET}/virtualMachines/0`, { location: "eastus", tags: { a: "b" } });
    assert.deepEqual([answer.status, codeOf(answer)], [409, "Conflict"]);
  });

  test("a newer PUT preempts an older one, and what that began is finished", () => {
    const azure = azureWithLoadBalancer();
    azure.tailMs = 5_000;
    const older = azure.put(SCALE_SET, scaleSetBody(1));
    const newer = azure.put(SCALE_SET, scaleSetBody(2));
    assert.equal(azure.follow(older.headers["azure-asyncoperation"] ?? "").body.error.code, "OperationPreempted");
    azure.nowMs += 5_000;
    assert.equal(azure.follow(newer.headers["azure-asyncoperation"] ?? "").body.status, "Succeeded");
    const states = azure
      .get(`${SCALE_SET}/virtualMachines`)
      .body.value.map((item: Wire) => item.properties.provisioningState);
    assert.deepEqual(states, ["Succeeded", "Succeeded"]);
  });

  test("holds its security group", () => {
    const azure = build(azureWithLoadBalancer(), [NSG, { location: "eastus" }]);
    const body = scaleSetBody(0) as Wire;
    body.properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations[0].properties.networkSecurityGroup =
      { id: NSG };
    build(azure, [SCALE_SET, body]);
    assert.equal(codeOf(azure.delete(NSG)), "NetworkSecurityGroupInUseByVirtualMachineScaleSet");
  });

  test("shares a Basic pool with its own instances, and with no other machine", () => {
    const azure = build(azureWithLoadBalancer({ sku: "Basic" }), [SCALE_SET, scaleSetBody(2)]);
    const joining = (instance: string): [string, Wire] => {
      const body = structuredClone(azure.get(instance).body);
      const [nic] = body.properties.networkProfileConfiguration.networkInterfaceConfigurations;
      nic.properties.ipConfigurations[0].properties.loadBalancerBackendAddressPools = [{ id: POOL }];
      return [instance, body];
    };
    const other = `${COMPUTE}/virtualMachineScaleSets/other`;
    build(azure, [SCALE_SET, scaleSetBody(2, [POOL])], [other, scaleSetBody(1)]);
    build(azure, joining(`${SCALE_SET}/virtualMachines/0`), joining(`${SCALE_SET}/virtualMachines/1`));
    const refusal = azure.put(...joining(`${other}/virtualMachines/0`));
    assert.equal(codeOf(refusal), "NetworkInterfaceAndLoadBalancerAreInDifferentAvailabilitySets");
  });

  test("clashes of load balancers are told as the scale set's", () => {
    const other = `${NETWORK}/loadBalancers/other`;
    const azure = build(
      azureWithLoadBalancer(),
      [LB, lbBody({ rules: [rule("r")] })],
      [other, lbBody({ frontends: [frontend("front", "pip2")], rules: [rule("r", {}, other)] })],
    );
    const answer = azure.put(SCALE_SET, scaleSetBody(1, [POOL, poolId("pool", other)]));
    assert.equal(codeOf(answer), "RulesOfSameLoadBalancerTypeUseSameBackendPortProtocolAndVmssIPConfig");
  });
});

describe("a flexible scale set", () => {
  const flexible = (capacity: number, pools: string[] = []) =>
    scaleSetBody(capacity, pools, { orchestrationMode: "Flexible" });

  test("makes ordinary machines and NICs, found by a filter", () => {
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, flexible(2, [POOL])]);
    build(azure, [nicId("nic"), nicBody()], [VM, machine()]);
    const filter = { $filter: `'virtualMachineScaleSet/id' eq '${SCALE_SET}'` };
    const found = azure.get(`${COMPUTE}/virtualMachines`, filter).body.value;
    assert.equal(found.length, 2);
    assert.equal(names(azure, `${COMPUTE}/virtualMachines`).length, 3);
    const nic = found[0].properties.networkProfile.networkInterfaces[0].id;
    assert.deepEqual(azure.get(nic).body.properties.virtualMachine, { id: found[0].id });
    assert.equal(poolMembers(azure).length, 2);
    assert.equal(azure.get(SCALE_SET).body.sku.capacity, 2);
  });

  test("counts a machine that names it, and lets one go with its NIC when it shrinks", () => {
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, flexible(0)], [nicId("nic"), nicBody()]);
    build(azure, [VM, machine({ virtualMachineScaleSet: { id: SCALE_SET } })]);
    assert.equal(azure.get(SCALE_SET).body.sku.capacity, 1);
    build(azure, [SCALE_SET, azure.get(SCALE_SET).body]);
    assert.equal(azure.get(VM).status, 200, "writing back what was read drops no machine");
    assert.equal(codeOf(azure.delete(SCALE_SET)), "OperationNotAllowed");
    build(azure, [SCALE_SET, flexible(0)]);
    assert.deepEqual([azure.get(VM).status, azure.get(nicId("nic")).status], [404, 404]);
  });
});

describe("a change by PATCH", () => {
  const capacity = (azure: TestAzure): number => azure.get(SCALE_SET).body.sku.capacity;
  const patch = (azure: TestAzure, body: unknown) => azure.send("PATCH", SCALE_SET, body);

  test("of a scale set keeps what it does not name, and makes or removes instances", () => {
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, scaleSetBody(2)]);
    const before = azure.get(SCALE_SET).body;
    const grown = patch(azure, { sku: { ...before.sku, capacity: 3 } });
    assert.equal(grown.status, 200);
    azure.follow(grown.headers["azure-asyncoperation"] ?? "");
    assert.equal(capacity(azure), 3);
    assert.deepEqual(
      azure.get(SCALE_SET).body.properties.virtualMachineProfile,
      before.properties.virtualMachineProfile,
    );
    patch(azure, { properties: { upgradePolicy: { mode: "Automatic" } } });
    assert.deepEqual([capacity(azure), azure.get(SCALE_SET).body.properties.upgradePolicy.mode], [3, "Automatic"]);
    patch(azure, { sku: { capacity: 1 } });
    assert.equal(names(azure, `${SCALE_SET}/virtualMachines`).length, 1);
  });

  test("of tags alone is done at once; an impossible one is refused", () => {
    const azure = build(azureWithLoadBalancer(), [SCALE_SET, scaleSetBody(1)]);
    const tagged = patch(azure, { tags: { a: "b" } });
    assert.deepEqual(
      [tagged.status, tagged.body.tags, tagged.headers["azure-asyncoperation"]],
      [200, { a: "b" }, undefined],
    );
    assert.equal(codeOf(patch(azure, { sku: { capacity: -1 } })), "InvalidParameter");
    assert.equal(codeOf(patch(azure, { properties: { orchestrationMode: "Flexible" } })), "PropertyChangeNotAllowed");
  });
});
