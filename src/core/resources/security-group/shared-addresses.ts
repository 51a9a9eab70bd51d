/**
 * Which other Services claim an address: several Services may share one, and what one of them closes another may need
 * open. Indexed once per list of Services, since every decision about any of them asks.
 */
import type { Family, PublicIP } from "../../model/arm.ts";
import { canonicalAddress, familyOf } from "../../util/cidr.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { type Service, serviceKey } from "../../model/kubernetes.ts";
import { isOtherClusters, listsService, servicesOf } from "../../model/tags.ts";
import { RULES } from "../../intent/annotations/rules.ts";
import { isHeld } from "../../intent/ownership.ts";
import { parseService } from "../../intent/parse-service.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import { publicIPIndex } from "../public-ip/desired-public-ip.ts";
import { listedOf, type ObservedAzure } from "../observed-azure.ts";
import { isWideDenial, type Opening, type ServiceAddresses } from "./fragment.ts";
import { memoAll } from "../../util/memo.ts";
import { desiredAccessRules, opensOnNodes } from "./access-rules.ts";

/** What decides which Services share an address. */
export interface Sharing extends Pick<ObservedAzure, "listed"> {
  readonly config: ClusterConfig;
  /** Every Service that counts where Services meet, the one in question perhaps included. */
  readonly otherServices: readonly Service[];
}

interface Claims {
  /** Address → the Services that have it in the status, pin it or name it as an additional one. */
  readonly byAddress: ReadonlyMap<string, readonly Service[]>;
  /** Resource group and name of a public IP → the Services that use it by name. */
  readonly byPublicIP: ReadonlyMap<string, readonly Service[]>;
  /** Services that open something at the nodes' own addresses. */
  readonly onNodes: readonly Service[];
  /**
   * Key in lower case → a Service that may have something in Azure, and whose present spec is refused: it keeps what it
   * has. Where that is, the tags of public IPs tell; the status lags behind, and the spec may name the address no more.
   */
  readonly refused: ReadonlyMap<string, Service>;
  /** Key in lower case → a Service without a status whose public IP is its own: the tag of the public IP tells which. */
  readonly unpublished: ReadonlyMap<string, Service>;
}

/** Other Services that have, or are about to have, one of these addresses. Deleting ones give up theirs. */
export function sharersOf(sharing: Sharing, uid: string, addresses: ReadonlySet<string>): readonly Service[] {
  const { byAddress, byPublicIP, refused, unpublished } = claimsOf(sharing);
  const found = new Set<Service>();
  for (const address of addresses) {
    for (const service of byAddress.get(address) ?? []) found.add(service);
  }
  if (byPublicIP.size > 0 || refused.size > 0 || unpublished.size > 0) {
    for (const [group, publicIP] of publicIPsAt(sharing, addresses)) {
      for (const service of byPublicIP.get(publicIPKey(group, publicIP.name)) ?? []) found.add(service);
      for (const key of servicesOf(publicIP) ?? []) {
        const service = refused.get(key.toLowerCase()) ?? unpublished.get(key.toLowerCase());
        if (service !== undefined) found.add(service);
      }
    }
  }
  return [...found].filter((service) => service.metadata.uid !== uid);
}

/** Other Services that open something at the nodes' own addresses: they share those. */
export function nodeSharersOf(sharing: Sharing, uid: string): readonly Service[] {
  return claimsOf(sharing).onNodes.filter((service) => service.metadata.uid !== uid);
}

/**
 * What another Service wants, with its denials both of all ports and of its own: which of them it has is told by the
 * security group. `undefined`: what it wants cannot be told, so that what it has must stay.
 */
export function openingOf(service: Service, sharing: Sharing, nodes: ServiceAddresses["nodes"]): Opening | undefined {
  const parsed = parseService(service, sharing.config);
  if (!("intent" in parsed)) return undefined;
  const { intent } = parsed;
  const asked = askedOnly(service, intent, sharing);
  const tagged = isUnpublished(service, intent) ? taggedAddresses(intent, sharing) : [];
  const held = [...heldAddresses(service, intent), ...namedAddresses(intent, sharing), ...tagged].filter(
    (address) => !asked.has(address),
  );
  const current: Record<Family, string[]> = { IPv4: [], IPv6: [] };
  for (const address of new Set(held)) {
    const family = familyOf(address);
    if (family !== undefined && !intent.additionalPublicIPs.includes(address)) current[family].push(address);
  }
  const addresses = { current, nodes, pending: intent.families }; // the status lags behind what it has opened
  const narrow = desiredAccessRules(intent, { ...addresses, isNarrow: () => true });
  const wide = desiredAccessRules(intent, { ...addresses, isNarrow: () => false }).filter(isWideDenial);
  return { owner: intent.owner, rules: [...narrow, ...wide], ownRules: intent.access.ownRules };
}

function claimsOf({ config, otherServices }: Sharing): Claims {
  return claims(config, otherServices);
}

const claims = memoAll((config: ClusterConfig, services: readonly Service[]): Claims => {
  const byAddress = new Map<string, Service[]>();
  const byPublicIP = new Map<string, Service[]>();
  const onNodes: Service[] = [];
  const refused = new Map<string, Service>();
  const unpublished = new Map<string, Service>();
  for (const service of services) {
    if (service.metadata.deletionTimestamp !== undefined) continue;
    const claim = claimOf(config, service);
    for (const address of claim.addresses) append(byAddress, address, service);
    for (const key of claim.publicIPs) append(byPublicIP, key, service);
    if (claim.isOnNodes) onNodes.push(service);
    if (claim.unpublished !== undefined) unpublished.set(claim.unpublished, service);
    if (claim.refused !== undefined) refused.set(claim.refused, service);
  }
  return { byAddress, byPublicIP, onNodes, refused, unpublished };
});

/** What one Service adds to the index: every change of any Service makes the list anew, and most Services are the same in it. */
interface Claim {
  readonly addresses: readonly string[];
  readonly publicIPs: readonly string[];
  readonly isOnNodes: boolean;
  /** Its key, where it belongs into that table. */
  readonly unpublished: string | undefined;
  readonly refused: string | undefined;
}

const claimOf = memoAll((config: ClusterConfig, service: Service): Claim => {
  const parsed = parseService(service, config);
  const intent = "intent" in parsed ? parsed.intent : undefined;
  const key = serviceKey(service).toLowerCase();
  return {
    addresses: [...new Set(heldAddresses(service, intent))],
    publicIPs: intent === undefined ? [] : namedPublicIPs(intent),
    isOnNodes: isOnNodes(service, intent),
    unpublished: intent !== undefined && isUnpublished(service, intent) ? key : undefined,
    refused: intent === undefined && isHeld(service) ? key : undefined,
  };
});

function append(map: Map<string, Service[]>, key: string, service: Service): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [service]);
  else list.push(service);
}

/** What a Service asks for counts once it bears the finalizer: before that it has nothing that would ever be closed. */
function heldAddresses(service: Service, intent: ServiceIntent | undefined): readonly string[] {
  const ingress = (service.status.loadBalancer.ingress ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [ip]));
  const asked =
    intent === undefined || !isHeld(service) ? [] : [...Object.values(intent.pinned), ...intent.additionalPublicIPs];
  return [...ingress, ...asked].map(canonicalAddress);
}

/**
 * Addresses of public IPs that a Service pins and has not got: it opens nothing there before the tag of the public IP lists
 * it. It may be refused, and then never closes what was left open for it. A public IP without that tag, a user's, lists none.
 */
function askedOnly(service: Service, { owner, scope, pinned }: ServiceIntent, sharing: Sharing): ReadonlySet<string> {
  if (scope === "internal") return new Set();
  const shown = new Set((service.status.loadBalancer.ingress ?? []).map(({ ip = "" }) => canonicalAddress(ip)));
  const asked = Object.values(pinned)
    .map(canonicalAddress)
    .filter((address) => !shown.has(address));
  if (asked.length === 0) return new Set();
  const publicIPs = [...listedOf(sharing, "publicIP").values()].flat();
  const isUnlisted = (address: string): boolean => {
    const found = publicIPs.filter((publicIP) => addressOf(publicIP).includes(address));
    return found.length > 0 && found.every((one) => servicesOf(one) !== undefined && !listsService(one, owner.key));
  };
  return new Set(asked.filter(isUnlisted));
}

/** It may have opened the address of its public IP already, also one that its former incarnation had. */
function isUnpublished(service: Service, { scope, publicIPs }: ServiceIntent): boolean {
  const isGenerated = Object.values(publicIPs).every(({ kind }) => kind === "generated");
  return (
    scope === "external" && isGenerated && isHeld(service) && (service.status.loadBalancer.ingress ?? []).length === 0
  );
}

/** Of the public IPs whose tags list the Service. */
function taggedAddresses({ owner }: ServiceIntent, sharing: Sharing): readonly string[] {
  return [...listedOf(sharing, "publicIP").values()]
    .flatMap((list) => publicIPIndex(list).byService.get(owner.key.toLowerCase()) ?? [])
    .filter((publicIP) => !isOtherClusters(publicIP, sharing.config.clusterName))
    .flatMap(addressOf);
}

function isOnNodes(service: Service, intent: ServiceIntent | undefined): boolean {
  if (intent !== undefined) return opensOnNodes(intent);
  return service.metadata.annotations?.[RULES.disableFloatingIP.key]?.toLowerCase() === "true";
}

function namedPublicIPs(intent: ServiceIntent): readonly string[] {
  return Object.values(intent.publicIPs).flatMap((publicIP) =>
    publicIP.kind === "named" ? [publicIPKey(intent.publicIPResourceGroup, publicIP.name)] : [],
  );
}

function publicIPKey(resourceGroup: string, name: string): string {
  return `${resourceGroup}/${name}`.toLowerCase();
}

function namedAddresses(intent: ServiceIntent, sharing: Sharing): readonly string[] {
  const names = new Set(namedPublicIPs(intent));
  if (names.size === 0) return [];
  const group = intent.publicIPResourceGroup.toLowerCase();
  return (listedOf(sharing, "publicIP").get(group) ?? [])
    .filter((publicIP) => names.has(publicIPKey(group, publicIP.name)))
    .flatMap(addressOf);
}

/** With their resource groups. */
export function publicIPsAt(
  sharing: Pick<Sharing, "listed">,
  addresses: ReadonlySet<string>,
): readonly (readonly [string, PublicIP])[] {
  return [...listedOf(sharing, "publicIP")].flatMap(([group, list]) => {
    const { byAddress } = publicIPIndex(list);
    return [...addresses].flatMap((address) => {
      const publicIP = byAddress.get(address);
      return publicIP === undefined ? [] : [[group, publicIP] as const];
    });
  });
}

function addressOf({ properties }: PublicIP): readonly string[] {
  return properties.ipAddress === undefined ? [] : [canonicalAddress(properties.ipAddress)];
}
