/**
 * What must be true once nobody has done anything for long and nothing has gone wrong: Azure is as the cluster asks, the
 * core would do nothing more, and nothing is left of what is gone.
 */
import { readForwarding, type Forwarding } from "../../sandbox/azure/data-plane/read-forwarding.ts";
import { securityRulesOf, addressSpaceOf } from "../../sandbox/azure/data-plane/member-attachment.ts";
import { evaluateInbound } from "../../sandbox/azure/data-plane/security-rules.ts";
import type { ForwardingRule, Member } from "../../sandbox/azure/data-plane/forwarding.ts";
import type { KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import { propertiesOf, type Json } from "../../sandbox/azure/model/json.ts";
import { valuesOf } from "../../sandbox/azure/model/network/security-group/security-rule.ts";
import { danglingReferences } from "../../sandbox/azure/model/laws.invariants.ts";
import { reconcilePools } from "../../src/core/backends/reconcile-pools.ts";
import { planCluster } from "../../src/core/plan/plan-cluster.ts";
import type { PlannedStep } from "../../src/core/plan/render-plan.ts";
import { keyOf, type Service } from "../../src/core/model/kubernetes.ts";
import type { CachedService } from "../../src/controller/projections.ts";
import { lookAt, Unreadable } from "../environment/observe-cluster.ts";
import { isInSecondSet } from "../environment/azure-seed.ts";
import { ADDITIONAL_IP, RIVAL_CLASS, SECOND_VM_SET } from "../actions/service-templates.ts";
import { ingressOf } from "../actions/services.ts";
import type { World } from "../environment/simulation.ts";
import {
  addressOf,
  baseIn,
  baseOf,
  isForeign,
  lastName,
  LOAD_BALANCER,
  partsOf,
  PUBLIC_IP,
  resourcesOf,
  SECURITY_GROUP,
  servicesIn,
} from "./azure-state.ts";
import type { AddressLaw } from "./address-law.ts";
import { makersIn } from "./lbcf-quiescence.ts";
import { addressOfNode, belongsInPools, isDoomed } from "./backend-law.ts";
import { openingsIn, type FinalizerLaw } from "./finalizer-law.ts";
import type { Report } from "./law.ts";

/** What others did along the way that we cannot make good. */
export interface Excuses {
  readonly finalizers: FinalizerLaw;
  readonly addresses: AddressLaw;
}

/** Somebody who shares a Service's address can stand in the way of any wish. */
const OTHERS_FAULT = new Set(["PortConflict", "FrontendShared", "ConflictConfiguration"]);

/** Services that the core refuses, by key, with the reason. */
export type Refusals = ReadonlyMap<string, string>;

/** What the controllers would still do; empty when all is settled. */
export interface RemainingPlan {
  readonly steps: readonly string[];
  readonly refusals: Refusals;
}

export function remainingPlan(world: World): RemainingPlan {
  const steps: string[] = [];
  const refusals = new Map<string, string>();
  for (const classFilter of world.setup.hasRival ? [undefined, RIVAL_CLASS] : [undefined]) {
    const sight = lookAt(world, classFilter);
    const worlds = sight.services.flatMap((service) => {
      try {
        return sight.observe(service);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        refusals.set(keyOf(service), error.message);
        return [];
      }
    });
    const plan = planCluster(worlds);
    const failing = new Set(impossible(world));
    const isDue = ({ owners, predicted }: PlannedStep): boolean =>
      !predicted && (owners.length === 0 || owners.some((owner) => !failing.has(owner)));
    steps.push(...plan.steps.filter(isDue).map(({ verb, id, why }) => `${verb} ${lastName(id)}: ${why}`));
    for (const [key, end] of plan.ends) if (end.kind === "reject") refusals.set(key, end.rejection.reason);
    if (classFilter === undefined)
      steps.push(...reconcilePools(sight.pools).map(({ kind, id, why }) => `${kind} ${lastName(id)}: ${why}`));
  }
  return { steps, refusals };
}

export function judgeQuiescence(world: World, plan: RemainingPlan, excuses: Excuses, report: Report): void {
  const { azure } = world;
  const { steps, refusals: said } = plan;
  const refusals = new Set([...said.keys(), ...impossible(world)]);
  if (steps.length > 0) report("settled", `there is still to be done: ${steps.slice(0, 4).join("; ")}`);
  for (const dangling of danglingReferences(azure.state)) report("dangling", dangling);
  const forwarding = readForwarding(azure.state);
  const sight = lookAt(world, undefined);
  for (const key of refusals) {
    const why = said.get(key) ?? "Azure";
    const isOthersFault = OTHERS_FAULT.has(why) || (why === "Azure" && hasForeignOutbound(world));
    if (world.users.isPlain(key) && !isOthersFault) report("served", `${key} is refused: ${why}`);
  }
  for (const service of sight.services) {
    if (refusals.has(keyOf(service))) continue;
    for (const what of unserved({ world, forwarding, ...excuses }, service))
      report("served", `${keyOf(service)}: ${what}`);
  }
  for (const what of leaks(world, excuses, refusals)) report("leak", what);
}

/** Where somebody's outbound rule uses our pool and frontend, Azure takes no rule there that does source NAT too. */
function hasForeignOutbound({ azure }: World): boolean {
  return resourcesOf(azure.state, LOAD_BALANCER).some((resource) => partsOf(resource, "outboundRules").length > 0);
}

/** Services that ask for what Azure refuses, as their events say. */
export function impossible(world: World): string[] {
  return world.cluster.objects("events").flatMap((event) => {
    const { involvedObject, reason } = event as unknown as FailureEvent;
    const isRecent = Number(event.metadata.resourceVersion) > world.afreshRevision; // clocks of processes may be wrong
    if (reason !== "SyncLoadBalancerFailed" || !isRecent) return [];
    return `${involvedObject.namespace}/${involvedObject.name}`;
  });
}

interface FailureEvent {
  readonly involvedObject: { readonly namespace: string; readonly name: string };
  readonly reason: string;
}

interface Scene extends Excuses {
  readonly world: World;
  readonly forwarding: Forwarding;
}

/** In which way a Service is not served as it asks. */
function unserved(scene: Scene, service: CachedService): string[] {
  if (service.metadata.deletionTimestamp !== undefined) return ["is still being deleted"];
  if (service.spec.type !== "LoadBalancer") return ["still holds a finalizer"];
  const annotations = annotationsOf(service);
  const ips = (service.status.loadBalancer.ingress ?? [])
    .flatMap(({ ip }) => ip ?? [])
    .filter((ip) => ip !== ADDITIONAL_IP);
  if (ips.length !== (service.spec.ipFamilies?.length ?? 1)) return [`has the addresses ${ips.join()}`];
  return ips.flatMap((ip) => [
    ...unservedAt(scene, service, ip),
    ...wrongPlace(scene.forwarding, service, ip, annotations["azure-load-balancer-internal"] === "true"),
  ]);
}

function wrongPlace(forwarding: Forwarding, service: Service, ip: string, isInternal: boolean): string[] {
  const base = baseOf(service.metadata.uid);
  const own = forwarding.rules.filter((rule) => rule.address === ip && baseIn(lastName(rule.id)) === base);
  return own.some((rule) => rule.isInternal !== isInternal) ? [`${ip} is ${isInternal ? "public" : "internal"}`] : [];
}

function unservedAt(scene: Scene, service: Service, ip: string): string[] {
  const { world, forwarding } = scene;
  const annotations = annotationsOf(service);
  const isAllPorts = annotations["azure-load-balancer-enable-high-availability-ports"] === "true";
  return service.spec.ports.flatMap(({ port, protocol }) => {
    if (annotations[`port_${port}_no_lb_rule`] === "true") return [];
    const transport = protocol === "UDP" ? "Udp" : "Tcp";
    const rule = forwarding.rules.find(
      (one) =>
        one.address === ip && ((one.frontendPort === port && one.protocol === transport) || one.protocol === "All"),
    );
    if (rule === undefined) return [`nothing answers at ${ip}:${port}/${transport}`];
    if (baseIn(lastName(rule.id)) !== baseOf(service.metadata.uid)) return [`${ip}:${port} is somebody else's`];
    const closed = isAllPorts
      ? []
      : wrongAccess(world, service, rule.members, {
          transport,
          destination: (member) => (rule.floatingIp ? ip : member.ip),
          port: rule.floatingIp ? port : rule.backendPort,
        });
    return [...wrongMembers(scene, rule, ip), ...closed];
  });
}

function wrongMembers({ world, finalizers }: Scene, { id, members }: ForwardingRule, ip: string): string[] {
  const isIPv6 = ip.includes(":");
  const down = world.setup.isBasic === true ? "" : " Down"; // not ours to set on Basic
  if (world.config.poolType !== "nodeIP" && isIPv6) return []; // interfaces have no IPv6 here
  const nodes = world.cluster.objects("nodes");
  const wanted = nodes.filter(
    (node) => belongsInPools(node) && addressOfNode(node, isIPv6) !== "" && isServedBy(world, id, node),
  );
  if (wanted.length === 0) return []; // a pool is never emptied for want of nodes
  const expected = wanted.map((node) => `${node.metadata.name}${isDoomed(node) ? down : ""}`).sort();
  const names = new Set(wanted.map((node) => node.metadata.name));
  const isTheirs = (member: Member): boolean =>
    isForeign(member.name) ||
    isForeign(member.node ?? "") ||
    // two controllers share one member list, and one may forget what the other stored (docs/reliability.md)
    (!names.has(nodeOf(world, member)) && (world.setup.hasRival || finalizers.exempt.has(`entry ${member.name}`)));
  const found = members
    .filter((member) => !isTheirs(member))
    .map((member) => `${nodeOf(world, member)}${member.adminState === "Down" ? down : ""}`)
    .sort();
  return found.join() === expected.join() ? [] : [`the pool of ${ip} has ${found.join()}, not ${expected.join()}`];
}

/** A Basic load balancer serves the machines of one availability set; it is called after it, or the cluster. */
function isServedBy({ setup }: World, ruleId: string, { metadata }: KubeObject): boolean {
  const isOfSecond = ruleId.toLowerCase().includes(`/loadbalancers/${SECOND_VM_SET}`);
  return setup.isBasic !== true || isInSecondSet(metadata.name ?? "") === isOfSecond;
}

function nodeOf({ config }: World, { name, node = "?" }: Member): string {
  return config.poolType === "nodeIP" ? name : node;
}

interface StepExecutor {
  readonly transport: "Tcp" | "Udp";
  readonly destination: (member: Member) => string;
  readonly port: number;
}

const FROM_INTERNET = { IPv4: "8.8.8.8", IPv6: "2001:4860::8" } as const;

/** Who must, or must not, get through the security group. */
function wrongAccess(world: World, service: Service, members: readonly Member[], executor: StepExecutor): string[] {
  const annotations = annotationsOf(service);
  const isLimited = ["azure-allowed-service-tags", "azure-allowed-ip-ranges"].some((key) => key in annotations);
  const isManaged = annotations["azure-disable-load-balancer-nsg-rule"] !== "true";
  const isInternal = annotations["azure-load-balancer-internal"] === "true";
  const isPrivate = isLimited || (service.spec.loadBalancerSourceRanges ?? []).length > 0;
  if (!isManaged || isInternal) return [];
  // Basic: the last of a set stays in its pool, but its address is opened as long as it belongs there only
  const isAsked = (node: KubeObject): boolean => world.setup.isBasic !== true || belongsInPools(node);
  const nodes = new Set(world.cluster.objects("nodes").flatMap((node) => (isAsked(node) ? node.metadata.name : [])));
  const member = members.find((one) => nodes.has(nodeOf(world, one)));
  if (member === undefined) return [];
  const destinationAddress = executor.destination(member);
  const flow = {
    transport: executor.transport,
    sourceAddress: FROM_INTERNET[destinationAddress.includes(":") ? "IPv6" : "IPv4"],
    sourcePort: 40_000,
    destinationAddress,
    destinationPort: executor.port,
  };
  const network = addressSpaceOf(world.azure.state, member.attachment);
  const { allowed, rule } = evaluateInbound(securityRulesOf(world.azure.state, member.attachment), flow, network);
  if (allowed !== isPrivate) return [];
  return [
    `${flow.destinationAddress}:${executor.port} is ${allowed ? "open to" : "closed for"} the Internet by ${rule}`,
  ];
}

/** Things of ours that nobody stands for. */
function leaks(world: World, { finalizers, addresses }: Excuses, refused: ReadonlySet<string>): string[] {
  const { azure, cluster } = world;
  const services = cluster.objects("services");
  const bases = new Set(services.map(({ metadata }) => baseOf(metadata.uid ?? "")));
  const keyOfObject = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
  const keys = new Set([...services.map(keyOfObject), ...makersIn(cluster)]);
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
  const excused = new Set([...addresses.everRobbed, ...asked, ...(refused.size > 0 ? [ADDITIONAL_IP] : [])]);
  const open = openings(world, excused, refused).filter((name) => !finalizers.exempt.has(name));
  return [...left, ...parts, ...publicIPs, ...open];
}

/** The address that it asks for: whoever is refused keeps what others had opened there. */
function pinnedOf({ metadata }: KubeObject): string {
  return metadata.annotations?.["service.beta.kubernetes.io/azure-load-balancer-ipv4"] ?? "";
}

/**
 * Addresses that our rules still open although nobody is served there. Not counted are addresses of former nodes under
 * node ports that no Service has any more (nothing tells whose they were: docs/reliability.md), or that a refused one has.
 */
function openings(world: World, excused: ReadonlySet<string>, refused: ReadonlySet<string>): string[] {
  const { azure, cluster, machines } = world;
  const services = cluster.objects("services");
  const known = new Set([
    ...services.flatMap(ingressOf),
    ...cluster.objects("nodes").flatMap((node) => [addressOfNode(node), addressOfNode(node, true)]),
    ...resourcesOf(azure.state, PUBLIC_IP).map(addressOf),
    ...privateFrontends(world),
    ...excused,
  ]);
  const isServed = ({ metadata }: KubeObject): boolean => !refused.has(`${metadata.namespace}/${metadata.name}`);
  const nodePorts = new Set(services.filter(isServed).flatMap(nodePortsOf));
  const isLeft = (rule: Json, address: string): boolean =>
    !known.has(address) && (!machines.wasNode(address) || portsOf(rule).some((port) => nodePorts.has(port)));
  return resourcesOf(azure.state, SECURITY_GROUP)
    .flatMap(openingsIn)
    .filter(({ rule, address }) => isLeft(rule, address))
    .map(({ name }) => name);
}

function nodePortsOf(service: KubeObject): string[] {
  const { ports = [] } = service["spec"] as { ports?: { nodePort?: number }[] };
  return ports.map(({ nodePort }) => String(nodePort));
}

/** A Service that is refused keeps what it had, told or not. */
function privateFrontends({ azure }: World): string[] {
  return [...azure.state.addresses.values()].flatMap((held) =>
    [...held].filter(([, holder]) => /\/frontendIPConfigurations\//i.test(holder)).map(([address]) => address),
  );
}

function portsOf(rule: Json): readonly string[] {
  return valuesOf(propertiesOf(rule), "destination", "PortRange");
}

function annotationsOf(service: Pick<Service, "metadata">): Readonly<Record<string, string>> {
  const prefix = "service.beta.kubernetes.io/";
  return Object.fromEntries(
    Object.entries(service.metadata.annotations ?? {}).map(([key, value]) => [
      key.startsWith(prefix) ? key.slice(prefix.length) : key,
      value,
    ]),
  );
}
