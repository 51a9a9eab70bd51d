/**
 * Resources in the cluster's group that the cluster does not own, to show whether a controller leaves them unchanged: a
 * rule in the shared security group, a static public address, and on the load balancer of a cluster named `kubernetes` a
 * frontend with its own pool of two machines, probe, rule and (Standard) outbound rule.
 */
import type { Account } from "../identity/account.ts";
import { machineResources } from "./machine.ts";
import { NAMES, seedScopeOf, type SeedResource } from "./scope.ts";
import type { Topology } from "./topology.ts";

const LOAD_BALANCER = "kubernetes";

export function foreignResources(account: Account, { sku }: Topology): SeedResource[] {
  const scope = seedScopeOf(account);
  const { network, compute, location } = scope;
  const skuName = sku === "standard" ? "Standard" : "Basic";
  const balancer = `${network}/loadBalancers/${LOAD_BALANCER}`;
  const address = (name: string): SeedResource => ({
    path: `${network}/publicIPAddresses/${name}`,
    body: {
      location,
      sku: { name: skuName },
      tags: { owner: "someone-else" },
      properties: { publicIPAllocationMethod: "Static", publicIPAddressVersion: "IPv4" },
    },
  });
  const set = `${compute}/availabilitySets/foreign`;
  const machines = [0, 1].flatMap((index) =>
    machineResources(scope, {
      path: `${compute}/virtualMachines/foreign-vm-${index}`,
      computerName: `foreign-vm-${index}`,
      ip: `10.241.0.${index + 10}`,
      subnet: NAMES.secondSubnet,
      set: { availabilitySet: { id: set } },
      zones: undefined,
      pools: [`${balancer}/backendAddressPools/foreign-pool`],
    }),
  );
  return [
    securityRule(`${network}/networkSecurityGroups/${NAMES.securityGroup}`),
    address("foreign-static"),
    address("foreign-ip"),
    ...(sku === "standard" ? [address("foreign-egress")] : []),
    { path: balancer, body: loadBalancer(network, balancer, location, skuName) },
    { path: set, body: { location, sku: { name: "Aligned" }, properties: { platformFaultDomainCount: 2 } } },
    ...machines,
  ];
}

function securityRule(group: string): SeedResource {
  return {
    path: `${group}/securityRules/foreign-ssh`,
    body: {
      properties: {
        access: "Allow",
        direction: "Inbound",
        priority: 200,
        protocol: "Tcp",
        sourceAddressPrefix: "1.2.3.4/32",
        sourcePortRange: "*",
        destinationAddressPrefix: "*",
        destinationPortRange: "22",
      },
    },
  };
}

function loadBalancer(network: string, balancer: string, location: string, skuName: string): unknown {
  const reference = (collection: string, name: string) => ({ id: `${balancer}/${collection}/${name}` });
  const frontend = (name: string, address: string) => ({
    name,
    properties: { publicIPAddress: { id: `${network}/publicIPAddresses/${address}` } },
  });
  const isStandard = skuName === "Standard";
  const outboundRule = {
    name: "foreign-outbound",
    properties: {
      frontendIPConfigurations: [reference("frontendIPConfigurations", "foreign-egress")],
      backendAddressPool: reference("backendAddressPools", "foreign-pool"),
      protocol: "All",
      allocatedOutboundPorts: 1024,
    },
  };
  return {
    location,
    sku: { name: skuName },
    tags: { owner: "someone-else" },
    properties: {
      frontendIPConfigurations: [
        frontend("foreign-frontend", "foreign-ip"),
        ...(isStandard ? [frontend("foreign-egress", "foreign-egress")] : []),
      ],
      backendAddressPools: [{ name: "foreign-pool", properties: {} }],
      probes: [{ name: "foreign-probe", properties: { protocol: "Tcp", port: 8443, intervalInSeconds: 15 } }],
      loadBalancingRules: [
        {
          name: "foreign-rule",
          properties: {
            frontendIPConfiguration: reference("frontendIPConfigurations", "foreign-frontend"),
            backendAddressPool: reference("backendAddressPools", "foreign-pool"),
            probe: reference("probes", "foreign-probe"),
            protocol: "Tcp",
            frontendPort: 8443,
            backendPort: 8443,
            ...(isStandard ? { disableOutboundSnat: true } : {}),
          },
        },
      ],
      outboundRules: isStandard ? [outboundRule] : [],
    },
  };
}
