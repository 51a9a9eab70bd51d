/**
 * What a Service finds beside itself on a load balancer: other Services that are served there, what keeps frontends there
 * that it leaves, and what of the load balancer is the cluster's own.
 *
 * An address in a status was given to that Service, whether or not a rule of it stands there (another client may have
 * removed the rule, or the Service asks for none): the frontend stays for it when the owner of the frontend leaves, and
 * goes with the last Service that was given its address.
 */
import type { LoadBalancer, PrivateLinkService } from "../model/arm.ts";
import { canonicalAddress } from "../util/cidr.ts";
import { loadBalancerIndex, poolsOf } from "../resources/load-balancer/load-balancer-index.ts";
import { listedOf } from "../resources/observed-azure.ts";
import { publicIPIndex } from "../resources/public-ip/desired-public-ip.ts";
import type { Observed } from "../observed.ts";
import { serviceKey, type Service } from "../model/kubernetes.ts";
import {
  baseName,
  baseOf,
  isInternalName,
  isServiceBase,
  migrationPoolName,
  ownPoolName,
  poolName,
  externalName,
} from "../model/names.ts";
import {
  desiredBackendPool,
  ownEntries,
  isPreConfigured,
  membersOf,
} from "../resources/backend-pool/desired-backend-pool.ts";
import { servicesByBase } from "../resources/load-balancer/part-user.ts";
import type { Disposable, HeldFrontend } from "../resources/load-balancer/fragment.ts";
import { isOfCluster, linkedFrontends } from "../resources/private-link-service/private-link-services.ts";
import { ownIPConfigurations } from "../resources/nic-pools/desired-nic-pools.ts";
import { sharersOf } from "../resources/security-group/shared-addresses.ts";
import { parseService } from "../intent/parse-service.ts";
import { addressesOn, frontendsOf, publishedAddresses } from "./service-parts.ts";

/** What a Service finds beside itself on a load balancer. */
export interface Surroundings {
  /**
   * Does the Service with this base want to be on a load balancer of this kind? One that cannot be read might: what it
   * has is left alone.
   */
  readonly isServedHere: (base: string) => boolean;
  /** Names, in lower case, of other Services' frontends at the addresses in its status. */
  readonly standsOn: readonly string[];
  /** By private link services that are not this cluster's; of its own frontends, by Services that share them. */
  readonly held: readonly HeldFrontend[];
  /** For what is said to people. */
  readonly neighbours: readonly Service[];
  readonly disposable: Disposable | undefined;
}

/** `seen` is absent where the load balancer is yet to be made. */
export function surroundingsOn(
  observed: Observed,
  { name, seen }: { readonly name: string; readonly seen: LoadBalancer | undefined },
): Surroundings {
  return {
    isServedHere: (base) => isServedOn(observed, name, base),
    standsOn: seen === undefined ? [] : publishedFrontends(observed, seen),
    held: seen === undefined ? [] : [...heldByLinks(observed, seen), ...heldByServices(observed, seen)],
    neighbours: observed.otherServices,
    disposable: seen && disposableOf(observed, seen),
  };
}

function isServedOn({ otherServices, config }: Observed, loadBalancer: string, base: string): boolean {
  const service = servicesByBase(otherServices).get(base);
  if (service === undefined || service.metadata.deletionTimestamp !== undefined) return false;
  const parsed = parseService(service, config);
  return !("intent" in parsed) || (parsed.intent.scope === "internal") === isInternalName(loadBalancer);
}

function heldByLinks(observed: Observed, { id }: LoadBalancer): HeldFrontend[] {
  const isForeign = (link: PrivateLinkService): boolean => !isOfCluster(link, observed.config.clusterName);
  const links = linkedFrontends(listedOf(observed, "privateLinkService"), id, isForeign);
  return [...links].map(([frontend, [link]]) => ({ frontend, by: { kind: "privateLink", name: link?.name ?? "" } }));
}

/** Of the frontends that the Service may leave: those with an address that another Service was given. */
function heldByServices(observed: Observed, loadBalancer: LoadBalancer): HeldFrontend[] {
  const { service } = observed;
  const index = loadBalancerIndex(loadBalancer);
  const published = publishedFrontends(observed, loadBalancer).flatMap((name) => index.frontends.get(name) ?? []);
  const candidates = new Set([...frontendsOf(loadBalancer, baseName(service.metadata.uid)), ...published]);
  return [...candidates].flatMap((frontend) => {
    const [address] = addressesOn(observed, [frontend]);
    if (address === undefined) return [];
    const sharers = sharersOf(observed, service.metadata.uid, new Set([address]));
    const holder = sharers.find((other) => isGiven(observed, other, address));
    if (holder === undefined) return [];
    const by = { key: serviceKey(holder), base: baseName(holder.metadata.uid).toLowerCase() };
    return [{ frontend: frontend.name.toLowerCase(), by: { kind: "service" as const, ...by } }];
  });
}

/** An additional address in the status is no frontend's of the Service. */
function isGiven({ config }: Observed, service: Service, address: string): boolean {
  if (!publishedAddresses({ service }).includes(address)) return false;
  const parsed = parseService(service, config);
  return !("intent" in parsed) || !parsed.intent.additionalPublicIPs.map(canonicalAddress).includes(address);
}

/** Names, in lower case, of other Services' frontends at the addresses in the Service's status. */
function publishedFrontends(observed: Observed, loadBalancer: LoadBalancer): string[] {
  const { service } = observed;
  const { byPrivateAddress, byPublicIP } = loadBalancerIndex(loadBalancer);
  const lists = [...listedOf(observed, "publicIP").values()].map((list) => publicIPIndex(list).byAddress);
  const own = baseName(service.metadata.uid).toLowerCase();
  return publishedAddresses({ service })
    .filter((address) => isGiven(observed, service, address))
    .flatMap((address) => {
      const ids = lists.flatMap((byAddress) => byAddress.get(address)?.id.toLowerCase() ?? []);
      return [byPrivateAddress.get(address), ...ids.map((id) => byPublicIP.get(id))];
    })
    .flatMap((frontend) => frontend?.name.toLowerCase() ?? [])
    .filter((name) => isServiceBase(baseOf(name)) && baseOf(name) !== own);
}

/** Those with a frontend at an address in the Service's status that is left to it: its owner is not served there any more. */
export function loadBalancersLeftTo(observed: Observed): LoadBalancer[] {
  return observed.loadBalancers.filter((seen) =>
    publishedFrontends(observed, seen).some((name) => !isServedOn(observed, seen.name, baseOf(name))),
  );
}

/** What of a load balancer is the cluster's own. `undefined`: it stays, another tool fills its pools. */
function disposableOf(observed: Observed, loadBalancer: LoadBalancer): Disposable | undefined {
  const { config, nodes, compute, service } = observed;
  if (isPreConfigured(config, loadBalancer.name)) return undefined;
  const known = membersOf(observed, loadBalancer);
  const families = ["IPv4", "IPv6"] as const;
  const pools = [
    ...families.map((family) => poolName(config.clusterName, family)),
    ...families.map((family) => migrationPoolName(poolName(config.clusterName, family))),
    ...families.map((family) => ownPoolName(serviceKey(service), family)),
    ...formerClusterPools(observed, loadBalancer),
  ];
  if (config.poolType === "nodeIP" && !config.migratesPools)
    return { pools, entries: desiredBackendPool({ config, nodes, known }, "IPv4").own };
  const interfaces = compute && ownIPConfigurations({ config, nodes, compute, loadBalancer, known });
  return { pools, entries: ownEntries(nodes, known, interfaces) };
}

/** Pools of a former cluster name, which a load balancer of that name has, and which rules of the Service send to. */
function formerClusterPools({ service }: Observed, loadBalancer: LoadBalancer): string[] {
  const families = ["IPv4", "IPv6"] as const;
  const names = families.map((family) => poolName(externalName(loadBalancer.name), family));
  const sentTo = poolsOf(loadBalancerIndex(loadBalancer), baseName(service.metadata.uid));
  return names.filter((name) => sentTo.has(name.toLowerCase()));
}
