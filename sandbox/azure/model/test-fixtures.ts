/** Bodies and prepared states for tests of the model, all in `eastus`. */
import assert from "node:assert/strict";
import type { OptionOverrides } from "./index.ts";
import { COMPUTE, NETWORK, azureWithGroup, type Answer, type TestAzure } from "./test-azure.ts";

export const LB = `${NETWORK}/loadBalancers/lb`;
export const VNET = `${NETWORK}/virtualNetworks/vnet`;
export const SUBNET = `${VNET}/subnets/nodes`;
export const NSG = `${NETWORK}/networkSecurityGroups/nsg`;

type Json = Record<string, unknown>;

export function pipId(name: string): string {
  return `${NETWORK}/publicIPAddresses/${name}`;
}

export function nicId(name: string): string {
  return `${NETWORK}/networkInterfaces/${name}`;
}

export function poolId(pool: string, lb = LB): string {
  return `${lb}/backendAddressPools/${pool}`;
}

/** The pool of `lb`, unless a test makes its own. */
export const POOL = poolId("pool");

export const PUBLIC_IP = {
  location: "eastus",
  sku: { name: "Standard" },
  properties: { publicIPAllocationMethod: "Static" },
};

export const VIRTUAL_NETWORK = {
  location: "eastus",
  properties: {
    addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
    subnets: [
      { name: "nodes", properties: { addressPrefix: "10.0.0.0/24" } },
      { name: "links", properties: { addressPrefix: "10.0.1.0/24", privateLinkServiceNetworkPolicies: "Disabled" } },
    ],
  },
};

export function frontend(name: string, pip: string): Json {
  return { name, properties: { publicIPAddress: { id: pipId(pip) } } };
}

export function internalFrontend(name: string, more: Json = {}): Json {
  return { name, properties: { subnet: { id: SUBNET }, ...more } };
}

export function rule(name: string, more: Json = {}, lb = LB): Json {
  return {
    name,
    properties: {
      protocol: "Tcp",
      frontendPort: 80,
      backendPort: 80,
      frontendIPConfiguration: { id: `${lb}/frontendIPConfigurations/front` },
      backendAddressPool: { id: poolId("pool", lb) },
      ...more,
    },
  };
}

export function member(name: string, ipAddress: string, more: Json = {}): Json {
  return { name, properties: { ipAddress, virtualNetwork: { id: VNET }, ...more } };
}

export interface LbParts {
  readonly sku?: string;
  readonly frontends?: readonly Json[];
  readonly pools?: readonly Json[];
  readonly rules?: readonly Json[];
  readonly probes?: readonly Json[];
  readonly natRules?: readonly Json[];
  readonly outboundRules?: readonly Json[];
}

/** A load balancer with the frontend `front` on `pip1` and the pool `pool`, unless told otherwise. */
export function lbBody(parts: LbParts = {}): Json {
  return {
    location: "eastus",
    sku: { name: parts.sku ?? "Standard" },
    properties: {
      frontendIPConfigurations: parts.frontends ?? [frontend("front", "pip1")],
      backendAddressPools: parts.pools ?? [{ name: "pool" }],
      loadBalancingRules: parts.rules ?? [],
      probes: parts.probes ?? [],
      inboundNatRules: parts.natRules ?? [],
      outboundRules: parts.outboundRules ?? [],
    },
  };
}

export function nicBody(pools: readonly string[] = [], more: Json = {}): Json {
  const properties = { subnet: { id: SUBNET }, loadBalancerBackendAddressPools: pools.map((id) => ({ id })), ...more };
  return { location: "eastus", properties: { ipConfigurations: [{ name: "ipconfig", properties }] } };
}

export function scaleSetBody(capacity: number, pools: readonly string[] = [], more: Json = {}): Json {
  const ip = {
    name: "ip",
    properties: { subnet: { id: SUBNET }, loadBalancerBackendAddressPools: pools.map((id) => ({ id })) },
  };
  const nic = { name: "nic", properties: { primary: true, ipConfigurations: [ip] } };
  return {
    location: "eastus",
    sku: { name: "Standard_D2s_v3", capacity },
    properties: {
      orchestrationMode: "Uniform",
      upgradePolicy: { mode: "Manual" },
      virtualMachineProfile: {
        osProfile: { computerNamePrefix: "node" },
        networkProfile: { networkInterfaceConfigurations: [nic] },
      },
      ...more,
    },
  };
}

export const SCALE_SET = `${COMPUTE}/virtualMachineScaleSets/vmss`;

/** Sends PUTs that must succeed. */
export function build(azure: TestAzure, ...writes: readonly (readonly [string, unknown])[]): TestAzure {
  for (const [path, body] of writes) {
    const answer = azure.put(path, body);
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
  }
  azure.get(NETWORK);
  return azure;
}

/** A group with the network, three public addresses, and the load balancer `lb`. */
export function azureWithLoadBalancer(parts: LbParts = {}, options: OptionOverrides = {}): TestAzure {
  const azure = azureWithGroup(options);
  const sku = { name: parts.sku ?? "Standard" };
  const pips = ["pip1", "pip2", "pip3"].map((name): [string, unknown] => [pipId(name), { ...PUBLIC_IP, sku }]);
  return build(azure, [VNET, VIRTUAL_NETWORK], ...pips, [LB, lbBody(parts)]);
}

/** The error code of an answer: that of its first detail, if there is one. */
export function codeOf(answer: Answer): string | undefined {
  return answer.body?.error?.details?.[0]?.code ?? answer.body?.error?.code;
}
