/**
 * Would a packet from an address get to a Service, and what decides it: for each published address and port the frontend,
 * the rule, the security rule, the members of the pool and the endpoints behind them. Health probes are seen by Azure
 * alone, so a member counts as healthy; other network security groups and firewalls are not looked at.
 */
import type { LoadBalancer, LoadBalancingRule } from "../model/arm.ts";
import { nameOfId } from "../model/ids.ts";
import type { EndpointSlice, Service } from "../model/kubernetes.ts";
import { type Address, type Cidr, mayBePublic, parseAddress } from "../util/cidr.ts";
import { pluralize } from "../util/text.ts";
import {
  findFrontend,
  type Member,
  membersOf,
  type Place,
  probeOf,
  ruleOf,
  type Surroundings,
} from "./load-balancer-path.ts";
import { isInNetwork, type SecurityVerdict, securityVerdict } from "./security-verdict.ts";

export interface ReachQuery {
  readonly from: Address;
  /** Absent: every port of the Service. */
  readonly port?: number | undefined;
  readonly protocol?: "TCP" | "UDP" | undefined;
  /** Of the Service; a text: why they could not be looked at. */
  readonly endpoints: readonly EndpointSlice[] | string;
}

export interface Reach {
  /** Absent: the Service has none yet. */
  readonly address?: string;
  readonly port: number;
  readonly protocol: "TCP" | "UDP";
  readonly verdict: "reaches" | "blocked" | "unknown";
  /** What decides it, and for a person what to do. */
  readonly why: string;
  /** The way as far as it leads. */
  readonly path: readonly Hop[];
  /** What a real connection met, where one could be made. */
  readonly connection?: { readonly isForwarded: boolean; readonly met: string };
}

interface Hop {
  readonly hop: "frontend" | "rule" | "security rule" | "probe" | "members" | "endpoints";
  readonly text: string;
}

/** The end of a way: a verdict, with the hops up to there. */
type Found = Pick<Reach, "verdict" | "why" | "path">;

export function reachService(surroundings: Surroundings, service: Service, query: ReachQuery): Reach[] {
  const addresses = (service.status.loadBalancer.ingress ?? []).flatMap(({ ip }) => ip ?? []);
  const ports = (service.spec.ports ?? [])
    .map(({ port, protocol }): Port => ({ port, protocol: protocol === "UDP" ? "UDP" : "TCP" }))
    .filter(({ protocol }) => query.protocol === undefined || protocol === query.protocol);
  const asked = query.port === undefined ? ports : portsAsked(ports, query.port, query.protocol);
  if (addresses.length === 0) return asked.map((one) => ({ ...one, ...blocked(NO_ADDRESS, []) }));
  const look = { ...surroundings, service };
  return addresses.flatMap((address) => asked.map((one) => ({ address, ...one, ...way(look, query, address, one) })));
}

interface Look extends Surroundings {
  readonly service: Service;
}

const NO_ADDRESS = "the Service has no address yet: azlb explain says what it waits for";

type Port = Pick<Reach, "port" | "protocol">;

/** A port that the Service does not have is asked for as well: the answer says so. */
function portsAsked(ports: readonly Port[], port: number, protocol: Port["protocol"] = "TCP"): readonly Port[] {
  const own = ports.filter((one) => one.port === port);
  return own.length > 0 ? own : [{ port, protocol }];
}

function way(look: Look, query: ReachQuery, address: string, port: Port): Found {
  const parsed = parseAddress(address);
  const place = findFrontend(look, address);
  if (parsed === undefined || place === undefined) {
    return blocked(
      "no load balancer has a frontend with this address: azlb explain says what the Service waits for",
      [],
    );
  }
  const path: Hop[] = [{ hop: "frontend", text: `${place.frontend.name} of load balancer ${place.loadBalancer.name}` }];
  const unrouted = routing(query.from, parsed, look.network);
  if (unrouted !== undefined) return { ...unrouted, path };
  const rule = ruleOf(place, port);
  if (rule === undefined) {
    return blocked(`load balancer ${place.loadBalancer.name} has no rule for port ${port.port}/${port.protocol}`, path);
  }
  path.push({ hop: "rule", text: ruleText(rule) }, ...probeHop(place.loadBalancer, rule));
  return throughMembers(look, query, { ...place, rule, destination: parsed, port, path });
}

/** Why the packet never comes to the frontend, or cannot be judged; `undefined`: it comes. */
function routing(from: Address, to: Address, network: readonly Cidr[]): Omit<Found, "path"> | undefined {
  if (from.family !== to.family) return end("blocked", `an ${from.family} source cannot reach an ${to.family} address`);
  const [isInside, isPublic] = [isInNetwork(from, network), mayBePublic(to)];
  if (!isInside && !isPublic) {
    return end("blocked", "the address is private: nothing on the Internet reaches it, only the virtual network does");
  }
  if (isInside && isPublic) {
    const why =
      "the source is private, and Azure sees the public address that it leaves by: give that one as the source";
    return end("unknown", why);
  }
  return undefined;
}

function ruleText({ name, properties }: LoadBalancingRule): string {
  const how = properties.enableFloatingIP === true ? "with a floating IP" : `to port ${properties.backendPort ?? 0}`;
  const pool = nameOfId(properties.backendAddressPool?.id ?? "");
  return `${name} sends to pool ${pool}, ${how}`;
}

function probeHop(loadBalancer: LoadBalancer, rule: LoadBalancingRule): Hop[] {
  const probe = probeOf(loadBalancer, rule);
  if (probe === undefined) return [];
  const { protocol, port, requestPath = "", intervalInSeconds } = probe.properties;
  const every = intervalInSeconds === undefined ? "" : ` every ${intervalInSeconds} s`;
  return [{ hop: "probe", text: `${protocol} ${port}${requestPath}${every}; only Azure knows its outcome` }];
}

interface Way extends Place {
  readonly rule: LoadBalancingRule;
  readonly destination: Address;
  readonly port: Port;
  readonly path: readonly Hop[];
}

function throughMembers(look: Look, query: ReachQuery, to: Way): Found {
  const members = membersOf(look, to, to.rule, to.destination.family);
  const open = members.filter(({ isDown }) => !isDown);
  const text = `${open.length} of ${pluralize(members.length, "member")} ${open.length === 1 ? "takes" : "take"} new connections`;
  const path = [...to.path, { hop: "members", text } as const];
  const judged = open.map((member) => ({ member, verdict: verdictFor(look, query, to, member) }));
  const deciding = judged.find(({ verdict }) => verdict.access === "Allow") ?? judged[0];
  const security = deciding?.verdict ?? verdictFor(look, query, to, undefined);
  const guarded: Hop[] = [...to.path, { hop: "security rule", text: verdictText(security) }];
  if (security.access === "Deny") return blocked(`security rule ${ruleName(security)} denies it`, guarded);
  if (security.access === "unknown") {
    const why = `security rule ${ruleName(security)} names a service tag or an application security group, which only Azure can resolve`;
    return { ...end("unknown", why), path: guarded };
  }
  const whole: Hop[] = [...guarded, ...path.slice(-1)];
  if (members.length === 0) return blocked("the pool has no members: azlb explain says why", whole);
  if (open.length === 0) return blocked("every member of the pool is Down: azlb get members lists them", whole);
  const reached = judged.filter(({ verdict }) => verdict.access === "Allow").map(({ member }) => member);
  return throughEndpoints(look, query, reached, whole);
}

function throughEndpoints(
  { service }: Look,
  { endpoints }: ReachQuery,
  members: readonly Member[],
  path: readonly Hop[],
): Found {
  const names = members.map(({ name }) => name).join(", ");
  if (typeof endpoints === "string") {
    const text = `not looked at: ${endpoints}`;
    return { ...end("reaches", `reaches ${names}, if pods serve there`), path: [...path, { hop: "endpoints", text }] };
  }
  const nodes = [...new Set(endpoints.flatMap(({ nodeNames }) => nodeNames))].sort();
  const text = nodes.length === 0 ? "none serves on any node" : `on ${nodes.join(", ")}`;
  const whole: Hop[] = [...path, { hop: "endpoints", text }];
  if (nodes.length === 0) return blocked("no endpoint of the Service serves on any node", whole);
  if (service.spec.externalTrafficPolicy !== "Local") return { ...end("reaches", `reaches ${names}`), path: whole };
  const local = members.filter(({ node }) => node !== undefined && nodes.includes(node.metadata.name));
  if (local.length === 0) {
    const why =
      "with externalTrafficPolicy Local only nodes with an endpoint answer, and none of those takes connections";
    return blocked(why, whole);
  }
  return { ...end("reaches", `reaches ${local.map(({ name }) => name).join(", ")}`), path: whole };
}

/** Without a member, or where its address is not known, as if the packet went to the frontend's address. */
function verdictFor(look: Look, { from }: ReachQuery, to: Way, member: Member | undefined): SecurityVerdict {
  const { rule, destination, port } = to;
  const isFloating = rule.properties.enableFloatingIP === true;
  const packet = {
    source: from,
    destination: isFloating ? destination : (member?.address ?? destination),
    port:
      isFloating || rule.properties.protocol.toLowerCase() === "all"
        ? port.port
        : (rule.properties.backendPort ?? port.port),
    protocol: port.protocol,
  };
  return securityVerdict(look.securityGroup, packet, look.network);
}

function verdictText(verdict: SecurityVerdict): string {
  const says = { Allow: "allows it", Deny: "denies it", unknown: "cannot be judged here" }[verdict.access];
  return `${ruleName(verdict)} ${says}`;
}

function ruleName({ rule, priority }: SecurityVerdict): string {
  return `${rule} (priority ${priority})`;
}

function end(verdict: Reach["verdict"], why: string): Omit<Found, "path"> {
  return { verdict, why };
}

function blocked(why: string, path: readonly Hop[]): Found {
  return { ...end("blocked", why), path };
}
