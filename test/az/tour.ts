/**
 * What an Azure user types, and what `az` must print: one row a command, in order, against an emulator with the example
 * cluster. `prints` is a part of the printed JSON: fields that are not named may have any value, lists are compared item
 * by item. `undefined`: nothing is printed.
 */
export interface Step {
  readonly args: readonly string[];
  readonly prints: unknown;
}

const G = ["-g", "tour"];
const LB = [...G, "--lb-name", "lb"];

function step(command: string, prints: unknown, ...more: readonly string[]): Step {
  return { args: [...command.split(" "), ...more], prints };
}

export function tour(subscription: string, tenant: string): readonly Step[] {
  const group = `/subscriptions/${subscription}/resourceGroups/tour`;
  const pip = `${group}/providers/Microsoft.Network/publicIPAddresses/pip`;
  const lb = `${group}/providers/Microsoft.Network/loadBalancers/lb`;
  const subnet = `${group}/providers/Microsoft.Network/virtualNetworks/vnet/subnets/one`;
  const external = {
    location: "westus2",
    sku: { name: "Standard" },
    properties: {
      frontendIPConfigurations: [{ name: "front", properties: { publicIPAddress: { id: pip } } }],
      backendAddressPools: [{ name: "pool" }],
    },
  };
  const internal = {
    ...external,
    properties: {
      frontendIPConfigurations: [{ name: "in", properties: { subnet: { id: subnet } } }],
      backendAddressPools: [{ name: "pool" }],
    },
  };
  const full = ["--is-full-object", "--properties"];
  const create = (name: string): string =>
    `resource create -g tour -n ${name} --resource-type Microsoft.Network/loadBalancers --api-version 2025-05-01`;
  return [
    step("account show", { id: subscription, tenantId: tenant, state: "Enabled", name: "Sandbox" }),
    step("account list", [{ id: subscription, isDefault: true }]),
    step("account list-locations", [{ name: "westus2" }]),
    step("group list", [{ name: "rg", location: "westus2" }]),
    step("group show -n rg", { name: "rg", properties: { provisioningState: "Succeeded" } }),
    step("group create -n tour -l westus2 --tags a=b", { name: "tour", tags: { a: "b" } }),
    step("group exists -n tour", true),
    step("group exists -n none", false),
    step("group update -n tour --set tags.c=d", { tags: { a: "b", c: "d" } }),
    step("provider show -n Microsoft.Network", { namespace: "Microsoft.Network", registrationState: "Registered" }),
    step("provider list", [{ namespace: "Microsoft.Network" }, { namespace: "Microsoft.Compute" }]),
    step("resource list -g tour", []),
    step(
      "network vnet create -g tour -n vnet --address-prefix 10.9.0.0/16 --subnet-name one --subnet-prefix 10.9.1.0/24",
      { newVNet: { name: "vnet", provisioningState: "Succeeded", subnets: [{ name: "one" }] } },
    ),
    step("network vnet list -g tour", [{ name: "vnet" }]),
    step("network vnet show -g tour -n vnet", { addressSpace: { addressPrefixes: ["10.9.0.0/16"] } }),
    step("network vnet subnet create -g tour --vnet-name vnet -n two --address-prefixes 10.9.2.0/24", { name: "two" }),
    step("network vnet subnet list -g tour --vnet-name vnet", [{ name: "one" }, { name: "two" }]),
    step(
      "network vnet subnet update -g tour --vnet-name vnet -n two --private-link-service-network-policies Disabled",
      { privateLinkServiceNetworkPolicies: "Disabled" },
    ),
    step("network nsg create -g tour -n nsg", { NewNSG: { name: "nsg", securityRules: [] } }),
    step(
      "network nsg rule create -g tour --nsg-name nsg -n web --priority 100 --access Allow --direction Inbound --protocol Tcp --destination-port-ranges 80 443",
      { name: "web", priority: 100, destinationPortRanges: ["80", "443"] },
    ),
    step("network nsg rule list -g tour --nsg-name nsg", [{ name: "web" }]),
    step("network nsg rule update -g tour --nsg-name nsg -n web --priority 110", { priority: 110 }),
    step("network nsg rule show -g tour --nsg-name nsg -n web", { priority: 110, access: "Allow", protocol: "Tcp" }),
    step("network nsg show -g tour -n nsg", { securityRules: [{ name: "web" }] }),
    step("network public-ip create -g tour -n pip --sku Standard --allocation-method Static", {
      publicIp: { name: "pip", publicIPAllocationMethod: "Static", provisioningState: "Succeeded" },
    }),
    step("network public-ip list -g tour", [{ name: "pip" }]),
    step("network public-ip update -g tour -n pip --set tags.k=v", { tags: { k: "v" } }),
    step("network public-ip show -g tour -n pip", { id: pip, sku: { name: "Standard" }, tags: { k: "v" } }),
    step("network public-ip prefix create -g tour -n prefix --length 30", { prefixLength: 30 }),
    step("network public-ip prefix show -g tour -n prefix", { name: "prefix", provisioningState: "Succeeded" }),
    step(create("lb"), { name: "lb", id: lb }, ...full, JSON.stringify(external)),
    step("network lb list -g tour", [{ name: "lb" }]),
    step("network lb show -g tour -n lb", { sku: { name: "Standard" }, backendAddressPools: [{ name: "pool" }] }),
    step("network lb frontend-ip list", [{ name: "front" }], ...LB),
    step("network lb frontend-ip show -n front", { publicIPAddress: { id: pip } }, ...LB),
    step("network lb address-pool list", [{ name: "pool" }], ...LB),
    step("network lb address-pool create -n pool2", { name: "pool2" }, ...LB),
    step(
      "network lb address-pool address add --pool-name pool2 -n m1 --ip-address 10.9.1.7 --vnet vnet",
      { loadBalancerBackendAddresses: [{ name: "m1", ipAddress: "10.9.1.7" }] },
      ...LB,
    ),
    step("network lb address-pool address list --pool-name pool2", [{ name: "m1" }], ...LB),
    step("network lb address-pool address remove --pool-name pool2 -n m1", undefined, ...LB),
    step("network lb address-pool address list --pool-name pool2", [], ...LB),
    step("network lb probe create -n probe --protocol Tcp --port 80", { name: "probe", port: 80 }, ...LB),
    step("network lb probe list", [{ name: "probe" }], ...LB),
    step("network lb probe update -n probe --interval 10", { intervalInSeconds: 10 }, ...LB),
    step(
      "network lb rule create -n rule --protocol Tcp --frontend-port 80 --backend-port 80 --frontend-ip-name front --backend-pool-name pool --probe-name probe --disable-outbound-snat true",
      { name: "rule", frontendPort: 80, provisioningState: "Succeeded" },
      ...LB,
    ),
    step("network lb rule list", [{ name: "rule" }], ...LB),
    step("network lb rule show -n rule", { probe: { id: `${lb}/probes/probe` } }, ...LB),
    step("network lb rule update -n rule --idle-timeout 15", { idleTimeoutInMinutes: 15 }, ...LB),
    step(
      "network lb outbound-rule create -n out --protocol All --frontend-ip-configs front --address-pool pool",
      { name: "out", protocol: "All" },
      ...LB,
    ),
    step("network lb outbound-rule list", [{ name: "out" }], ...LB),
    step(
      "network lb inbound-nat-rule create -n nat --protocol Tcp --frontend-port 2222 --backend-port 22 --frontend-ip-name front",
      { name: "nat", frontendPort: 2222 },
      ...LB,
    ),
    step("network lb inbound-nat-rule list", [{ name: "nat" }], ...LB),
    step("network nic create -g tour -n nic --vnet-name vnet --subnet one", {
      NewNIC: { name: "nic", provisioningState: "Succeeded" },
    }),
    step("network nic show -g tour -n nic", { name: "nic", ipConfigurations: [{ name: "ipconfig1" }] }),
    step("network nic ip-config list -g tour --nic-name nic", [{ name: "ipconfig1" }]),
    step(
      "network nic ip-config address-pool add --nic-name nic --ip-config-name ipconfig1 --address-pool pool",
      { loadBalancerBackendAddressPools: [{ id: `${lb}/backendAddressPools/pool` }] },
      ...LB,
    ),
    step(
      "network nic ip-config address-pool remove --nic-name nic --ip-config-name ipconfig1 --address-pool pool",
      undefined,
      ...LB,
    ),
    step(create("ilb"), { name: "ilb" }, ...full, JSON.stringify(internal)),
    step(
      "network private-link-service create -g tour -n pls --vnet-name vnet --subnet two --lb-name ilb --lb-frontend-ip-configs in",
      { name: "pls", provisioningState: "Succeeded" },
    ),
    step("network private-link-service list -g tour", [{ name: "pls" }]),
    step("network private-link-service show -g tour -n pls", { loadBalancerFrontendIpConfigurations: [{}] }),
    step(
      `network private-endpoint create -g tour -n pe --vnet-name vnet --subnet one --connection-name link --private-connection-resource-id ${group}/providers/Microsoft.Network/privateLinkServices/pls`,
      { name: "pe", provisioningState: "Succeeded" },
    ),
    step("network private-endpoint list -g tour", [{ name: "pe" }]),
    step("network private-endpoint show -g tour -n pe", {
      privateLinkServiceConnections: [{ privateLinkServiceConnectionState: { status: "Approved" } }],
    }),
    step("network private-endpoint delete -g tour -n pe", undefined),
    step("network private-link-service delete -g tour -n pls", undefined),
    step("vmss list -g rg", [{ name: "vmss" }]),
    step("vmss show -g rg -n vmss", { name: "vmss", sku: { capacity: 3 } }),
    step("vmss list-instances -g rg -n vmss", [{ instanceId: "0" }, { instanceId: "1" }, { instanceId: "2" }]),
    step("vmss nic list -g rg --vmss-name vmss", [{}, {}, {}]),
    step("vmss scale -g rg -n vmss --new-capacity 4", { sku: { capacity: 4 } }),
    step("vmss show -g rg -n vmss", { sku: { capacity: 4 } }),
    step("role definition list --name Reader", [{ roleName: "Reader" }]),
    step("vm list -g rg", []),
    step("network lb inbound-nat-rule delete -n nat", undefined, ...LB),
    step("network lb outbound-rule delete -n out", undefined, ...LB),
    step("network lb rule delete -n rule", undefined, ...LB),
    step("network lb probe delete -n probe", undefined, ...LB),
    step("network lb address-pool delete -n pool2", undefined, ...LB),
    step("network lb delete -g tour -n lb", undefined),
    step("network nic delete -g tour -n nic", undefined),
    step("network public-ip delete -g tour -n pip", undefined),
    step("network nsg delete -g tour -n nsg", undefined),
    step("group delete -n tour --yes", undefined),
    step("group exists -n tour", false),
  ];
}
