/** Services and configs for tests of decisions: a plain one, with whatever the test is about laid over it. */
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import type { Service, ServicePort } from "../../src/core/model/kubernetes.ts";

export const PREFIX = "service.beta.kubernetes.io/";

export const CONFIG: ClusterConfig = {
  clusterName: "kubernetes",
  location: "westus2",
  subscriptionId: "sub",
  networkSubscriptionId: "sub",
  resourceGroup: "rg",
  loadBalancerResourceGroup: "rg",
  privateLinkServiceResourceGroup: "rg",
  loadBalancerName: "kubernetes",
  loadBalancers: [],
  fleetMax: 1,
  sku: "standard",
  vmType: "vmss",
  poolType: "nodeIP",
  vnetName: "vnet",
  vnetResourceGroup: "rg",
  subnetName: "subnet",
  securityGroupName: "nsg",
  securityGroupResourceGroup: "rg",
  primaryVmSet: "",
  excludeMasterFromStandardLB: true,
  disableOutboundSnat: false,
  maximumLoadBalancerRuleCount: 250,
  loadBalancerLimits: {
    frontends: 600,
    rules: 1_500,
    rulesPerInterface: 300,
    backends: 500_000,
    requestBytes: 4 * 1024 * 1024,
  },
  preConfiguredPools: "none",
  sharedProbe: undefined,
  enableIPTagMutation: false,
  enableAdminState: true,
  adminStateTaints: [],
  nodeEventNamespaces: ["default"],
  migratesPools: false,
  migratesByAction: false,
  addressSharing: "any",
  tags: {},
  systemTags: [],
  extendedLocation: undefined,
  azureStack: false,
};

export interface ServiceShape {
  readonly name?: string;
  readonly uid?: string;
  /** Keys without `service.beta.kubernetes.io/`, unless they have a prefix of their own. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Keys as they are. */
  readonly rawAnnotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<Service["spec"]>;
  /** Addresses in its status. */
  readonly ingress?: readonly string[];
}

/** `default/web` with TCP port 80 on node port 30080. */
export function aService(shape: ServiceShape = {}): Service {
  const { name = "web", uid, annotations = {}, rawAnnotations = {}, spec = {}, ingress = [] } = shape;
  return {
    metadata: {
      name,
      namespace: "default",
      uid: uid ?? uidOf(name),
      annotations: {
        ...rawAnnotations,
        ...Object.fromEntries(
          Object.entries(annotations).map(([key, value]) => [key.includes("/") ? key : PREFIX + key, value]),
        ),
      },
    },
    spec: { type: "LoadBalancer", ports: [aPort(80)], ...spec },
    status: { loadBalancer: { ingress: ingress.map((ip) => ({ ip, ipMode: "VIP" })) } },
  };
}

/** Node port 30000 more, as far as there are so many. */
export function aPort(port: number, more: Partial<ServicePort> = {}): ServicePort {
  return { protocol: "TCP", port, nodePort: 30_000 + (port % 2_768), ...more };
}

/** Different for different names, and looking like a UID. */
function uidOf(name: string): string {
  const hex = Array.from({ length: name.length }, (_, at) => name.charCodeAt(at).toString(16).padStart(2, "0")).join(
    "",
  );
  const digits = hex.padEnd(32, "0").slice(0, 32);
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
