/**
 * Users of LBCF: pods that come, go, fall ill and move, groups that gather them, and load balancers that the built-in
 * driver makes or shares with the cluster's Services.
 */
import type { KubeObject } from "../sandbox/kubernetes/model/contract.ts";
import { readDefinitions } from "../src/main/lbcf-definitions.ts";
import type { Chance } from "./chance.ts";
import type { ClusterSide } from "./cluster-side.ts";
import type { Timeline } from "./timeline.ts";

export const POD_SLOTS = 6;
export const GROUPS = ["web", "api"] as const;
/** Azure load balancers: two of LBCF's own, and one that the cluster's Services have. */
export const BALANCERS = ["inside", "outside", "shared"] as const;
export type Balancer = (typeof BALANCERS)[number];

const SPECS: Readonly<Record<Balancer, { readonly name: string; readonly frontend: string; readonly port: number }>> = {
  inside: { name: "pods-inside", frontend: "internal", port: 80 },
  outside: { name: "pods-outside", frontend: "public", port: 80 },
  shared: { name: "kubernetes", frontend: "public", port: 9_090 },
};
const BACKEND_PORT = 8_080;
const ENSURE = { policy: "Always", minPeriod: "2m" };

export type BackendDeed =
  | { readonly do: "pod"; readonly how: PodDeed; readonly slot: number }
  | { readonly do: "group"; readonly name: string; readonly balancers: readonly Balancer[] }
  | { readonly do: "balancer"; readonly name: Balancer; readonly rules: number }
  | { readonly do: "dropGroup"; readonly name: string }
  | { readonly do: "dropBalancer"; readonly name: Balancer };

export type PodDeed = "add" | "remove" | "terminate" | "ready" | "unready" | "move";

export function drawBackendDeed(chance: Chance): BackendDeed {
  const kind = chance.weighted({ pod: 12, group: 3, balancer: 3, dropGroup: 1, dropBalancer: 1 });
  switch (kind) {
    case "pod":
      return { do: kind, how: drawPodDeed(chance), slot: chance.below(POD_SLOTS) };
    case "group":
      return { do: kind, name: chance.pick(GROUPS), balancers: BALANCERS.filter(() => chance.isLucky(0.6)) };
    case "balancer":
      return { do: kind, name: chance.pick(BALANCERS), rules: 1 + chance.below(2) };
    case "dropGroup":
      return { do: kind, name: chance.pick(GROUPS) };
    case "dropBalancer":
      return { do: kind, name: chance.pick(BALANCERS) };
  }
}

function drawPodDeed(chance: Chance): PodDeed {
  return chance.weighted({ add: 6, remove: 2, terminate: 2, ready: 2, unready: 2, move: 1 });
}

const PODS = "/api/v1/namespaces/default/pods";
const LBCF = "/apis/lbcf.tkestack.io/v1beta1/namespaces/default";
const GRACE_MS = 30_000;

/** Read once: they are large. */
let definitions: ReturnType<typeof readDefinitions> | undefined;

export class BackendUsers {
  readonly #cluster: ClusterSide;
  readonly #timeline: Timeline;
  readonly #nodes: readonly string[];

  constructor(cluster: ClusterSide, timeline: Timeline, nodes: readonly string[]) {
    this.#cluster = cluster;
    this.#timeline = timeline;
    this.#nodes = nodes;
    definitions ??= readDefinitions();
    for (const definition of definitions)
      cluster.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  }

  perform(deed: BackendDeed): void {
    switch (deed.do) {
      case "pod":
        return this.#pod(deed.how, deed.slot);
      case "group":
        return this.#apply("backendgroups", deed.name, {
          loadBalancers: deed.balancers,
          pods: { ports: [{ port: BACKEND_PORT, protocol: "TCP" }], byLabel: { selector: { app: deed.name } } },
          ensurePolicy: ENSURE,
        });
      case "balancer": {
        const { name, frontend, port } = SPECS[deed.name];
        const rules = Array.from({ length: deed.rules }, (_, at) => `${port + at}:${BACKEND_PORT + at}/TCP`).join(",");
        return this.#apply("loadbalancers", deed.name, {
          lbDriver: "lbcf-azure",
          lbSpec: { name },
          attributes: { frontend, rules },
          ensurePolicy: ENSURE,
        });
      }
      case "dropGroup":
        return void this.#cluster.send("DELETE", `${LBCF}/backendgroups/${deed.name}`);
      case "dropBalancer":
        return void this.#cluster.send("DELETE", `${LBCF}/loadbalancers/${deed.name}`);
    }
  }

  #apply(plural: string, name: string, spec: object): void {
    const made = this.#cluster.send("POST", `${LBCF}/${plural}`, {
      apiVersion: "lbcf.tkestack.io/v1beta1",
      kind: plural === "loadbalancers" ? "LoadBalancer" : "BackendGroup",
      metadata: { name },
      spec,
    });
    if (made === undefined) this.#cluster.send("PATCH", `${LBCF}/${plural}/${name}`, { spec });
  }

  #pod(how: PodDeed, slot: number): void {
    const name = `pod-${slot}`;
    const path = `${PODS}/${name}`;
    const home = `10.240.100.${10 + slot}`;
    switch (how) {
      case "add": {
        const metadata = { name, labels: { app: GROUPS[slot % GROUPS.length] } };
        const nodeName = this.#nodes[slot % this.#nodes.length];
        const spec = { nodeName, containers: [{ name: "c", image: "i" }] };
        if (this.#cluster.send("POST", PODS, { metadata, spec })) this.#tell(path, home, "True");
        return;
      }
      case "remove":
        return this.#kill(path);
      case "terminate": {
        const { uid } = this.#cluster.send("DELETE", path)?.metadata ?? {};
        this.#timeline.after(GRACE_MS, () => {
          if (this.#cluster.object("pods", `default/${name}`)?.metadata.uid === uid) this.#kill(path);
        });
        return;
      }
      case "ready":
      case "unready":
        return this.#tell(path, undefined, how === "ready" ? "True" : "False");
      case "move": {
        const isHome = addressOfPod(this.#cluster.object("pods", `default/${name}`)) === home;
        return this.#tell(path, isHome ? `10.240.101.${10 + slot}` : home, "True");
      }
    }
  }

  #tell(path: string, podIP: string | undefined, ready: "True" | "False"): void {
    const conditions = ["Ready", "ContainersReady"].map((type) => ({ type, status: ready }));
    const address = podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] };
    this.#cluster.send("PATCH", `${path}/status`, { status: { phase: "Running", conditions, ...address } });
  }

  #kill(path: string): void {
    const query = { gracePeriodSeconds: "0" };
    const kind = "application/json";
    this.#cluster.request({ method: "DELETE", path, query, accept: kind, contentType: kind, body: undefined });
  }
}

export function addressOfPod(pod: KubeObject | undefined): string {
  return (pod?.["status"] as { podIP?: string } | undefined)?.podIP ?? "";
}
