/**
 * Which addresses of a Service are held by Services of other namespaces that do not share them
 * (`intent/address-sharing.ts`). A Service that asks for such an address is refused before its first write; one that has
 * it already, since sharing was limited later, keeps it with a warning.
 *
 *   address named by                                 | another Service has it if
 *   --------------------------------------------------|-----------------------------------------------------------
 *   `azure-pip-name`, `-ipv4`, `-ipv6`,               | the tag of the public IP lists it, a rule of it stands on
 *   `spec.loadBalancerIP`                             | the frontend, or its status shows the address
 *   `azure-additional-public-ips`                     | its status shows the address
 *
 * A public IP under the Service's own name is its own. Of Services that ask for an additional address at the same time the
 * oldest comes first; of those that ask for a frontend's, the first on the load balancer (`admit-fragments.ts`).
 */
import { holderOf, mayJoin, refuseToJoin, warnOfJoined } from "../intent/address-sharing.ts";
import { PLACEMENT } from "../intent/annotations/placement.ts";
import { parseService } from "../intent/parse-service.ts";
import type { ServiceIntent } from "../intent/service-intent.ts";
import type { PublicIP } from "../model/arm.ts";
import { ageOf, serviceKey, type Service } from "../model/kubernetes.ts";
import { baseOf } from "../model/names.ts";
import type { Observed } from "../observed.ts";
import type { Rejection, Warning } from "../outcome.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { servicesByBase } from "../resources/load-balancer/part-user.ts";
import { type DesiredPublicIP, keyOfPublicIP } from "../resources/public-ip/desired-public-ip.ts";
import { sameKey, servicesOf } from "../model/tags.ts";
import { sharersOf } from "../resources/security-group/shared-addresses.ts";
import { canonicalAddress } from "../util/cidr.ts";
import { publishedAddresses } from "./service-parts.ts";

type Joined = { readonly kind: "joined"; readonly warnings: readonly Warning[] };

export function judgeJoined(
  observed: Observed,
  intent: ServiceIntent,
  uses: readonly DesiredPublicIP[],
): Joined | Rejection {
  const { addressSharing: sharing } = observed.config;
  const own = intent.owner.base.toLowerCase();
  const warnings: Warning[] = [];
  for (const named of sharing === "any" ? [] : namedAddresses(intent, uses)) {
    const frontends = frontendsWith(observed, named);
    const isJoined = isServedAt(observed.service, named) || frontends.some(({ users }) => users.has(own));
    const others = othersWith(observed, named, frontends);
    const holder = isJoined
      ? holderOf([observed.service, ...others], frontends[0]?.base)
      : (holderOf(others, frontends[0]?.base) ?? holderOf(olderAskers(observed, named)));
    if (holder === undefined || mayJoin(sharing, holder, intent.owner.key)) continue;
    if (!isJoined) return refuseToJoin(sharing, named.text, holder, intent.owner.key);
    warnings.push(warnOfJoined(sharing, named.text, holder, intent.owner.key));
  }
  return { kind: "joined", warnings };
}

interface NamedAddress {
  /** The key that names it, and its value. */
  readonly text: string;
  /** Canonically spelt; absent while Azure has given none. */
  readonly address: string | undefined;
  readonly publicIP?: PublicIP;
  readonly isAdditional?: boolean;
}

function namedAddresses(intent: ServiceIntent, uses: readonly DesiredPublicIP[]): NamedAddress[] {
  const publicIPs = uses.flatMap(({ family, seen }): NamedAddress[] => {
    const wanted = intent.publicIPs[family];
    if (seen === undefined || wanted === undefined || wanted.kind === "generated") return [];
    const value = wanted.kind === "pinned" ? wanted.address : `"${wanted.name}"`;
    const address = seen.properties.ipAddress && canonicalAddress(seen.properties.ipAddress);
    return [{ text: `${keyOfPublicIP(intent, wanted, family)}: ${value}`, address, publicIP: seen }];
  });
  const pinned = intent.scope === "internal" ? Object.entries(intent.pinned) : [];
  return [
    ...publicIPs,
    ...pinned.map(([family, address]) => {
      const { key } = family === "IPv4" ? PLACEMENT.ipv4 : PLACEMENT.ipv6;
      return { text: `${key} or spec.loadBalancerIP: ${address}`, address: canonicalAddress(address) };
    }),
    ...intent.additionalPublicIPs.map((address) => ({
      text: `${PLACEMENT.additionalPublicIPs.key}: ${address}`,
      address: canonicalAddress(address),
      isAdditional: true,
    })),
  ];
}

interface NamedFrontend {
  /** Of its name. */
  readonly base: string;
  /** The bases of the rules on it; of its name where it has none. */
  readonly users: ReadonlySet<string>;
}

/** The frontends that have the address. */
function frontendsWith({ loadBalancers }: Observed, { publicIP, address = "" }: NamedAddress): NamedFrontend[] {
  return loadBalancers.flatMap((loadBalancer) => {
    const { byPublicIP, byPrivateAddress, users } = loadBalancerIndex(loadBalancer);
    const frontend = publicIP === undefined ? byPrivateAddress.get(address) : byPublicIP.get(publicIP.id.toLowerCase());
    if (frontend === undefined) return [];
    const base = baseOf(frontend.name);
    const bases = (users.get(frontend.name.toLowerCase()) ?? []).map((user) => user.base);
    return [{ base, users: new Set(bases.length > 0 ? bases : [base]) }];
  });
}

function othersWith(observed: Observed, named: NamedAddress, frontends: readonly NamedFrontend[]): Set<Service> {
  const { service, otherServices } = observed;
  const keys = named.publicIP === undefined ? [] : (servicesOf(named.publicIP) ?? []);
  const listed = otherServices.filter((other) => keys.some((key) => sameKey(key, serviceKey(other))));
  const byBase = servicesByBase(otherServices);
  const standing = frontends.flatMap(({ users }) => [...users].flatMap((base) => byBase.get(base) ?? []));
  const addresses = new Set(named.address === undefined ? [] : [named.address]);
  const shown = sharersOf(observed, service.metadata.uid, addresses).filter((other) => isServedAt(other, named));
  return new Set([...listed, ...standing, ...shown].filter((other) => isOther(other, service)));
}

/** Older Services that ask for the same additional address, which no Service has yet. */
function olderAskers({ config, service, otherServices }: Observed, { address, isAdditional }: NamedAddress): Service[] {
  if (isAdditional !== true) return [];
  return otherServices.filter((other) => {
    if (!isOther(other, service) || ageOf(other) > ageOf(service)) return false;
    const parsed = parseService(other, config);
    return "intent" in parsed && parsed.intent.additionalPublicIPs.some((one) => canonicalAddress(one) === address);
  });
}

function isOther({ metadata }: Service, service: Service): boolean {
  return metadata.uid !== service.metadata.uid && metadata.deletionTimestamp === undefined;
}

function isServedAt(service: Service, { address }: NamedAddress): boolean {
  return address !== undefined && publishedAddresses({ service }).includes(address);
}
