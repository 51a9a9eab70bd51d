/**
 * The example cluster as ARM resources: a group, a network, a security group and N nodes. Pure: returns the PUTs and the
 * node names. The resource names are those in the cloud config.
 *
 *   vm type  | resources                                        | node name          | provider id ends in
 *   ---------|--------------------------------------------------|--------------------|----------------------------------------
 *   vmss     | uniform scale set `vmss`, N instances            | vmss + base 36     | virtualMachineScaleSets/vmss/virtualMachines/N
 *   vmssflex | flexible scale set `vmss`, N machines with NICs  | vmss + base 36     | virtualMachines/vmss_<hash>
 *   standard | availability set `agents`, N machines with NICs  | agent-N            | virtualMachines/agent-N
 */
import { createHash } from "node:crypto";

import type { Account } from "../identity/account.ts";
import { ipv6Configuration, networkPrefixes, nodeAddress, SUBNET_NAMES, subnetPrefixes } from "./addresses.ts";
import { machineResources, STORAGE_PROFILE } from "./machine.ts";
import { NAMES, seedScopeOf, type SeedScope, type SeedResource } from "./scope.ts";

export const VM_TYPES = ["vmss", "vmssflex", "standard"] as const;
type VmType = (typeof VM_TYPES)[number];
export const BACKEND_POOL_TYPES = ["nodeIP", "nodeIPConfiguration"] as const;
type BackendPoolType = (typeof BACKEND_POOL_TYPES)[number];
export const SKUS = ["standard", "basic"] as const;
export type Sku = (typeof SKUS)[number];

export interface Topology {
  readonly nodes: number;
  readonly vmType: VmType;
  readonly backendPool: BackendPoolType;
  readonly sku: Sku;
  /** Also resources that the cluster does not own. */
  readonly foreign: boolean;
  /** The network, its subnets, machines and nodes have IPv6 addresses, too. */
  readonly dualStack: boolean;
}

export const DEFAULT_TOPOLOGY: Topology = {
  nodes: 3,
  vmType: "vmss",
  backendPool: "nodeIP",
  sku: "standard",
  foreign: false,
  dualStack: false,
};

/** Fills in defaults; Basic load balancers default to pools of network interfaces. */
export function wholeTopology(wanted: Partial<Topology>): Topology {
  const pool = wanted.sku === "basic" ? ({ backendPool: "nodeIPConfiguration" } as const) : {};
  return { ...DEFAULT_TOPOLOGY, ...pool, ...wanted };
}

export interface SeedNode {
  /** Kubernetes node name. */
  readonly name: string;
  readonly ip: string;
  /** With dual stack. */
  readonly ipv6?: string;
  readonly providerId: string;
  /** Name of its scale set or availability set. */
  readonly vmSet: string;
  /** The node's zone label: the zone, or the fault domain of a machine without one. */
  readonly zone: string;
}

/** Without nodes, only the network. */
export function topologyResources(account: Account, topology: Topology): SeedResource[] {
  const scope = seedScopeOf(account);
  return [...network(scope, topology), ...(topology.nodes === 0 ? [] : machines(scope, topology))];
}

/** Every node, in order; Azure assigns addresses from the fifth one of a subnet on. */
export function topologyNodes(account: Account, topology: Topology): SeedNode[] {
  const compute = seedScopeOf(account).compute.replace(account.resourceGroup, account.resourceGroup.toLowerCase());
  return Array.from({ length: topology.nodes }, (_, index) => ({
    name: nodeName(topology.vmType, index),
    ip: nodeAddress(index, "ipv4"),
    ...(topology.dualStack && { ipv6: nodeAddress(index, "ipv6") }),
    providerId: `azure://${compute}/${machinePath(topology.vmType, index)}`,
    vmSet: topology.vmType === "standard" ? NAMES.availabilitySet : scaleSetOf(index),
    zone: topology.vmType === "standard" ? String(index % 2) : `${account.location}-${(index % 3) + 1}`,
  }));
}

function network({ group, network, location }: SeedScope, { dualStack }: Topology): SeedResource[] {
  const securityGroup = `${network}/networkSecurityGroups/${NAMES.securityGroup}`;
  const subnets = SUBNET_NAMES.map((name) => ({
    name,
    properties: {
      ...subnetPrefixes(name, dualStack),
      networkSecurityGroup: { id: securityGroup },
      privateLinkServiceNetworkPolicies: "Disabled",
    },
  }));
  return [
    { path: group, body: { location } },
    { path: securityGroup, body: { location, properties: { securityRules: [] } } },
    {
      path: `${network}/virtualNetworks/${NAMES.virtualNetwork}`,
      body: {
        location,
        properties: { addressSpace: { addressPrefixes: networkPrefixes(dualStack) }, subnets },
      },
    },
  ];
}

function machines(scope: SeedScope, topology: Topology): SeedResource[] {
  const each = (make: (index: number) => SeedResource[]): SeedResource[] =>
    Array.from({ length: topology.nodes }, (_, index) => make(index)).flat();
  switch (topology.vmType) {
    case "vmss":
      return scaleSets(topology.nodes).map(({ name, size }) => uniformScaleSet(scope, name, size, topology.dualStack));
    case "vmssflex":
      return [
        ...scaleSets(topology.nodes).map(({ name }) => flexibleScaleSet(scope, name)),
        ...each((index) => machine(scope, topology, "vmssflex", index)),
      ];
    case "standard":
      return [availabilitySet(scope), ...each((index) => machine(scope, topology, "standard", index))];
  }
}

/** Azure's limit. */
const MOST_IN_A_SCALE_SET = 1_000;

/** The first has the plain name; further ones, for more nodes, are numbered. */
function scaleSets(nodes: number): { readonly name: string; readonly size: number }[] {
  return Array.from({ length: Math.ceil(nodes / MOST_IN_A_SCALE_SET) }, (_, number) => ({
    name: scaleSetOf(number * MOST_IN_A_SCALE_SET),
    size: Math.min(MOST_IN_A_SCALE_SET, nodes - number * MOST_IN_A_SCALE_SET),
  }));
}

/** The scale set of a node. */
function scaleSetOf(index: number): string {
  const number = Math.floor(index / MOST_IN_A_SCALE_SET);
  return number === 0 ? NAMES.scaleSet : `${NAMES.scaleSet}${number + 1}`;
}

function uniformScaleSet(
  { compute, network, location }: SeedScope,
  name: string,
  size: number,
  dualStack: boolean,
): SeedResource {
  const subnet = { id: `${network}/virtualNetworks/${NAMES.virtualNetwork}/subnets/${NAMES.subnet}` };
  return {
    path: `${compute}/virtualMachineScaleSets/${name}`,
    body: {
      location,
      sku: { name: "Standard_D2s_v3", tier: "Standard", capacity: size },
      zones: ["1", "2", "3"],
      properties: {
        orchestrationMode: "Uniform",
        overprovision: false,
        upgradePolicy: { mode: "Manual" },
        virtualMachineProfile: {
          osProfile: { computerNamePrefix: name, adminUsername: "azureuser" },
          storageProfile: STORAGE_PROFILE,
          networkProfile: {
            networkInterfaceConfigurations: [
              {
                name,
                properties: {
                  primary: true,
                  enableIPForwarding: true,
                  ipConfigurations: [
                    { name: "ipconfig1", properties: { primary: true, subnet } },
                    ...(dualStack ? [ipv6Configuration({ subnet })] : []),
                  ],
                },
              },
            ],
          },
        },
      },
    },
  };
}

function flexibleScaleSet({ compute, location }: SeedScope, name: string): SeedResource {
  return {
    path: `${compute}/virtualMachineScaleSets/${name}`,
    body: {
      location,
      zones: ["1", "2", "3"],
      properties: { orchestrationMode: "Flexible", platformFaultDomainCount: 1 },
    },
  };
}

function availabilitySet({ compute, location }: SeedScope): SeedResource {
  return {
    path: `${compute}/availabilitySets/${NAMES.availabilitySet}`,
    body: {
      location,
      sku: { name: "Aligned" },
      properties: { platformFaultDomainCount: 2, platformUpdateDomainCount: 5 },
    },
  };
}

function machine(
  scope: SeedScope,
  { dualStack }: Topology,
  vmType: "vmssflex" | "standard",
  index: number,
): SeedResource[] {
  const { compute } = scope;
  const set =
    vmType === "vmssflex"
      ? { virtualMachineScaleSet: { id: `${compute}/virtualMachineScaleSets/${scaleSetOf(index)}` } }
      : { availabilitySet: { id: `${compute}/availabilitySets/${NAMES.availabilitySet}` } };
  return machineResources(scope, {
    path: `${compute}/${machinePath(vmType, index)}`,
    computerName: nodeName(vmType, index),
    ip: nodeAddress(index, "ipv4"),
    ...(dualStack && { ipv6: nodeAddress(index, "ipv6") }),
    subnet: NAMES.subnet,
    set,
    zones: vmType === "vmssflex" ? [String((index % 3) + 1)] : undefined,
  });
}

function nodeName(vmType: VmType, index: number): string {
  if (vmType === "standard") return `agent-${index}`;
  return `${scaleSetOf(index)}${(index % MOST_IN_A_SCALE_SET).toString(36).padStart(6, "0")}`;
}

function machinePath(vmType: VmType, index: number): string {
  if (vmType === "vmss")
    return `virtualMachineScaleSets/${scaleSetOf(index)}/virtualMachines/${index % MOST_IN_A_SCALE_SET}`;
  if (vmType === "standard") return `virtualMachines/${nodeName(vmType, index)}`;
  const hash = createHash("sha256").update(nodeName(vmType, index)).digest("hex").slice(0, 8);
  return `virtualMachines/${scaleSetOf(index)}_${hash}`;
}
