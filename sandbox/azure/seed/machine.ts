/** A virtual machine and its NIC, as PUTs in order. The NIC is named after the node: `<node>-nic`. */
import { ipv6Configuration } from "./addresses.ts";
import { NAMES, type SeedScope, type SeedResource } from "./scope.ts";

export interface MachineWanted {
  readonly path: string;
  readonly computerName: string;
  readonly ip: string;
  readonly ipv6?: string;
  readonly subnet: string;
  /** Properties that place it in an availability set or scale set. */
  readonly set: Readonly<Record<string, unknown>>;
  readonly zones: readonly string[] | undefined;
  /** Ids of the backend pools that its NIC joins after the machine is created. */
  readonly pools?: readonly string[];
}

export function machineResources(scope: SeedScope, wanted: MachineWanted): SeedResource[] {
  const machine: SeedResource = {
    path: wanted.path,
    body: {
      location: scope.location,
      ...(wanted.zones === undefined ? {} : { zones: wanted.zones }),
      properties: {
        hardwareProfile: { vmSize: "Standard_D2s_v3" },
        osProfile: { computerName: wanted.computerName, adminUsername: "azureuser" },
        storageProfile: STORAGE_PROFILE,
        networkProfile: { networkInterfaces: [{ id: nicPath(scope, wanted), properties: { primary: true } }] },
        ...wanted.set,
      },
    },
  };
  const joined = wanted.pools === undefined ? [] : [nic(scope, wanted, wanted.pools)];
  return [nic(scope, wanted, []), machine, ...joined];
}

function nicPath({ network }: SeedScope, wanted: MachineWanted): string {
  return `${network}/networkInterfaces/${wanted.computerName}-nic`;
}

function nic(scope: SeedScope, wanted: MachineWanted, pools: readonly string[]): SeedResource {
  const subnet = { id: `${scope.network}/virtualNetworks/${NAMES.virtualNetwork}/subnets/${wanted.subnet}` };
  const membership = { loadBalancerBackendAddressPools: pools.map((id) => ({ id })) };
  return {
    path: nicPath(scope, wanted),
    body: {
      location: scope.location,
      properties: {
        ipConfigurations: [
          {
            name: "ipconfig1",
            properties: {
              primary: true,
              privateIPAddress: wanted.ip,
              privateIPAllocationMethod: "Static",
              subnet,
              ...(pools.length === 0 ? {} : membership),
            },
          },
          ...(wanted.ipv6 === undefined
            ? []
            : [ipv6Configuration({ privateIPAddress: wanted.ipv6, privateIPAllocationMethod: "Static", subnet })]),
        ],
      },
    },
  };
}

export const STORAGE_PROFILE = {
  imageReference: { publisher: "Canonical", offer: "ubuntu-24_04-lts", sku: "server", version: "latest" },
  osDisk: { createOption: "FromImage", caching: "ReadOnly", managedDisk: { storageAccountType: "Premium_LRS" } },
};
