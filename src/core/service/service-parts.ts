/**
 * What a Service has in Azure now: on which frontends it stands, at which addresses, and what stands beside it on a load
 * balancer.
 */
import type { Frontend, LoadBalancer, PrivateLinkService, PublicIP } from "../model/arm.ts";
import { canonicalAddress } from "../util/cidr.ts";
import { parseId } from "../model/ids.ts";
import { frontendOf, loadBalancerIndex, partsOf } from "../resources/load-balancer/load-balancer-index.ts";
import { listedOf } from "../resources/observed-azure.ts";
import { publicIPIndex } from "../resources/public-ip/desired-public-ip.ts";
import type { Observed } from "../observed.ts";
import { nodeAddresses } from "../backends/eligible-nodes.ts";
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { isInternalName, ownPoolName, poolName } from "../model/names.ts";
import {
  desiredBackendPool,
  ownEntries,
  isPreConfigured,
  membersOf,
} from "../resources/backend-pool/desired-backend-pool.ts";
import { servicesByBase } from "../resources/load-balancer/part-user.ts";
import type { Disposable, HeldFrontend } from "../resources/load-balancer/fragment.ts";
import { isOfCluster, linkedFrontends, linksOn } from "../resources/private-link-service/private-link-services.ts";
import type { Owner } from "../outcome.ts";
import { ownIPConfigurations } from "../resources/nic-pools/desired-nic-pools.ts";
import { parseService } from "../intent/parse-service.ts";

/** The frontends that bear its name, and those of others that its rules stand on. */
export function frontendsOf(loadBalancer: LoadBalancer, base: string): Frontend[] {
  const index = loadBalancerIndex(loadBalancer);
  const { frontends, rules } = partsOf(index, base);
  const used = rules.map(({ properties }) => index.frontends.get(frontendOf(properties.frontendIPConfiguration) ?? ""));
  return [...new Set([...frontends, ...used])].filter((frontend) => frontend !== undefined);
}

/** The addresses of these frontends, as far as they have some yet, in their canonical spelling. */
export function addressesOn(observed: Pick<Observed, "listed">, frontends: readonly Frontend[]): string[] {
  return frontends.flatMap(({ properties: { publicIPAddress, privateIPAddress } }) => {
    const publicIP = publicIPAddress && findPublicIP(observed, publicIPAddress.id);
    const address = publicIPAddress === undefined ? privateIPAddress : publicIP?.properties.ipAddress;
    return address === undefined ? [] : [canonicalAddress(address)];
  });
}

function findPublicIP(observed: Pick<Observed, "listed">, id: string): PublicIP | undefined {
  const { resourceGroup = "", name = "" } = parseId(id) ?? {};
  const list = listedOf(observed, "publicIP").get(resourceGroup.toLowerCase());
  return list && publicIPIndex(list).byName.get(name.toLowerCase());
}

/** Those that the Service has been seen with: in its status, unless a node has the address now. */
export function formerAddresses({ service, nodes }: Pick<Observed, "service" | "nodes">): string[] {
  const ofNodes = nodeAddresses(nodes);
  return publishedAddresses({ service }).filter((address) => !ofNodes.has(address));
}

export function publishedAddresses({ service }: Pick<Observed, "service">): string[] {
  return (service.status.loadBalancer.ingress ?? []).flatMap(({ ip }) =>
    ip === undefined ? [] : [canonicalAddress(ip)],
  );
}

/** What a Service finds beside itself on a load balancer. */
export interface Surroundings {
  /**
   * Does the Service with this base want to be on a load balancer of this kind? One that cannot be read might: what it
   * has is left alone.
   */
  readonly isServedHere: (base: string) => boolean;
  /** By private link services that are not this cluster's. */
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
  const { otherServices, config } = observed;
  const isServedHere = (base: string): boolean => {
    const service = servicesByBase(otherServices).get(base);
    if (service === undefined || service.metadata.deletionTimestamp !== undefined) return false;
    const parsed = parseService(service, config);
    return !("intent" in parsed) || (parsed.intent.scope === "internal") === isInternalName(name);
  };
  return {
    isServedHere,
    held: seen === undefined ? [] : heldByOthers(observed, seen),
    neighbours: otherServices,
    disposable: seen && disposableOf(observed, seen),
  };
}

function heldByOthers(observed: Observed, { id }: LoadBalancer): HeldFrontend[] {
  const isForeign = (link: PrivateLinkService): boolean => !isOfCluster(link, observed.config.clusterName);
  const links = linkedFrontends(listedOf(observed, "privateLinkService"), id, isForeign);
  return [...links].map(([frontend, [link]]) => ({ frontend, by: link?.name ?? "" }));
}

/** The private link services on the frontends that a Service uses, whosever they are. */
export function linksOfService(observed: Observed, { base }: Owner): readonly PrivateLinkService[] {
  const all = listedOf(observed, "privateLinkService");
  if (all.size === 0) return [];
  const frontends = observed.loadBalancers.flatMap((seen) => frontendsOf(seen, base));
  return [...new Set(frontends.flatMap(({ id }) => (id === undefined ? [] : linksOn(all, id))))];
}

/** What of a load balancer is the cluster's own. `undefined`: it stays, another tool fills its pools. */
function disposableOf(observed: Observed, loadBalancer: LoadBalancer): Disposable | undefined {
  const { config, nodes, compute, service } = observed;
  if (isPreConfigured(config, loadBalancer.name)) return undefined;
  const known = membersOf(observed, loadBalancer);
  const families = ["IPv4", "IPv6"] as const;
  const pools = [
    ...families.map((family) => poolName(config.clusterName, family)),
    ...families.map((family) => ownPoolName(serviceKey(service), family)),
  ];
  if (config.poolType === "nodeIP") return { pools, entries: desiredBackendPool({ config, nodes, known }, "IPv4").own };
  const interfaces = compute && ownIPConfigurations({ config, nodes, compute, loadBalancer, known });
  return { pools, entries: ownEntries(nodes, known, interfaces) };
}
