/**
 * Leaks: parts, public IPs and security rules of the controllers that no existing object needs. Used once everything has
 * settled.
 */
import { propertiesOf, type Json } from "../../sandbox/azure/model/json.ts";
import { valuesOf } from "../../sandbox/azure/model/network/security-group/security-rule.ts";
import type { KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import { ADDITIONAL_IP } from "../actions/service-templates.ts";
import { ingressOf } from "../actions/services.ts";
import type { Simulation } from "../environment/simulation.ts";
import type { AddressLaw } from "./address-law.ts";
import {
  addressOf,
  baseOf,
  lastName,
  LOAD_BALANCER,
  nameOf,
  partsOf,
  PUBLIC_IP,
  resourcesOf,
  SECURITY_GROUP,
  servicesIn,
} from "./azure-state.ts";
import { addressOfNode, entriesOf } from "./backend-law.ts";
import { isSentTo, openingsIn, poolIn, type FinalizerLaw } from "./finalizer-law.ts";
import { lbcfOwnerTags } from "./lbcf-quiescence.ts";
import type { UnseenNodes } from "./unseen-nodes.ts";

/** Laws that know what other clients did and the controllers cannot repair. */
export interface Exemptions {
  readonly finalizers: FinalizerLaw;
  readonly addresses: AddressLaw;
  readonly unseen: UnseenNodes;
}

/** `refused`: keys of the Services that are not served. */
export function leaks(
  simulation: Simulation,
  { finalizers, addresses }: Exemptions,
  refused: ReadonlySet<string>,
): string[] {
  const { azure, cluster } = simulation;
  const services = cluster.objects("services");
  const bases = new Set(services.map(({ metadata }) => baseOf(metadata.uid ?? "")));
  const keyOfObject = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
  const keys = new Set([...services.map(keyOfObject), ...lbcfOwnerTags(cluster)]);
  const left = services.flatMap((service) =>
    service.metadata.finalizers === undefined
      ? finalizers.leftOf(service).map((what) => `${service.metadata.name}: ${what}`)
      : [],
  );
  const parts = resourcesOf(azure.state, LOAD_BALANCER).flatMap((resource) =>
    finalizers.orphansIn(resource, bases).map((name) => `part ${name}`),
  );
  const publicIPs = resourcesOf(azure.state, PUBLIC_IP)
    .filter((resource) => servicesIn(resource).some((key) => !keys.has(key)))
    .map(({ id }) => `public IP ${lastName(id)}`);
  const asked = services.filter(({ metadata }) => refused.has(`${metadata.namespace}/${metadata.name}`)).map(pinnedOf);
  const exempt = new Set([...addresses.everTakenByOthers, ...asked, ...(refused.size > 0 ? [ADDITIONAL_IP] : [])]);
  const open = openings(simulation, exempt, refused).filter((name) => !finalizers.exempt.has(name));
  return [...left, ...parts, ...publicIPs, ...open, ...unusedOwnPools(simulation, finalizers)];
}

/** Pools that a Service had for itself and no rule sends to any more. One with entries of other clients stays. */
function unusedOwnPools({ azure, setup }: Simulation, { exempt }: FinalizerLaw): string[] {
  if (setup.several !== "list") return [];
  const isOthers = (entry: Json): boolean => exempt.has(`entry ${nameOf(entry)}`);
  return resourcesOf(azure.state, LOAD_BALANCER).flatMap((resource) =>
    partsOf(resource, "backendAddressPools")
      .filter((pool) => OWN_POOL.test(nameOf(pool)) && !isSentTo(resource, pool) && !entriesOf(pool).some(isOthers))
      .map((pool) => poolIn(resource, pool))
      .filter((name) => !exempt.has(name))
      .map((name) => `pool ${name}`),
  );
}

/** `namespace-name` of the Services of a history. */
const OWN_POOL = /^(default|apps)-[a-e](-ipv6)?$/i;

/** The address that a Service asks for: while it is refused, rules that were opened there stay. */
function pinnedOf({ metadata }: KubeObject): string {
  return metadata.annotations?.["service.beta.kubernetes.io/azure-load-balancer-ipv4"] ?? "";
}

/**
 * Addresses that the controllers' rules still open although no Service is served there. Exempt are addresses of former
 * nodes, under node ports that no Service has any more (their owner is unknown: docs/reliability.md, known limits) or
 * that a refused Service has.
 */
function openings(simulation: Simulation, exempt: ReadonlySet<string>, refused: ReadonlySet<string>): string[] {
  const { azure, cluster, nodes } = simulation;
  const services = cluster.objects("services");
  const known = new Set([
    ...services.flatMap(ingressOf),
    ...cluster.objects("nodes").flatMap((node) => [addressOfNode(node), addressOfNode(node, true)]),
    ...resourcesOf(azure.state, PUBLIC_IP).map(addressOf),
    ...privateFrontends(simulation),
    ...exempt,
  ]);
  const isServed = ({ metadata }: KubeObject): boolean => !refused.has(`${metadata.namespace}/${metadata.name}`);
  const nodePorts = new Set(services.filter(isServed).flatMap(nodePortsOf));
  const isLeft = (rule: Json, address: string): boolean =>
    !known.has(address) && (!nodes.wasNode(address) || portsOf(rule).some((port) => nodePorts.has(port)));
  return resourcesOf(azure.state, SECURITY_GROUP)
    .flatMap(openingsIn)
    .filter(({ rule, address }) => isLeft(rule, address))
    .map(({ name }) => name);
}

function nodePortsOf(service: KubeObject): string[] {
  const { ports = [] } = service["spec"] as { ports?: { nodePort?: number }[] };
  return ports.map(({ nodePort }) => String(nodePort));
}

/** A refused Service keeps its frontend, published in its status or not. */
function privateFrontends({ azure }: Simulation): string[] {
  return [...azure.state.addresses.values()].flatMap((held) =>
    [...held].filter(([, holder]) => /\/frontendIPConfigurations\//i.test(holder)).map(([address]) => address),
  );
}

function portsOf(rule: Json): readonly string[] {
  return valuesOf(propertiesOf(rule), "destination", "PortRange");
}
