/**
 * What users and operators do during a soak: Services, nodes and pods come, change and go; nodes are doomed and saved. An
 * action that is refused, or that a fault hits, is simply lost.
 */
import { BACKEND_GROUPS, LOAD_BALANCERS } from "../../src/controller/lbcf/objects/resources.ts";
import type { KubeClient, NewObject } from "../../src/kube/client/kube-client.ts";
import { isFailure } from "../../src/kube/client/kube-failure.ts";
import { EVENTS, NODES, PODS, SERVICES, type KubeObject, type Resource } from "../../src/kube/client/resources.ts";

const INTERNAL = "service.beta.kubernetes.io/azure-load-balancer-internal";
const VISITOR = { addresses: [{ type: "InternalIP", address: "10.240.8.8" }] };
const OUT_OF_SERVICE = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };
const MOST_PODS = 20;
const NAMESPACE = "default";
const POD_LABELS = { app: "soak" };
/** The Azure load balancer of the pods. */
export const POD_LOAD_BALANCER = "soak-pods";

export interface LoadOptions {
  readonly client: KubeClient;
  /** Most Services at a time. */
  readonly services: number;
  /** The nodes that Azure has machines for. */
  readonly nodes: readonly string[];
  readonly random: () => number;
}

export class Load {
  readonly #client: KubeClient;
  readonly #random: () => number;
  readonly #services: number;
  readonly #nodes: readonly string[];
  #notices = 0;

  constructor({ client, services, nodes, random }: LoadOptions) {
    this.#client = client;
    this.#services = services;
    this.#nodes = nodes;
    this.#random = random;
  }

  /** What the pods are registered by. */
  async begin(): Promise<void> {
    const attributes = { frontend: "internal", rules: "80:8080/TCP" };
    const spec = { lbDriver: "lbcf-azure", lbSpec: { name: POD_LOAD_BALANCER }, attributes };
    await this.#client.create(LOAD_BALANCERS, named("soak", { spec }));
    const pods = { ports: [{ port: 8080 }], byLabel: { selector: POD_LABELS } };
    await this.#client.create(BACKEND_GROUPS, named("soak", { spec: { loadBalancers: ["soak"], pods } }));
  }

  async act(): Promise<void> {
    try {
      await this.#draw()();
    } catch (error) {
      if (isFailure(error, "invalid", "unsupported") || !isFailure(error)) throw error;
    }
  }

  /** Everything that was made here. */
  async end(): Promise<void> {
    for (const { metadata } of (await this.#client.list(SERVICES, { namespace: NAMESPACE })).items) {
      if (metadata.name.startsWith("soak-")) await this.#remove(SERVICES, metadata.name);
    }
    await this.#remove(BACKEND_GROUPS, "soak");
    await this.#remove(LOAD_BALANCERS, "soak");
  }

  /** One action, as often as its weight says. */
  #draw(): () => Promise<unknown> {
    const service = `soak-${this.#number(this.#services)}`;
    const pod = `soak-${this.#number(MOST_PODS)}`;
    const node = this.#nodes[this.#number(this.#nodes.length)] ?? "";
    const actions: readonly (readonly [number, () => Promise<unknown>])[] = [
      [30, () => this.#client.create(SERVICES, this.#manifest(service))],
      [10, () => this.#change(SERVICES, service, { metadata: { annotations: this.#side() } })],
      [8, () => this.#change(SERVICES, service, { spec: { ports: [this.#port()] } })],
      [12, () => this.#remove(SERVICES, service)],
      [4, () => this.#client.create(NODES, { metadata: { name: "visitor" }, status: VISITOR })],
      [4, () => this.#client.delete(NODES, { name: "visitor" })],
      [4, () => this.#client.patch(NODES, { name: node }, { merge: { spec: { taints: [OUT_OF_SERVICE] } } })],
      [2, () => this.#client.create(EVENTS, this.#evictionNotice(node))],
      [6, () => this.#client.patch(NODES, { name: node }, { merge: { spec: { taints: null } } })],
      [10, () => this.#client.create(PODS, podNamed(pod))],
      [6, () => this.#remove(PODS, pod)],
      [4, () => this.#readdress(pod)],
    ];
    let ticket = this.#random() * actions.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, action] of actions) if ((ticket -= weight) < 0) return action;
    return () => Promise.resolve();
  }

  #change(resource: Resource, name: string, merge: object): Promise<KubeObject> {
    return this.#client.patch(resource, { namespace: NAMESPACE, name }, { merge });
  }

  async #remove(resource: Resource, name: string): Promise<void> {
    await this.#client.delete(resource, { namespace: NAMESPACE, name });
  }

  /** As a pod sandbox that is made anew. */
  async #readdress(name: string): Promise<void> {
    const ip = `10.244.200.${1 + this.#number(250)}`;
    const place = { namespace: NAMESPACE, name, subresource: "status" } as const;
    await this.#client.patch(PODS, place, { merge: { status: { podIP: ip, podIPs: [{ ip }] } } });
  }

  #manifest(name: string): NewObject {
    const spec = { type: "LoadBalancer", selector: { app: name }, ports: [this.#port()] };
    return { metadata: { name, namespace: NAMESPACE, annotations: this.#side() }, spec };
  }

  #evictionNotice(node: string): NewObject {
    return {
      metadata: { name: `${node}.${++this.#notices}`, namespace: NAMESPACE },
      involvedObject: { kind: "Node", name: node, uid: node },
      reason: "PreemptScheduled",
      type: "Warning",
      message: "Preempt Scheduled",
      lastTimestamp: `${new Date().toISOString().slice(0, 19)}Z`,
      count: 1,
    };
  }

  #port(): { port: number } {
    return { port: 80 + this.#number(3) };
  }

  #side(): Record<string, string> {
    return { [INTERNAL]: this.#random() < 0.5 ? "true" : "false" };
  }

  #number(below: number): number {
    return Math.floor(this.#random() * below);
  }
}

function named(name: string, rest: object): NewObject {
  return { metadata: { name, namespace: NAMESPACE }, ...rest };
}

function podNamed(name: string): NewObject {
  const spec = { containers: [{ name: "web", image: "web" }] };
  return { metadata: { name, namespace: NAMESPACE, labels: POD_LABELS }, spec };
}
