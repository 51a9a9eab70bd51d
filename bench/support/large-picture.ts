/** What a controller would hold in memory of a large cluster: Services on one load balancer, and nodes in its pool. */
import { nodeFinder } from "../../src/core/admin-state/reconcile-admin-state.ts";
import type { LoadBalancer, PublicIP } from "../../src/core/model/arm.ts";
import { serviceKey, type Node, type Service } from "../../src/core/model/kubernetes.ts";
import { baseName } from "../../src/core/model/names.ts";
import type { Picture } from "../../src/core/view/picture.ts";
import type { Standing } from "../../src/core/view/standing.ts";
import { aService, CONFIG } from "../../test/support/core-fixtures.ts";

const ROOT = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network";
const BALANCER = `${ROOT}/loadBalancers/kubernetes`;
/** One in so many is refused, one is new. */
const REFUSED_OF = 50;
const NEW_OF = 40;

export function largePicture(services: number, nodes: number): Picture {
  const all = Array.from({ length: services }, (_, at) => serviceOf(at));
  const machines = Array.from({ length: nodes }, (_, at) => nodeOf(at));
  return {
    config: CONFIG,
    classFilter: undefined,
    services: all,
    findAny: () => undefined,
    nodes: machines,
    loadBalancers: [balancerOf(all, machines)],
    publicIPs: all.map((service, at): PublicIP => {
      const name = `kubernetes-${baseName(service.metadata.uid)}`;
      return { id: `${ROOT}/publicIPAddresses/${name}`, name, properties: { ipAddress: addressOf(at) } };
    }),
    securityGroup: undefined,
    endpointSlices: [],
    standings: new Map(all.map((service, at) => [serviceKey(service), standingOf(at)])),
    nodeOf: nodeFinder(machines),
    unready: undefined,
  };
}

function serviceOf(at: number): Service {
  const uid = `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
  const service = aService({ name: `service-${at}`, uid });
  return { ...service, status: { loadBalancer: { ingress: [{ ip: addressOf(at) }] } } };
}

function addressOf(at: number): string {
  return `198.18.${Math.floor(at / 250)}.${(at % 250) + 1}`;
}

function nodeOf(at: number): Node {
  const name = `node-${String(at).padStart(5, "0")}`;
  const address = `10.${Math.floor(at / 62_500)}.${Math.floor(at / 250) % 250}.${(at % 250) + 1}`;
  return { metadata: { name }, spec: {}, status: { addresses: [{ type: "InternalIP", address }] } } as unknown as Node;
}

function balancerOf(services: readonly Service[], nodes: readonly Node[]): LoadBalancer {
  const bases = services.map(({ metadata }) => baseName(metadata.uid));
  const pool = { id: `${BALANCER}/backendAddressPools/kubernetes` };
  return {
    id: BALANCER,
    name: "kubernetes",
    properties: {
      frontendIPConfigurations: bases.map((name) => ({
        id: `${BALANCER}/frontendIPConfigurations/${name}`,
        name,
        properties: { publicIPAddress: { id: `${ROOT}/publicIPAddresses/kubernetes-${name}` } },
      })),
      loadBalancingRules: bases.map((base) => ({
        name: `${base}-TCP-80`,
        properties: {
          protocol: "Tcp",
          frontendPort: 80,
          backendPort: 80,
          enableFloatingIP: true,
          frontendIPConfiguration: { id: `${BALANCER}/frontendIPConfigurations/${base}` },
          backendAddressPool: pool,
        },
      })),
      backendAddressPools: [
        {
          ...pool,
          name: "kubernetes",
          properties: {
            loadBalancerBackendAddresses: nodes.map(({ metadata, status }) => ({
              name: metadata.name,
              properties: { ipAddress: status.addresses?.[0]?.address ?? "" },
            })),
          },
        },
      ],
    },
  };
}

function standingOf(at: number): Standing {
  if (at % REFUSED_OF === 1) {
    return {
      state: "refused",
      sinceMs: 0,
      reason: "InvalidAnnotation",
      message: `azure-pip-name: "pip-${at}" is not there`,
    };
  }
  return { state: at % NEW_OF === 2 ? "pending" : "served", sinceMs: 0 };
}
