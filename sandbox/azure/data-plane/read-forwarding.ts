/**
 * Derives forwarding rules from the wire form of load balancers, as a client of Azure would read it. Pure.
 * Not covered: gateway and global load balancers, NAT rules, frontends without an address.
 */
import { keyOf } from "../model/ids.ts";
import { numberOf, objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../model/json.ts";
import { skuName } from "../model/network/fields.ts";
import { renderLoadBalancer } from "../model/network/load-balancer/render.ts";
import { idIn, idsIn, nameIn, stored } from "../model/network/load-balancer/shape.ts";
import type { Resource, State } from "../model/index.ts";
import type { AdminState, Distribution, ForwardingRule, Member, Probe, Transport } from "./forwarding.ts";
import { resolveAddress, resolveConfiguration } from "./member-attachment.ts";

export interface Forwarding {
  readonly rules: readonly ForwardingRule[];
  /** Every member of every pool. */
  readonly members: readonly Member[];
}

export function readForwarding(state: State): Forwarding {
  const all = [...state.resources.values()].filter(({ type }) => type === "Microsoft.Network/loadBalancers");
  const balancers = all.filter(isRegional).map((balancer) => readBalancer(state, balancer));
  return {
    rules: balancers.flatMap(({ rules }) => rules),
    members: balancers.flatMap(({ members }) => members),
  };
}

function isRegional({ body }: Resource): boolean {
  return skuName(body) !== "Gateway" && objectOf(body["sku"])["tier"] !== "Global";
}

function readBalancer(state: State, balancer: Resource): Forwarding {
  const wire = renderLoadBalancer(state, balancer);
  const byId = (collection: "frontendIPConfigurations" | "probes" | "backendAddressPools"): [string, Json][] =>
    stored(wire, collection).map((child) => [stringOf(child["id"]) ?? "", child]);
  const frontends = new Map(byId("frontendIPConfigurations"));
  const probes = new Map(byId("probes").map(([id, probe]) => [id, probeOf(probe)]));
  const pools = new Map(byId("backendAddressPools").map(([id, pool]) => [id, membersOf(state, pool)]));
  const sku = skuName(balancer.body) === "Basic" ? "Basic" : "Standard";
  const rules = stored(wire, "loadBalancingRules").flatMap((rule): ForwardingRule[] => {
    const frontend = frontends.get(idIn(rule, "frontendIPConfiguration") ?? "");
    const address = frontend && addressOf(state, frontend);
    if (frontend === undefined || address === undefined) return [];
    const isInternal = propertiesOf(frontend)["subnet"] !== undefined;
    const probe = probes.get(idIn(rule, "probe") ?? "");
    const members = joined(idsIn(rule, "backendAddressPools").map((pool) => pools.get(pool) ?? []));
    return [{ ...ownPart(rule, isInternal), loadBalancer: balancer.id, sku, isInternal, address, probe, members }];
  });
  return { rules, members: [...pools.values()].flat() };
}

/** A rule usually has one pool; all rules of that pool then share the same list. */
function joined(pools: readonly (readonly Member[])[]): readonly Member[] {
  return pools.length === 1 ? (pools[0] ?? []) : pools.flat();
}

function addressOf(state: State, frontend: Json): string | undefined {
  const publicIp = state.resources.get(keyOf(idIn(frontend, "publicIPAddress") ?? ""));
  return publicIp === undefined
    ? stringOf(propertiesOf(frontend)["privateIPAddress"])
    : stringOf(publicIp.assigned["ipAddress"]);
}

type OwnPart = Omit<ForwardingRule, "loadBalancer" | "sku" | "isInternal" | "address" | "probe" | "members">;

function ownPart(rule: Json, isInternal: boolean): OwnPart {
  const properties = propertiesOf(rule);
  const protocol = protocolOf(properties["protocol"]);
  return {
    id: stringOf(rule["id"]) ?? "",
    protocol,
    frontendPort: numberOf(properties["frontendPort"]) ?? 0,
    backendPort: numberOf(properties["backendPort"]) ?? 0,
    floatingIp: properties["enableFloatingIP"] === true,
    distribution: (stringOf(properties["loadDistribution"]) ?? "Default") as Distribution,
    idleTimeoutMs: (numberOf(properties["idleTimeoutInMinutes"]) ?? 4) * 60_000,
    tcpReset: properties["enableTcpReset"] === true && !(isInternal && protocol === "All"),
  };
}

function protocolOf(value: unknown): Transport | "All" {
  if (value === "All") return "All";
  return value === "Tcp" ? "Tcp" : "Udp";
}

function probeOf(probe: Json): Probe {
  const properties = propertiesOf(probe);
  return {
    id: stringOf(probe["id"]) ?? "",
    protocol: (stringOf(properties["protocol"]) ?? "Tcp") as Probe["protocol"],
    port: numberOf(properties["port"]) ?? 0,
    path: stringOf(properties["requestPath"]) ?? "/",
    intervalMs: (numberOf(properties["intervalInSeconds"]) ?? 15) * 1000,
    threshold: numberOf(properties["probeThreshold"]) ?? 1,
    allDownMeansUp: properties["noHealthyBackendsBehavior"] === "AllProbedUp",
  };
}

/** Sorted by address, so that the order within the pool does not move flows. */
function membersOf(state: State, pool: Json): Member[] {
  const poolNetwork = idIn(pool, "virtualNetwork");
  const members = objectsOf(propertiesOf(pool)["loadBalancerBackendAddresses"]).flatMap((member) => {
    const configuration = idIn(member, "networkInterfaceIPConfiguration");
    const ip = stringOf(propertiesOf(member)["ipAddress"]);
    const network = idIn(member, "virtualNetwork") ?? idIn(member, "subnet")?.split("/subnets/")[0] ?? poolNetwork;
    const resolved =
      configuration === undefined
        ? resolveAddress(state, network, ip ?? "")
        : resolveConfiguration(state, configuration);
    if (resolved.ip === undefined || resolved.ip === "") return [];
    const adminState = (stringOf(propertiesOf(member)["adminState"]) ?? "None") as AdminState;
    return [{ ...resolved, ip: resolved.ip, pool: stringOf(pool["id"]) ?? "", name: nameIn(member), adminState }];
  });
  return members.sort((left, right) => (left.ip < right.ip ? -1 : 1));
}
