/**
 * A load balancer of a large cluster, about 1 MB of JSON: a frontend, probe and rule for each of 300 Services, and 1,000 nodes
 * in one pool; with the public IPs that it refers to.
 */

export interface LargeLoadBalancer {
  /** Resources that must exist first. */
  readonly prerequisites: readonly { readonly path: string; readonly body: unknown }[];
  readonly path: string;
  readonly body: unknown;
}

const SERVICES = 300;
const NODES = 1000;

/** `group`: id of the resource group, which has the example cluster's VNet. */
export function largeLoadBalancer(group: string, location: string): LargeLoadBalancer {
  const network = `${group}/providers/Microsoft.Network`;
  const path = `${network}/loadBalancers/kubernetes`;
  const services = Array.from({ length: SERVICES }, (_, index) => `a${index.toString(16).padStart(32, "0")}`);
  const child = (collection: string, name: string) => ({ id: `${path}/${collection}/${name}` });
  return {
    path,
    prerequisites: services.map((service) => ({
      path: `${network}/publicIPAddresses/kubernetes-${service}`,
      body: { location, sku: { name: "Standard" }, properties: { publicIPAllocationMethod: "Static" } },
    })),
    body: {
      location,
      sku: { name: "Standard" },
      properties: {
        frontendIPConfigurations: services.map((service) => ({
          name: service,
          properties: { publicIPAddress: { id: `${network}/publicIPAddresses/kubernetes-${service}` } },
        })),
        backendAddressPools: [
          {
            name: "kubernetes",
            properties: {
              virtualNetwork: { id: `${network}/virtualNetworks/vnet` },
              loadBalancerBackendAddresses: Array.from({ length: NODES }, (_, index) => ({
                name: `vmss${index.toString(36).padStart(6, "0")}`,
                properties: { ipAddress: `10.240.${(index + 4) >> 8}.${(index + 4) & 255}` },
              })),
            },
          },
        ],
        probes: services.map((service, index) => ({
          name: `${service}-TCP-80`,
          properties: { protocol: "Tcp", port: 30_000 + index, intervalInSeconds: 5, probeThreshold: 2 },
        })),
        loadBalancingRules: services.map((service) => ({
          name: `${service}-TCP-80`,
          properties: {
            frontendIPConfiguration: child("frontendIPConfigurations", service),
            backendAddressPool: child("backendAddressPools", "kubernetes"),
            probe: child("probes", `${service}-TCP-80`),
            protocol: "Tcp",
            frontendPort: 80,
            backendPort: 80,
            enableFloatingIP: true,
            enableTcpReset: true,
            idleTimeoutInMinutes: 4,
          },
        })),
      },
    },
  };
}
