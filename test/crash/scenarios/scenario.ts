/** A history in which the controller is killed, and what users and operators do in it. */
import type { ClusterShape, CrashBed, KubeObject } from "../crash-bed.ts";

export type Act = (bed: CrashBed) => void | Promise<void>;

export interface CrashScenario {
  readonly name: string;
  readonly shape?: ClusterShape;
  /** Of the controller. */
  readonly flags?: readonly string[];
  /** Done first, each carried out to its end by a controller that is not killed. */
  readonly before?: readonly Act[];
  /** The one thing that then happens. */
  readonly act: Act;
  /** It happens while no controller runs: to files that are read at the start. */
  readonly startsAfterAct?: boolean;
}

export const NAMESPACE = "/api/v1/namespaces/default";
const SERVICES = `${NAMESPACE}/services`;
const NODES = "/api/v1/nodes";
export const PREFIX = "service.beta.kubernetes.io/azure-load-balancer-";
export const INTERNAL = { [`${PREFIX}internal`]: "true" };
const OUT_OF_SERVICE = [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }];

/** Node ports are given, since chance would choose others in every run. */
const PORT = { port: 80, nodePort: 30_080 };
export const OTHER_PORT = { port: 8080, nodePort: 30_090 };

interface Wanted {
  readonly port?: { readonly port: number; readonly nodePort: number };
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

export function create(name: string, { port = PORT, annotations = {}, spec = {} }: Wanted = {}): Act {
  const whole = { type: "LoadBalancer", selector: { app: name }, ports: [port], ...spec };
  return (bed) => void bed.user("POST", SERVICES, { metadata: { name, annotations }, spec: whole });
}

/** Uses the address that another one has, and another port. */
export function createAtAddressOf(holder: string, name: string): Act {
  return (bed) => {
    const annotations = { [`${PREFIX}ipv4`]: addressOf(bed, holder) };
    return create(name, { port: OTHER_PORT, annotations })(bed);
  };
}

/** Until the bed is opened again, which writes the file anew. */
export function configure(change: Readonly<Record<string, unknown>>): Act {
  return (bed) => bed.configure(change);
}

export function patch(name: string, change: unknown): Act {
  return (bed) => void bed.user("PATCH", `${SERVICES}/${name}`, change);
}

export function remove(name: string): Act {
  return (bed) => void bed.user("DELETE", `${SERVICES}/${name}`);
}

export function patchNode(name: string, change: unknown): Act {
  return (bed) => void bed.user("PATCH", `${NODES}/${name}`, change);
}

export function removeNode(name: string): Act {
  return (bed) => void bed.user("DELETE", `${NODES}/${name}`);
}

export function addNode(name: string, address: string): Act {
  const status = { addresses: [{ type: "InternalIP", address }] };
  return (bed) => void bed.user("POST", NODES, { metadata: { name }, status });
}

export function doom(node: string): Act {
  return patchNode(node, { spec: { taints: OUT_OF_SERVICE } });
}

export function save(node: string): Act {
  return patchNode(node, { spec: { taints: null } });
}

/** As a node-problem-detector tells of a spot eviction. */
export function announceEviction(node: string): Act {
  return (bed) => {
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    bed.user("POST", `${NAMESPACE}/events`, {
      metadata: { name: `${node}.1`, namespace: "default" },
      involvedObject: { kind: "Node", name: node, uid: node },
      reason: "PreemptScheduled",
      type: "Warning",
      message: "Preempt Scheduled",
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    });
  };
}

function addressOf(bed: CrashBed, name: string): string {
  const { status } = bed.user("GET", `${SERVICES}/${name}`) as KubeObject;
  return (status as { loadBalancer: { ingress: readonly { ip: string }[] } }).loadBalancer.ingress[0]?.ip ?? "";
}
