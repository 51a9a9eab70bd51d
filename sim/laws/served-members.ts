/**
 * Which nodes the pool behind a rule should hold, judged without the controller's core. One load balancer of a kind, or one
 * of a fleet, has every node that belongs in pools; Basic, those of its availability set; one of a list, those that
 * `environment/several-load-balancers.ts` gives it, and a Service with traffic policy Local those with its endpoints.
 */
import type { ForwardingRule } from "../../sandbox/azure/data-plane/forwarding.ts";
import type { Json } from "../../sandbox/azure/model/json.ts";
import type { KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { Service } from "../../src/core/model/kubernetes.ts";
import { SECOND_VM_SET } from "../actions/service-templates.ts";
import { isInSecondSet } from "../environment/azure-seed.ts";
import { LISTED_LOAD_BALANCERS, placesOf } from "../environment/several-load-balancers.ts";
import type { Simulation } from "../environment/simulation.ts";
import { lastName, LOAD_BALANCER, nameOf, partsOf, resourcesOf } from "./azure-state.ts";
import { addressOfNode, belongsInPools, entriesOf } from "./backend-law.ts";

/** `undefined`: any will do, since the controller never empties a pool because there are no nodes. */
export function nodesBehind(
  simulation: Simulation,
  service: Service,
  { id, loadBalancer }: Pick<ForwardingRule, "id" | "loadBalancer">,
  isIPv6: boolean,
): readonly KubeObject[] | undefined {
  const { setup, cluster } = simulation;
  const able = cluster
    .objects("nodes")
    .filter((node) => belongsInPools(node) && addressOfNode(node, isIPv6) !== "" && isOfItsSet(simulation, id, node));
  if (able.length === 0) return undefined;
  if (setup.several !== "list") return able;
  if (service.spec.externalTrafficPolicy === "Local") {
    const holders = endpointNodes(simulation, service, isIPv6);
    return able.filter(({ metadata }) => holders.has(metadata.name ?? ""));
  }
  const arranged = able.filter((node) => isArranged(simulation, externalName(lastName(loadBalancer)), node));
  return arranged.length === 0 ? undefined : arranged;
}

/** A Basic load balancer serves the machines of one availability set; its name is that of the set, or of the cluster. */
function isOfItsSet({ setup }: Simulation, ruleId: string, { metadata }: KubeObject): boolean {
  const isOfSecond = ruleId.toLowerCase().includes(`/loadbalancers/${SECOND_VM_SET}`);
  return setup.isBasic !== true || isInSecondSet(metadata.name ?? "") === isOfSecond;
}

interface Slice {
  readonly addressType: string;
  readonly endpoints?: readonly { readonly nodeName?: string }[];
}

function endpointNodes({ cluster }: Simulation, { metadata }: Service, isIPv6: boolean): ReadonlySet<string> {
  const slices = cluster.objects("endpointslices.discovery.k8s.io").filter((slice) => {
    const isOfService = slice.metadata.labels?.["kubernetes.io/service-name"] === metadata.name;
    return isOfService && slice.metadata.namespace === metadata.namespace;
  });
  const nodes = slices.map((slice) => slice as unknown as Slice);
  return new Set(
    nodes
      .filter(({ addressType }) => addressType === (isIPv6 ? "IPv6" : "IPv4"))
      .flatMap(({ endpoints = [] }) => endpoints.flatMap(({ nodeName }) => nodeName ?? [])),
  );
}

/**
 * Of several that a node may belong to it is on one: on which is the controller's choice. It may be one that has no pool for
 * nodes, because all its Services have pools of their own.
 */
function isArranged({ azure }: Simulation, name: string, node: KubeObject): boolean {
  const there = resourcesOf(azure.state, LOAD_BALANCER).filter(({ state }) => state !== "Deleting");
  const existing = LISTED_LOAD_BALANCERS.filter((one) => there.some(({ id }) => externalName(lastName(id)) === one));
  const places = placesOf(node.metadata.labels ?? {}, existing);
  if (places.length <= 1) return places.some((one) => one === name);
  const poolsOn = (place: string): readonly Json[] =>
    there
      .filter(({ id }) => externalName(lastName(id)) === place)
      .flatMap((resource) => partsOf(resource, "backendAddressPools"))
      .filter((pool) => /^kubernetes(-ipv6)?$/i.test(nameOf(pool)));
  const holder = places.find((one) =>
    poolsOn(one).some((pool) => entriesOf(pool).some((entry) => nameOf(entry) === node.metadata.name)),
  );
  const place = holder ?? places.find((one) => poolsOn(one).length === 0) ?? places[0];
  return place === name;
}

function externalName(name: string): string {
  return name.toLowerCase().replace(/-internal$/, "");
}
