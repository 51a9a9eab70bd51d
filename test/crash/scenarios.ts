/**
 * The histories in which the controller is killed: what stands before (served and at rest), and the one thing that a
 * user or an operator then does.
 */
import type { CrashBed, KubeObject } from "./crash-bed.ts";

export interface CrashScenario {
  readonly name: string;
  /** Done first, and carried out to its end by a controller that nobody kills. */
  readonly before: (bed: CrashBed) => void;
  readonly act: (bed: CrashBed) => void;
}

const SERVICES = "/api/v1/namespaces/default/services";
const NODES = "/api/v1/nodes";
const PREFIX = "service.beta.kubernetes.io/azure-load-balancer-";
const INTERNAL = { [`${PREFIX}internal`]: "true" };
const OUT_OF_SERVICE = [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }];

/** Node ports are given, since chance would choose others in every run. */
const PORT = { port: 80, nodePort: 30_080 };
const OTHER_PORT = { port: 8080, nodePort: 30_090 };

export const SCENARIOS: readonly CrashScenario[] = [
  {
    name: "create external",
    before: () => {},
    act: (bed) => create(bed, "web"),
  },
  {
    name: "create internal",
    before: () => {},
    act: (bed) => create(bed, "web", { annotations: INTERNAL }),
  },
  {
    name: "create two at once",
    before: () => {},
    act: (bed) => {
      create(bed, "web");
      create(bed, "other", { port: OTHER_PORT, annotations: INTERNAL });
    },
  },
  {
    name: "change a port",
    before: (bed) => create(bed, "web"),
    act: (bed) => patch(bed, "web", { spec: { ports: [OTHER_PORT] } }),
  },
  {
    name: "flip to internal",
    before: (bed) => create(bed, "web"),
    act: (bed) => patch(bed, "web", { metadata: { annotations: INTERNAL } }),
  },
  {
    name: "flip to external",
    before: (bed) => create(bed, "web", { annotations: INTERNAL }),
    act: (bed) => patch(bed, "web", { metadata: { annotations: { [`${PREFIX}internal`]: null } } }),
  },
  {
    name: "share an address",
    before: (bed) => create(bed, "web"),
    act: (bed) => create(bed, "other", { port: OTHER_PORT, annotations: { [`${PREFIX}ipv4`]: addressOf(bed, "web") } }),
  },
  {
    name: "delete",
    before: (bed) => create(bed, "web"),
    act: (bed) => remove(bed, SERVICES, "web"),
  },
  {
    name: "delete internal, the last of its load balancer",
    before: (bed) => create(bed, "web", { annotations: INTERNAL }),
    act: (bed) => remove(bed, SERVICES, "web"),
  },
  {
    name: "delete one of two",
    before: (bed) => {
      create(bed, "web");
      create(bed, "other", { port: OTHER_PORT });
    },
    act: (bed) => remove(bed, SERVICES, "web"),
  },
  {
    name: "no load balancer any more",
    before: (bed) => create(bed, "web"),
    act: (bed) => patch(bed, "web", { spec: { type: "ClusterIP" } }),
  },
  {
    name: "a node comes",
    before: (bed) => create(bed, "web"),
    act: (bed) => addNode(bed, "newcomer", "10.240.8.8"),
  },
  {
    name: "a node goes",
    before: (bed) => create(bed, "web"),
    act: (bed) => remove(bed, NODES, "vmss000001"),
  },
  {
    name: "a node is doomed",
    before: (bed) => create(bed, "web"),
    act: (bed) => bed.user("PATCH", `${NODES}/vmss000001`, { spec: { taints: OUT_OF_SERVICE } }),
  },
  {
    name: "a doomed node is saved",
    before: (bed) => {
      create(bed, "web");
      bed.user("PATCH", `${NODES}/vmss000001`, { spec: { taints: OUT_OF_SERVICE } });
    },
    act: (bed) => bed.user("PATCH", `${NODES}/vmss000001`, { spec: { taints: null } }),
  },
];

interface Wanted {
  readonly port?: { readonly port: number; readonly nodePort: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

function create(bed: CrashBed, name: string, { port = PORT, annotations = {} }: Wanted = {}): void {
  bed.user("POST", SERVICES, {
    metadata: { name, annotations },
    spec: { type: "LoadBalancer", selector: { app: name }, ports: [port] },
  });
}

function patch(bed: CrashBed, name: string, change: unknown): void {
  bed.user("PATCH", `${SERVICES}/${name}`, change);
}

function remove(bed: CrashBed, collection: string, name: string): void {
  bed.user("DELETE", `${collection}/${name}`);
}

function addNode(bed: CrashBed, name: string, address: string): void {
  bed.user("POST", NODES, { metadata: { name }, status: { addresses: [{ type: "InternalIP", address }] } });
}

function addressOf(bed: CrashBed, name: string): string {
  const { status } = bed.user("GET", `${SERVICES}/${name}`) as KubeObject;
  return (status as { loadBalancer: { ingress: readonly { ip: string }[] } }).loadBalancer.ingress[0]?.ip ?? "";
}
