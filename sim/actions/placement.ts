/**
 * What decides about placement beside a Service itself, where there are several load balancers: the endpoints of Services
 * whose traffic stays on the node (externalTrafficPolicy: Local), and the labels of namespaces. Services are `services.ts`.
 */
import type { SimulatedKubernetes } from "../environment/simulated-kubernetes.ts";
import { TEAM_LABEL } from "../environment/several-load-balancers.ts";
import type { Random } from "../environment/random.ts";

export type PlacementAction =
  /** The pods of a Service now run on the nodes of these slots, and serve. */
  | { readonly do: "endpoints"; readonly service: string; readonly slots: readonly number[] }
  /** A namespace gets or loses the label that decides where its Services are placed. */
  | { readonly do: "label"; readonly namespace: string; readonly isOfTeam: boolean };

const FAMILIES = ["IPv4", "IPv6"] as const;

export class PlacementUsers {
  readonly #cluster: SimulatedKubernetes;
  /** Names of the nodes, by slot. */
  readonly #slots: readonly string[];

  constructor(cluster: SimulatedKubernetes, slots: readonly string[]) {
    this.#cluster = cluster;
    this.#slots = slots;
  }

  perform(action: PlacementAction): void {
    if (action.do === "endpoints") return this.#setEndpoints(action.service, action.slots);
    const labels = { [TEAM_LABEL.key]: action.isOfTeam ? TEAM_LABEL.value : null };
    this.#cluster.send("PATCH", `/api/v1/namespaces/${action.namespace}`, { metadata: { labels } });
  }

  /** One slice of each family, whether or not there is a Service of that name. */
  #setEndpoints(service: string, slots: readonly number[]): void {
    const [namespace = "", name = ""] = service.split("/");
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
    for (const family of FAMILIES) {
      const sliceName = `${name}-${family.toLowerCase()}`;
      const endpoints = slots.map((slot) => ({
        addresses: [family === "IPv4" ? `10.244.${slot}.7` : `fd00:244::${slot}:7`],
        nodeName: this.#slots[slot % this.#slots.length],
        conditions: { ready: true, serving: true, terminating: false },
      }));
      const metadata = { name: sliceName, namespace, labels: { "kubernetes.io/service-name": name } };
      const body = { metadata, addressType: family, endpoints, ports: [] };
      if (this.#cluster.send("PATCH", `${path}/${sliceName}`, { endpoints }) === undefined)
        this.#cluster.send("POST", path, body);
    }
  }
}

export function drawPlacementAction(random: Random, services: readonly string[], slots: number): PlacementAction {
  if (random.bool(0.2)) return { do: "label", namespace: random.pick(["default", "apps"]), isOfTeam: random.bool(0.5) };
  const on = Array.from({ length: slots }, (_, slot) => slot).filter(() => random.bool(0.4));
  return { do: "endpoints", service: random.pick(services), slots: on };
}
