/**
 * Users of LBCF (lb-controlling-framework): BackendGroups that select pods, LoadBalancers that the built-in driver creates
 * or shares with the cluster's Services, and a Bind, which is both in one object.
 */
import { readDefinitions } from "../../src/main/lbcf-definitions.ts";
import type { Random } from "../environment/random.ts";
import type { SimulatedKubernetes } from "../environment/simulated-kubernetes.ts";
import { APPS, drawPodAction, POD_SLOTS, type PodAction, type Pods } from "./pods.ts";

const GROUPS = APPS;
/** LoadBalancers: two that have an Azure load balancer of their own, and one in that of the cluster's Services. */
export const BALANCERS = ["inside", "outside", "shared"] as const;
type Balancer = (typeof BALANCERS)[number];

interface BalancerSpec {
  readonly name: string;
  readonly frontend: string;
  readonly port: number;
}

const SPECS: Readonly<Record<Balancer, BalancerSpec>> = {
  inside: { name: "pods-inside", frontend: "internal", port: 80 },
  outside: { name: "pods-outside", frontend: "public", port: 80 },
  shared: { name: "kubernetes", frontend: "public", port: 9_090 },
};
const BACKEND_PORT = 8_080;
/** The only Bind, and the app whose pods it selects. */
export const BIND = { name: "front", app: "web" } as const;
export const BOUND = ["indoors", "outdoors", "among"] as const;
export type Bound = (typeof BOUND)[number];
const BOUND_SPECS: Readonly<Record<Bound, BalancerSpec>> = {
  indoors: { name: "bound-inside", frontend: "internal", port: 80 },
  outdoors: { name: "bound-outside", frontend: "public", port: 80 },
  among: { name: "kubernetes", frontend: "public", port: 9_190 },
};
const ENSURE = { policy: "Always", minPeriod: "2m" };

export type LbcfAction =
  | { readonly do: "pod"; readonly how: PodAction; readonly slot: number }
  | { readonly do: "group"; readonly name: string; readonly balancers: readonly Balancer[] }
  | { readonly do: "balancer"; readonly name: Balancer; readonly rules: number }
  | { readonly do: "dropGroup"; readonly name: string }
  | { readonly do: "dropBalancer"; readonly name: Balancer }
  | { readonly do: "bind"; readonly balancers: readonly Bound[]; readonly rules: number }
  | { readonly do: "dropBind" };

export function drawLbcfAction(random: Random): LbcfAction {
  const kind = random.weighted({ pod: 12, group: 3, balancer: 3, dropGroup: 1, dropBalancer: 1 });
  switch (kind) {
    case "pod":
      return { do: kind, how: drawPodAction(random), slot: random.below(POD_SLOTS) };
    case "group":
      return { do: kind, name: random.pick(GROUPS), balancers: BALANCERS.filter(() => random.bool(0.6)) };
    case "balancer":
      return { do: kind, name: random.pick(BALANCERS), rules: 1 + random.below(2) };
    case "dropGroup":
      return { do: kind, name: random.pick(GROUPS) };
    case "dropBalancer":
      return { do: kind, name: random.pick(BALANCERS) };
  }
}

export function drawBindAction(random: Random): LbcfAction {
  if (random.bool(0.25)) return { do: "dropBind" };
  const balancers = BOUND.filter(() => random.bool(0.6));
  return { do: "bind", balancers: balancers.length === 0 ? ["indoors"] : balancers, rules: 1 + random.below(2) };
}

const BINDS = "/apis/lbcf.tkestack.io/v1/namespaces/default/binds";
const LBCF = "/apis/lbcf.tkestack.io/v1beta1/namespaces/default";

/** Read once: the files are large. */
let definitions: ReturnType<typeof readDefinitions> | undefined;

export class LbcfUsers {
  readonly #cluster: SimulatedKubernetes;
  readonly #pods: Pods;

  constructor(cluster: SimulatedKubernetes, pods: Pods) {
    this.#cluster = cluster;
    this.#pods = pods;
    definitions ??= readDefinitions();
    for (const definition of definitions)
      cluster.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  }

  perform(action: LbcfAction): void {
    switch (action.do) {
      case "pod":
        return this.#pods.perform(action.how, action.slot);
      case "group":
        return this.#apply("backendgroups", action.name, {
          loadBalancers: action.balancers,
          pods: podsOf(action.name),
          ensurePolicy: ENSURE,
        });
      case "balancer": {
        const { name } = SPECS[action.name];
        const attributes = attributesOf(SPECS[action.name], action.rules);
        const spec = { lbDriver: "lbcf-azure", lbSpec: { name }, attributes, ensurePolicy: ENSURE };
        return this.#apply("loadbalancers", action.name, spec);
      }
      case "bind":
        return this.#bind(action.balancers, action.rules);
      case "dropBind":
        return void this.#cluster.send("DELETE", `${BINDS}/${BIND.name}`);
      case "dropGroup":
        return void this.#cluster.send("DELETE", `${LBCF}/backendgroups/${action.name}`);
      case "dropBalancer":
        return void this.#cluster.send("DELETE", `${LBCF}/loadbalancers/${action.name}`);
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

  #bind(balancers: readonly Bound[], rules: number): void {
    const loadBalancers = balancers.map((name) => ({
      name,
      driver: "lbcf-azure",
      spec: { name: BOUND_SPECS[name].name },
      attributes: attributesOf(BOUND_SPECS[name], rules),
    }));
    const ensurePolicy = { policy: "Always", resyncPeriodInSeconds: 120 };
    const spec = { loadBalancers, pods: podsOf(BIND.app), ensurePolicy };
    const { name } = BIND;
    const object = { apiVersion: "lbcf.tkestack.io/v1", kind: "Bind", metadata: { name }, spec };
    if (this.#cluster.send("POST", BINDS, object) === undefined)
      this.#cluster.send("PATCH", `${BINDS}/${name}`, { spec });
  }
}

function podsOf(app: string): object {
  return { ports: [{ port: BACKEND_PORT, protocol: "TCP" }], byLabel: { selector: { app } } };
}

function attributesOf({ frontend, port }: BalancerSpec, rules: number): object {
  const ports = Array.from({ length: rules }, (_, at) => `${port + at}:${BACKEND_PORT + at}/TCP`);
  return { frontend, rules: ports.join(",") };
}
