/** The clusters that get answers which cannot be right, one for each kind of thing that the controller reads and writes. */
import type { ClusterShape, CrashBed } from "../../crash/crash-bed.ts";

const NAMESPACE = "/api/v1/namespaces/default";
const PREFIX = "service.beta.kubernetes.io/";
const INTERNAL = { "azure-load-balancer-internal": "true" };
const LOCAL = { externalTrafficPolicy: "Local", healthCheckNodePort: 31_000 };
const NODES = ["vmss000000", "vmss000001"] as const;

interface HostileService {
  /** Keys without `service.beta.kubernetes.io/`. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Annotations with which it asks for something else than before. */
  readonly changed?: (change: number) => Readonly<Record<string, string>>;
}

export interface HostileCluster {
  readonly name: string;
  readonly shape: ClusterShape;
  /** No change touches what these have. */
  readonly lasting: Readonly<Record<string, HostileService>>;
  /** Some changes take parts of these away. */
  readonly passing: Readonly<Record<string, HostileService>>;
  readonly prepare?: (bed: CrashBed) => void;
  /** Changes besides those of Services. */
  readonly change?: (bed: CrashBed, change: number) => void;
}

const picky: HostileService = {
  annotations: { "azure-allowed-ip-ranges": "192.0.2.0/32" },
  changed: (change) => ({ "azure-allowed-ip-ranges": `192.0.2.${change % 256}/32` }),
};

export const USUAL: HostileCluster = {
  name: "the usual cluster",
  shape: {},
  lasting: { external: { annotations: {} }, internal: { annotations: INTERNAL } },
  passing: { picky },
};

/** A Local Service has a pool of its own, which follows its pods: one stays, another comes and goes. */
export const SEVERAL: HostileCluster = {
  name: "several load balancers",
  shape: {
    topology: { nodes: NODES.length },
    cloudConfig: {
      multipleStandardLoadBalancerConfigurations: [
        { name: "kubernetes", primaryVMSet: "vmss" },
        { name: "second", primaryVMSet: "no-such-set", serviceNamespaceSelector: {} },
      ],
    },
  },
  lasting: {
    external: { annotations: on("kubernetes") },
    internal: { annotations: { ...INTERNAL, ...on("second") } },
    local: { annotations: on("second"), spec: LOCAL },
  },
  passing: { picky: { ...picky, annotations: { ...picky.annotations, ...on("second") } } },
  prepare: (bed) => addPod(bed, "stays", NODES[0]),
  change: (bed, change) => {
    if (change % 2 === 1) addPod(bed, "comes-and-goes", NODES[1]);
    else bed.user("DELETE", `${NAMESPACE}/pods/comes-and-goes`, { gracePeriodSeconds: 0 });
  },
};

/** Azure has them on pools of network interfaces alone. */
export const LINKED: HostileCluster = {
  name: "private link services",
  shape: { topology: { nodes: NODES.length, backendPool: "nodeIPConfiguration" } },
  lasting: {
    linked: link("link"),
    external: { annotations: {} },
  },
  passing: { picky: { ...link("other"), changed: (change) => ({ "azure-pls-fqdns": `c${change}.example.com` }) } },
};

function on(loadBalancer: string): Readonly<Record<string, string>> {
  return { "azure-load-balancer-configurations": loadBalancer };
}

function link(name: string): HostileService {
  return {
    annotations: { ...INTERNAL, "azure-pls-create": "true", "azure-pls-name": name, "azure-pls-visibility": "*" },
    changed: (change) => ({ "azure-pls-proxy-protocol": String(change % 2 === 1) }),
  };
}

function addPod(bed: CrashBed, name: string, nodeName: string): void {
  const spec = { nodeName, containers: [{ name: "web", image: "web" }] };
  bed.user("POST", `${NAMESPACE}/pods`, { metadata: { name, labels: { app: "local" } }, spec });
  const ip = `10.244.100.${name.length}`;
  const conditions = ["ContainersReady", "Ready"].map((type) => ({ type, status: "True" }));
  const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions };
  bed.user("PATCH", `${NAMESPACE}/pods/${name}/status`, { status });
}

export function createService(bed: CrashBed, name: string, { annotations, spec = {} }: HostileService): void {
  const whole = { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80 }], ...spec };
  bed.user("POST", `${NAMESPACE}/services`, { metadata: { name, annotations: prefixed(annotations) }, spec: whole });
}

/** Something of every resource, so that each is written while some answer is invalid. */
export function changeAll(bed: CrashBed, cluster: HostileCluster, change: number): void {
  for (const [name, { changed }] of Object.entries({ ...cluster.lasting, ...cluster.passing })) {
    const annotations = prefixed({
      "azure-load-balancer-tcp-idle-timeout": String(5 + (change % 20)),
      "azure-pip-tags": `changes=${change}`,
      ...changed?.(change),
    });
    bed.user("PATCH", `${NAMESPACE}/services/${name}`, { metadata: { annotations } });
  }
  bed.user("PATCH", "/api/v1/nodes/vmss000000", { metadata: { labels: { changes: String(change) } } });
  cluster.change?.(bed, change);
}

function prefixed(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).map(([key, value]) => [PREFIX + key, value]));
}
