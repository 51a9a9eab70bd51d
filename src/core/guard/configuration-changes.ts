/**
 * Settings of the controller that differ from what published Services have in Azure. Each of them would move addresses or
 * traffic of Services that no user has changed, so the controller does not start its work unless the change is accepted.
 * Where Azure does not tell, nothing is refused.
 *
 *   change         | is told by
 *   ---------------|-----------------------------------------------------------------------------------------------
 *   cluster-name   | the cluster tag of the public IP; else the pool's name, if its load balancer has none of the configured name
 *   resource-group | the load balancer that the public IP is on; else the member lists (`services-elsewhere.ts`)
 *   vm-type        | the pool's entries: all are scale-set instances. Network interfaces tell nothing: any type may have them
 *   sku            | the load balancer's
 *   pool-type      | the pool's entries: network interfaces or addresses; not where another tool fills the pools
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { nameOfId } from "../model/ids.ts";
import { clusterOfPool, migrationPoolName, ownPoolName, poolName } from "../model/names.ts";
import { holdsInterfaces } from "../resources/backend-pool/merge-backend-pool.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { clusterOf, listsService } from "../model/tags.ts";
import { pluralize } from "../util/text.ts";
import { publishedAddresses, type PublishedAddress, type PublishedCluster } from "./published-services.ts";
import { type ServiceElsewhere, servicesElsewhere } from "./services-elsewhere.ts";

export const CHANGES = ["cluster-name", "resource-group", "vm-type", "sku", "pool-type"] as const;
export type Change = (typeof CHANGES)[number];

export interface ConfigurationChange {
  readonly change: Change;
  readonly configured: string;
  /** The other values, sorted. */
  readonly found: readonly string[];
  /** Keys of the Services that have them, sorted. */
  readonly services: readonly string[];
  readonly message: string;
}

interface Setting {
  readonly noun: string;
  readonly configured: (config: ClusterConfig) => string;
  /** The value that the address was published with; `undefined` where it is the configured one, or cannot be told. */
  readonly otherValue?: (address: PublishedAddress, config: ClusterConfig) => string | undefined;
  /** The same where no load balancer that was read has anything of the Service. */
  readonly elsewhere?: (cluster: PublishedCluster, config: ClusterConfig) => readonly ServiceElsewhere[];
  /** How the user goes on with the value that was found. */
  readonly keep: (value: string) => string;
}

const SETTINGS: Readonly<Record<Change, Setting>> = {
  "cluster-name": {
    noun: "cluster name",
    configured: ({ clusterName }) => clusterName,
    otherValue: otherClusterName,
    keep: (value) => `start with --cluster-name=${value}`,
  },
  "resource-group": {
    noun: "resource group of load balancers",
    configured: ({ loadBalancerResourceGroup }) => loadBalancerResourceGroup,
    elsewhere: (cluster, { loadBalancerResourceGroup }) => servicesElsewhere(cluster, loadBalancerResourceGroup),
    keep: (value) => `set loadBalancerResourceGroup: ${value} in the cloud config`,
  },
  "vm-type": {
    noun: "VM type",
    configured: ({ vmType }) => vmType,
    otherValue: otherVmType,
    keep: (value) => `set vmType: ${value} in the cloud config`,
  },
  sku: {
    noun: "load balancer SKU",
    configured: ({ sku }) => sku,
    otherValue: otherSku,
    keep: (value) => `set loadBalancerSku: ${value} in the cloud config`,
  },
  "pool-type": {
    noun: "backend pool type",
    configured: ({ poolType }) => poolType,
    otherValue: otherPoolType,
    keep: (value) => `set loadBalancerBackendPoolConfigurationType: ${value} in the cloud config`,
  },
};

/** Empty where the controller may start. */
export function configurationChanges(
  cluster: PublishedCluster,
  config: ClusterConfig,
  accepted: Change | undefined,
): ConfigurationChange[] {
  const refused = CHANGES.filter((change) => change !== accepted);
  const changes = refused.flatMap((change) => changeOf(change, cluster, config) ?? []);
  return accepted === "pool-type" ? [...changes, ...linkedPools(cluster, config)] : changes;
}

/** Azure has no private link service in front of addresses: under one the change cannot be accepted. */
function linkedPools(cluster: PublishedCluster, config: ClusterConfig): ConfigurationChange[] {
  const linksOf = (address: PublishedAddress): readonly string[] => {
    const links = (address.loadBalancer.properties.frontendIPConfigurations ?? [])
      .flatMap(({ properties }) => properties.privateLinkServices ?? [])
      .map(({ id }) => nameOfId(id));
    return config.poolType === "nodeIP" && otherPoolType(address, config) !== undefined ? links : [];
  };
  const addresses = publishedAddresses(cluster).filter((address) => linksOf(address).length > 0);
  if (addresses.length === 0) return [];
  const links = [...new Set(addresses.flatMap(linksOf))].sort();
  const services = [...new Set(addresses.map(({ service }) => serviceKey(service)))].sort();
  const message =
    `the backend pool type is "nodeIP", but ${links.length === 1 ? "private link service" : "private link services"} ` +
    `${links.map((name) => `"${name}"`).join(", ")} ${links.length === 1 ? "stands" : "stand"} on a load balancer whose pools ` +
    "hold network interfaces, and Azure allows none on pools of addresses: nothing is written, neither to Azure nor to " +
    "Services. Delete it first, which ends its connections, or set loadBalancerBackendPoolConfigurationType: " +
    "nodeIPConfiguration in the cloud config";
  return [{ change: "pool-type", configured: config.poolType, found: ["nodeIPConfiguration"], services, message }];
}

/** Keys, sorted, of the Services that have another value than the configured one of the setting that the user lets differ. */
export function acceptedServices(
  cluster: PublishedCluster,
  config: ClusterConfig,
  accepted: Change | undefined,
): readonly string[] {
  return (accepted && changeOf(accepted, cluster, config)?.services) ?? [];
}

function changeOf(change: Change, cluster: PublishedCluster, config: ClusterConfig): ConfigurationChange | undefined {
  const { configured, otherValue, elsewhere } = SETTINGS[change];
  const found = new Set<string>();
  const services = new Set<string>();
  const note = (service: Service, value: string | undefined): void => {
    if (value === undefined) return;
    found.add(value);
    services.add(serviceKey(service));
  };
  if (otherValue !== undefined)
    for (const address of publishedAddresses(cluster)) note(address.service, otherValue(address, config));
  for (const { service, group } of elsewhere?.(cluster, config) ?? []) note(service, group);
  if (services.size === 0) return undefined;
  const facts = { change, configured: configured(config), found: [...found].sort(), services: [...services].sort() };
  return { ...facts, message: messageOf(facts) };
}

const MOST_NAMES = 3;

function messageOf({ change, configured, found, services }: Omit<ConfigurationChange, "message">): string {
  const { noun, keep } = SETTINGS[change];
  const names = services.slice(0, MOST_NAMES).join(", ") + (services.length > MOST_NAMES ? ", …" : "");
  const values = found.map((value) => `"${value}"`).join(", ");
  return [
    `the ${noun} is "${configured}", but ${pluralize(services.length, "published Service")} (${names})`,
    `${services.length === 1 ? "has" : "have"} ${values} in Azure: nothing is written, neither to Azure nor to Services.`,
    `To keep what is there, ${keep(found[0] ?? "")};`,
    `to change it, which may move addresses, start with --accept-change=${change}`,
  ].join(" ");
}

function otherClusterName({ service, loadBalancer, pool, publicIP }: PublishedAddress, config: ClusterConfig) {
  const { clusterName } = config;
  const tagged = publicIP && listsService(publicIP, serviceKey(service)) ? clusterOf(publicIP) : undefined;
  if (tagged !== undefined) return isSame(tagged, clusterName) ? undefined : tagged;
  const { pools } = loadBalancerIndex(loadBalancer);
  const families = ["IPv4", "IPv6"] as const;
  const hasOwnPool = families.some((family) => pools.has(poolName(clusterName, family).toLowerCase()));
  const isOwn = families.some((family) => ownPoolName(serviceKey(service), family) === pool?.name.toLowerCase());
  return pool === undefined || hasOwnPool || isOwn ? undefined : clusterOfPool(pool.name);
}

/** Both other types have network interfaces of their own, and so may single machines beside scale sets. */
function otherVmType({ pool }: PublishedAddress, { vmType }: ClusterConfig): string | undefined {
  const members = pool?.properties.backendIPConfigurations ?? [];
  const areInstances = members.length > 0 && members.every(({ id }) => /\/virtualMachineScaleSets\//i.test(id));
  return areInstances && vmType !== "vmss" ? "vmss" : undefined;
}

/** Only the SKUs that can be configured: a load balancer of another one was not made for Services. */
function otherSku({ loadBalancer }: PublishedAddress, { sku }: ClusterConfig): string | undefined {
  const found = (loadBalancer.sku?.name ?? "basic").toLowerCase();
  return ["standard", "basic"].includes(found) && found !== sku ? found : undefined;
}

/** An empty pool tells nothing; one that stands in for another tells that its migration is not over. */
function otherPoolType({ pool }: PublishedAddress, config: ClusterConfig): string | undefined {
  if (pool === undefined || config.preConfiguredPools !== "none") return undefined;
  const other = config.poolType === "nodeIP" ? "nodeIPConfiguration" : "nodeIP";
  const seconds = (["IPv4", "IPv6"] as const).map((family) => migrationPoolName(poolName(config.clusterName, family)));
  if (seconds.some((second) => isSame(second, pool.name))) return other;
  const { loadBalancerBackendAddresses: entries = [] } = pool.properties;
  const found = holdsInterfaces(pool) ? "nodeIPConfiguration" : entries.length > 0 ? "nodeIP" : config.poolType;
  return found === config.poolType ? undefined : found;
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
