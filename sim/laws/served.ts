/**
 * Whether a Service is served as it asks, judged from Azure's data plane and security group: addresses, rules, pool
 * members and access. Used once everything has settled.
 */
import type { ForwardingRule, Member } from "../../sandbox/azure/data-plane/forwarding.ts";
import { addressSpaceOf, securityRulesOf } from "../../sandbox/azure/data-plane/member-attachment.ts";
import { evaluateInbound } from "../../sandbox/azure/data-plane/security-rules.ts";
import type { Forwarding } from "../../sandbox/azure/data-plane/read-forwarding.ts";
import type { KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import type { CachedService } from "../../src/controller/projections.ts";
import type { Service } from "../../src/core/model/kubernetes.ts";
import { ADDITIONAL_IP } from "../actions/service-templates.ts";
import type { Simulation } from "../environment/simulation.ts";
import { baseIn, baseOf, isForeign, lastName } from "./azure-state.ts";
import { belongsInPools, isDraining } from "./backend-law.ts";
import type { FinalizerLaw } from "./finalizer-law.ts";
import { nodesBehind } from "./served-members.ts";
import type { UnseenNodes } from "./unseen-nodes.ts";

export interface ServedOptions {
  readonly simulation: Simulation;
  readonly forwarding: Forwarding;
  /** Knows which pool entries another client has put back. */
  readonly finalizers: FinalizerLaw;
  readonly unseen: UnseenNodes;
}

/** In which ways a Service is not served as it asks. */
export function unserved(options: ServedOptions, service: CachedService): string[] {
  if (service.metadata.deletionTimestamp !== undefined) return ["is still being deleted"];
  if (service.spec.type !== "LoadBalancer") return ["still holds a finalizer"];
  const annotations = annotationsOf(service);
  const ips = (service.status.loadBalancer.ingress ?? [])
    .flatMap(({ ip }) => ip ?? [])
    .filter((ip) => ip !== ADDITIONAL_IP);
  if (ips.length !== (service.spec.ipFamilies?.length ?? 1)) return [`has the addresses ${ips.join()}`];
  return ips.flatMap((ip) => [
    ...unservedAt(options, service, ip),
    ...wrongPlace(options.forwarding, service, ip, annotations["azure-load-balancer-internal"] === "true"),
  ]);
}

function wrongPlace(forwarding: Forwarding, service: Service, ip: string, isInternal: boolean): string[] {
  const base = baseOf(service.metadata.uid);
  const own = forwarding.rules.filter((rule) => rule.address === ip && baseIn(lastName(rule.id)) === base);
  return own.some((rule) => rule.isInternal !== isInternal) ? [`${ip} is ${isInternal ? "public" : "internal"}`] : [];
}

function unservedAt(options: ServedOptions, service: Service, ip: string): string[] {
  const { simulation, forwarding } = options;
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
    if (baseIn(lastName(rule.id)) !== baseOf(service.metadata.uid))
      return [`${ip}:${port} belongs to another Service or client`];
    const closed = isAllPorts
      ? []
      : wrongAccess(simulation, service, rule.members, {
          transport,
          address: (member) => (rule.floatingIp ? ip : member.ip),
          port: rule.floatingIp ? port : rule.backendPort,
          isFloating: rule.floatingIp,
        });
    return [...wrongMembers(options, service, rule, ip), ...closed];
  });
}

function wrongMembers(
  { simulation, finalizers, unseen }: ServedOptions,
  service: Service,
  rule: ForwardingRule,
  ip: string,
): string[] {
  const isIPv6 = ip.includes(":");
  const down = simulation.setup.isBasic === true ? "" : " Down"; // Basic has no admin states
  if (simulation.config.poolType !== "nodeIP" && isIPv6) return []; // network interfaces have no IPv6 address here
  const wanted = nodesBehind(simulation, service, rule, isIPv6);
  if (wanted === undefined) return [];
  const expected = wanted.map((node) => `${node.metadata.name}${isDraining(node) ? down : ""}`).sort();
  const names = new Set(wanted.map((node) => node.metadata.name));
  const isForeignMember = (member: Member): boolean =>
    isForeign(member.name) ||
    isForeign(member.node ?? "") ||
    (member.node !== undefined && (!simulation.nodes.hasBeen(member.node) || unseen.has(member.node))) ||
    // two controllers share a member list, and one may drop what the other stored (docs/reliability.md, known limits)
    (!names.has(nodeOf(simulation, member)) &&
      (simulation.setup.hasRival || finalizers.exempt.has(`entry ${member.name}`)));
  const found = rule.members
    .filter((member) => !isForeignMember(member))
    .map((member) => `${nodeOf(simulation, member)}${member.adminState === "Down" ? down : ""}`)
    .sort();
  return found.join() === expected.join() ? [] : [`the pool of ${ip} has ${found.join()}, not ${expected.join()}`];
}

function nodeOf({ config }: Simulation, { name, node = "?" }: Member): string {
  return config.poolType === "nodeIP" ? name : node;
}

interface Destination {
  readonly transport: "Tcp" | "Udp";
  readonly address: (member: Member) => string;
  readonly port: number;
  readonly isFloating: boolean;
}

const FROM_INTERNET = { IPv4: "8.8.8.8", IPv6: "2001:4860::8" } as const;

/** Whether the security group lets the Internet reach the Service exactly if it should. */
function wrongAccess(simulation: Simulation, service: Service, members: readonly Member[], to: Destination): string[] {
  const annotations = annotationsOf(service);
  const isLimited = ["azure-allowed-service-tags", "azure-allowed-ip-ranges"].some((key) => key in annotations);
  const isManaged = annotations["azure-disable-load-balancer-nsg-rule"] !== "true";
  const isInternal = annotations["azure-load-balancer-internal"] === "true";
  const isPrivate = isLimited || (service.spec.loadBalancerSourceRanges ?? []).length > 0;
  if (!isManaged || isInternal) return [];
  // the last machine stays in its pool (on Basic that of a set), but its address is open only while it belongs there
  const isOpened = (node: KubeObject): boolean => to.isFloating || belongsInPools(node);
  const nodes = new Set(
    simulation.cluster.objects("nodes").flatMap((node) => (isOpened(node) ? node.metadata.name : [])),
  );
  const member = members.find((one) => nodes.has(nodeOf(simulation, one)));
  if (member === undefined) return [];
  const destinationAddress = to.address(member);
  const flow = {
    transport: to.transport,
    sourceAddress: FROM_INTERNET[destinationAddress.includes(":") ? "IPv6" : "IPv4"],
    sourcePort: 40_000,
    destinationAddress,
    destinationPort: to.port,
  };
  const network = addressSpaceOf(simulation.azure.state, member.attachment);
  const { allowed, rule } = evaluateInbound(securityRulesOf(simulation.azure.state, member.attachment), flow, network);
  if (allowed !== isPrivate) return [];
  return [`${flow.destinationAddress}:${to.port} is ${allowed ? "open to" : "closed for"} the Internet by ${rule}`];
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
