/**
 * What a Service asks for and another already has is refused before any write, with the name of the one that has it: an
 * additional address, the DNS label of a public IP, a port of a shared address. What the load balancer's merge or Azure
 * refuses by itself is left to them.
 */
import { listedOf } from "../resources/observed-azure.ts";
import type { Frontend, LoadBalancer, PublicIP } from "../model/arm.ts";
import { nodeAddresses } from "../backends/eligible-nodes.ts";
import { frontendOf, loadBalancerIndex, partsOf } from "../resources/load-balancer/load-balancer-index.ts";
import { baseName, baseOf } from "../model/names.ts";
import { keyIn } from "../resources/load-balancer/part-user.ts";
import { keptFromNamespace, publicIPIndex } from "../resources/public-ip/desired-public-ip.ts";
import { securityGroupIndex, kindOf } from "../resources/security-group/security-rules.ts";
import type { Observed } from "../observed.ts";
import { PLACEMENT } from "../intent/annotations/placement.ts";
import type { ServiceIntent, PortIntent } from "../intent/service-intent.ts";
import type { Rejection } from "../outcome.ts";
import { canonicalAddress } from "../util/cidr.ts";
import { addressesOn, frontendsOf, publishedAddresses } from "./service-parts.ts";
import { sameId } from "../model/ids.ts";
import { serviceKey, type Service, ageOf } from "../model/kubernetes.ts";
import { dnsOwnerOf, isOtherClusters, sameKey, servicesOf } from "../model/tags.ts";
import { parseService } from "../intent/parse-service.ts";
import { sharersOf } from "../resources/security-group/shared-addresses.ts";
import type { Placement } from "../resources/load-balancer/get-service-load-balancer.ts";

/**
 * Additional addresses appear in a Service's status, and nodes send what is meant for an address in a status to the
 * Service that shows it; they are opened in the security group, too. So a Service may not name an address that others
 * have: a user who may write a Service would take over their traffic from inside the cluster (CVE-2020-8554), or open and
 * close their ports.
 *
 *   the address is of                                                          | the Service is
 *   ---------------------------------------------------------------------------|-----------------------------------
 *   a frontend that serves others, on the cluster's load balancers             | refused
 *   a node                                                                     | refused
 *   a public IP that is kept for a Service of another namespace                | refused
 *   a security rule that no Service of the cluster can have made: of another   | refused, unless its status shows
 *   cluster on the same security group                                         | the address already (taken over)
 */
export function refuseTakenAddresses(observed: Observed, intent: ServiceIntent): Rejection | undefined {
  if (intent.additionalPublicIPs.length === 0) return undefined;
  for (const loadBalancer of observed.loadBalancers) {
    for (const frontend of othersOn(loadBalancer, intent.owner.base)) {
      const [address = ""] = addressesOn(observed, [frontend]);
      if (intent.additionalPublicIPs.includes(address))
        return addressTaken(address, `the address of ${frontendOwner(frontend, loadBalancer, observed)}`);
    }
  }
  for (const address of intent.additionalPublicIPs) {
    const node = nodeAddresses(observed.nodes).get(canonicalAddress(address));
    if (node !== undefined) return addressTaken(address, `the address of node ${node.metadata.name}`);
    const former = keptElsewhere(observed, intent, canonicalAddress(address));
    if (former !== undefined) return addressTaken(address, `kept for Service ${former}, of another namespace`);
    const rule = foreignRule(observed, intent, canonicalAddress(address));
    if (rule !== undefined) {
      const whose = `in security rule "${rule}", which no Service of this cluster has made for it`;
      return addressTaken(address, whose);
    }
  }
  return undefined;
}

function keptElsewhere(observed: Observed, { owner }: ServiceIntent, address: string): string | undefined {
  for (const publicIPs of listedOf(observed, "publicIP").values()) {
    const publicIP = publicIPIndex(publicIPs).byAddress.get(address);
    const former = publicIP && keptFromNamespace(publicIP, owner.key);
    if (former !== undefined) return former;
  }
  return undefined;
}

/** Rules under the name of a Service are that Service's; of others' only the status tells. */
function foreignRule(observed: Observed, { owner }: ServiceIntent, address: string): string | undefined {
  const { securityGroup, service, otherServices } = observed;
  const isShownBy = (one: Pick<Observed, "service">): boolean => publishedAddresses(one).includes(address);
  if (securityGroup === undefined || isShownBy({ service })) return undefined;
  const { holders, legacyShared, managed } = securityGroupIndex(securityGroup);
  const names = [...(holders.get(address) ?? []), ...(legacyShared.get(address) ?? [])];
  if (names.length === 0) return undefined;
  const bases = new Set([owner.base, ...otherServices.map(({ metadata }) => baseName(metadata.uid))].map(lower));
  const isShown = otherServices.some((other) => isShownBy({ service: other }));
  const foreign = names.find((name) => {
    const kind = kindOf(name);
    return kind.kind === "own" ? !bases.has(kind.base) : !isShown;
  });
  return foreign === undefined ? undefined : (managed.get(foreign)?.rule.name ?? foreign);
}

function lower(text: string): string {
  return text.toLowerCase();
}

function othersOn(loadBalancer: LoadBalancer, base: string): Frontend[] {
  const own = new Set(frontendsOf(loadBalancer, base));
  return [...loadBalancerIndex(loadBalancer).frontends.values()].filter((frontend) => !own.has(frontend));
}

function frontendOwner(frontend: Frontend, { name }: LoadBalancer, observed: Observed): string {
  const key = keyIn(observed.otherServices, baseOf(frontend.name));
  return key === undefined
    ? `frontend "${frontend.name}" on load balancer "${name}", which is not this Service's`
    : `Service ${key}`;
}

function addressTaken(address: string, whose: string): Rejection {
  const message =
    `${PLACEMENT.additionalPublicIPs.key}: "${address}" is ${whose}: ` +
    `leave it out, or share it by ${PLACEMENT.ipv4.key}`;
  return { kind: "rejection", reason: "AddressTaken", message };
}

/**
 * Azure gives a DNS label to one public IP of a region, and refuses it to others without naming the owner. Where
 * another Service of this cluster has it and still asks for it, the Service is refused before any write, with that
 * name. Any other label is Azure's to refuse.
 *
 * `used`: the public IPs that the Service stands on.
 */
export function refuseTakenLabel(
  observed: Observed,
  intent: ServiceIntent,
  used: readonly { readonly id: string }[],
): Rejection | undefined {
  const { dnsLabel } = intent;
  if (!dnsLabel) return undefined;
  const publicIPs = [...listedOf(observed, "publicIP").values()].flat();
  const others = publicIPs.filter(({ id }) => !used.some((own) => sameId(own.id, id)));
  for (const publicIP of others) {
    const holder = bears(publicIP, dnsLabel) ? labelHolder(observed, publicIP, dnsLabel) : undefined;
    if (holder !== undefined) return labelTaken(dnsLabel, publicIP, holder);
  }
  return undefined;
}

/** A label with a scope lives beside others of its name. */
function bears({ properties: { dnsSettings } }: PublicIP, label: string): boolean {
  return dnsSettings?.domainNameLabel === label && dnsSettings["domainNameLabelScope"] === undefined;
}

function labelHolder({ otherServices, config }: Observed, publicIP: PublicIP, label: string): Service | undefined {
  if (isOtherClusters(publicIP, config.clusterName)) return undefined;
  const owner = dnsOwnerOf(publicIP);
  const keys = owner === undefined ? (servicesOf(publicIP) ?? []) : [owner];
  const isHolder = (service: Service): boolean =>
    keys.some((key) => sameKey(key, serviceKey(service))) && service.metadata.deletionTimestamp === undefined;
  return otherServices.filter(isHolder).find((service) => {
    const parsed = parseService(service, config);
    return !("intent" in parsed) || parsed.intent.dnsLabel === label;
  });
}

function labelTaken(label: string, { name }: PublicIP, holder: Service): Rejection {
  const message =
    `${PLACEMENT.dnsLabel.key}: "${label}" is the label of Service ${serviceKey(holder)} already (public IP "${name}"), and ` +
    `Azure gives a label to one public IP of a region only: choose another one, or take it from that Service first`;
  return { kind: "rejection", reason: "DNSLabelConflict", message };
}

export interface PortsInput {
  readonly observed: Observed;
  readonly intent: ServiceIntent;
  readonly placement: Placement;
  /** Where the Service is, or is going to be. */
  readonly addresses: readonly string[];
}

/**
 * Which ports of a shared address another Service has. The load balancer's merge refuses a port that has a rule there;
 * here stand the ports that it cannot see: one that a Service opens in the security group without a rule
 * (`port_N_no_lb_rule`), and one whose rule was removed by hand. To open such a port for one Service would open it for
 * the other, whatever sources that one allows.
 *
 *   the other Service is served at the address, asks for the port, and | this Service is
 *   --------------------------------------------------------------------|----------------
 *   has a rule for it                                                   | refused
 *   has none, and this Service is not served at the address yet         | refused
 *   has none, both are served there, and the other is older             | refused
 *
 * A Service for which nothing is to be written has all that it asks for, and keeps it (`reconcile-service.ts`).
 */
export function refuseTakenPorts(input: PortsInput): Rejection | undefined {
  const { observed, intent } = input;
  const addresses = new Set(input.addresses.map(canonicalAddress));
  for (const other of sharersOf(observed, intent.owner.uid, addresses)) {
    const parsed = parseService(other, observed.config);
    const ports = "intent" in parsed ? parsed.intent.ports : [];
    for (const address of [...addresses].filter((one) => isServedAt(other, one))) {
      const open = intent.ports.filter((port) => !hasRule(input, intent.owner.base, port, address));
      const taken = open.find((port) => ports.some((one) => isSame(one, port) && isFirst(input, other, one, address)));
      if (taken !== undefined) return portTaken(taken, other);
    }
  }
  return undefined;
}

function isFirst(input: PortsInput, other: Service, port: PortIntent, address: string): boolean {
  const { service } = input.observed;
  if (hasRule(input, baseName(other.metadata.uid), port, address) || !isServedAt(service, address)) return true;
  return ageOf(other) < ageOf(service);
}

function isServedAt({ status }: Service, address: string): boolean {
  return (status.loadBalancer.ingress ?? []).some(({ ip }) => ip !== undefined && canonicalAddress(ip) === address);
}

/** At that address: a Service that moves to a shared address has its rules elsewhere. One of unknown address counts. */
function hasRule({ observed, placement }: PortsInput, base: string, port: PortIntent, address: string): boolean {
  if (placement.seen === undefined) return false;
  const index = loadBalancerIndex(placement.seen);
  return partsOf(index, base).rules.some(({ properties }) => {
    const isOfProtocol = [port.protocol.toLowerCase(), "all"].includes(properties.protocol.toLowerCase());
    if (!isOfProtocol || ![port.port, 0].includes(properties.frontendPort)) return false;
    const frontend = index.frontends.get(frontendOf(properties.frontendIPConfiguration) ?? "");
    const [at = address] = frontend === undefined ? [] : addressesOn(observed, [frontend]);
    return at === address;
  });
}

function isSame(one: PortIntent, other: PortIntent): boolean {
  return one.port === other.port && one.protocol === other.protocol;
}

function portTaken({ protocol, port }: PortIntent, other: Service): Rejection {
  const message =
    `${protocol} port ${port} is taken on the address that it shares by Service ${serviceKey(other)}: ` +
    "use another port in spec.ports, or another address";
  return { kind: "rejection", reason: "PortConflict", message };
}
