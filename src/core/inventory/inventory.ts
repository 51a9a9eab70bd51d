/**
 * Azure as the controller sees it, as rows for `azlb get`: what is the controller's, whose Service it is for, and what is
 * foreign, which means that another client made it and it is written back as it was read.
 */
import { adminStateOf, nodeFinder } from "../admin-state/reconcile-admin-state.ts";
import type { Compute } from "../backends/compute.ts";
import { ipConfigurationFinder } from "../backends/machines.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type {
  BackendPool,
  LoadBalancer,
  LoadBalancingRule,
  PublicIP,
  SecurityGroup,
  SecurityRule,
} from "../model/arm.ts";
import { nameOfId, parentId } from "../model/ids.ts";
import { type Node, type Service, serviceKey } from "../model/kubernetes.ts";
import { baseOf, isInternalName, migrationPoolName, poolName } from "../model/names.ts";
import { isOfCluster, servicesOf } from "../model/tags.ts";
import { keyIn } from "../resources/load-balancer/part-user.ts";
import { BOTH, isManagedName } from "../resources/managed-pools.ts";
import { destinationsOf, kindOf, portsOf, sourcesOf } from "../resources/security-group/security-rules.ts";

export interface Inventory {
  readonly config: ClusterConfig;
  readonly services: readonly Service[];
  readonly loadBalancers: readonly LoadBalancer[];
  readonly publicIPs: readonly PublicIP[];
  readonly securityGroup: SecurityGroup | undefined;
  readonly nodes: readonly Node[];
  /** Only where nodes join pools by their network interfaces. */
  readonly compute?: Compute;
}

/** A row of a table; the keys are its columns, in this order. */
export type Row = Readonly<Record<string, string | number>>;

const FOREIGN = "foreign";
const OURS = "azlb";

/** `name`: of the resource that the row shows, or of its load balancer. */
export const INVENTORY_TABLES = {
  lb: { noun: "load balancer", rows: loadBalancerRows },
  pool: { noun: "pool or load balancer", rows: poolRows },
  members: { noun: "pool, load balancer or node", rows: memberRows },
  nsg: { noun: "security rule", rows: securityRows },
  pip: { noun: "public IP or address", rows: publicIPRows },
} as const satisfies Record<string, { noun: string; rows: (inventory: Inventory) => Row[] }>;

export type InventoryTable = keyof typeof INVENTORY_TABLES;

function loadBalancerRows(inventory: Inventory): Row[] {
  const { config } = inventory;
  const isManaged = isManagedName({ ...inventory, members: new Map() });
  return inventory.loadBalancers.map(({ name, sku, properties }) => {
    const { frontendIPConfigurations = [], loadBalancingRules = [], inboundNatRules = [] } = properties;
    const pools = properties.backendAddressPools ?? [];
    const members = pools.flatMap((pool) => pool.properties.loadBalancerBackendAddresses ?? []);
    const { frontends, rules } = config.loadBalancerLimits;
    return {
      name,
      scope: isInternalName(name) ? "internal" : "external",
      sku: sku?.name ?? "Basic",
      frontends: `${frontendIPConfigurations.length}/${frontends}`,
      rules: `${loadBalancingRules.length + inboundNatRules.length}/${rules}`,
      pools: pools.length,
      members: members.length,
      state: properties.provisioningState ?? "",
      owner: isManaged(name) ? OURS : FOREIGN,
    };
  });
}

function poolRows(inventory: Inventory): Row[] {
  return poolsIn(inventory).map(({ loadBalancer, pool, owner }) => {
    const entries = pool.properties.loadBalancerBackendAddresses ?? [];
    return {
      loadBalancer: loadBalancer.name,
      pool: pool.name,
      members: entries.length || (pool.properties.backendIPConfigurations ?? []).length,
      down: entries.filter((entry) => adminStateOf(entry) === "Down").length,
      rules: rulesTo(loadBalancer, pool).length,
      owner,
    };
  });
}

function memberRows(inventory: Inventory): Row[] {
  const { nodes, compute } = inventory;
  const nodeOf = nodeFinder(nodes, compute && ipConfigurationFinder(nodes, compute));
  return poolsIn(inventory).flatMap(({ loadBalancer, pool, owner }) =>
    (pool.properties.loadBalancerBackendAddresses ?? []).map((entry) => {
      const node = nodeOf(entry);
      return {
        loadBalancer: loadBalancer.name,
        pool: pool.name,
        member: entry.name,
        address: entry.properties.ipAddress ?? nameOfId(entry.properties.networkInterfaceIPConfiguration?.id ?? ""),
        adminState: adminStateOf(entry),
        node: node?.metadata.name ?? "",
        owner: owner !== FOREIGN && node !== undefined ? OURS : FOREIGN,
      };
    }),
  );
}

interface OwnedPool {
  readonly loadBalancer: LoadBalancer;
  readonly pool: BackendPool;
  /** `azlb`: all nodes of the cluster; a Service that has it for itself; or foreign. */
  readonly owner: string;
}

function poolsIn(inventory: Inventory): OwnedPool[] {
  const isManaged = isManagedName({ ...inventory, members: new Map() });
  const families = BOTH.map((family) => poolName(inventory.config.clusterName, family).toLowerCase());
  const clusterPools = new Set(families.flatMap((name) => [name, migrationPoolName(name)]));
  return inventory.loadBalancers.flatMap((loadBalancer) => {
    const pools = loadBalancer.properties.backendAddressPools ?? [];
    return pools.map((pool) => {
      const isOurs = isManaged(loadBalancer.name) && clusterPools.has(pool.name.toLowerCase());
      return { loadBalancer, pool, owner: isOurs ? OURS : (userOfPool(inventory, loadBalancer, pool) ?? FOREIGN) };
    });
  });
}

/** The Service whose rules send there. */
function userOfPool({ services }: Inventory, loadBalancer: LoadBalancer, pool: BackendPool): string | undefined {
  const users = rulesTo(loadBalancer, pool).flatMap(({ name }) => keyIn(services, baseOf(name)) ?? []);
  return users[0];
}

function rulesTo({ properties }: LoadBalancer, { name }: BackendPool): readonly LoadBalancingRule[] {
  return (properties.loadBalancingRules ?? []).filter(
    (rule) => nameOfId(rule.properties.backendAddressPool?.id ?? "").toLowerCase() === name.toLowerCase(),
  );
}

function securityRows({ services, securityGroup, publicIPs }: Inventory): Row[] {
  const rules = (securityGroup?.properties.securityRules ?? []).toSorted(
    (one, other) => one.properties.priority - other.properties.priority,
  );
  return rules.map((rule) => ({
    priority: rule.properties.priority,
    name: rule.name,
    direction: rule.properties.direction,
    access: rule.properties.access,
    protocol: rule.properties.protocol,
    sources: sourcesOf(rule).join(","),
    destinations: destinationsOf(rule).join(","),
    ports: portsOf(rule).join(","),
    owner: ownerOfRule(rule, services, publicIPs),
  }));
}

/** A shared rule opens what its destinations have in common: those Services, as far as public IPs tell. */
function ownerOfRule(rule: SecurityRule, services: readonly Service[], publicIPs: readonly PublicIP[]): string {
  const kind = kindOf(rule.name.toLowerCase());
  switch (kind.kind) {
    case "own":
    case "legacy":
      return keyIn(services, kind.base) ?? "a Service that is not in this cluster";
    case "shared":
    case "legacyShared": {
      const addresses = new Set(destinationsOf(rule));
      const published = services.filter(({ status }) =>
        (status.loadBalancer.ingress ?? []).some(({ ip }) => ip !== undefined && addresses.has(ip)),
      );
      const tagged = publicIPs.filter(({ properties }) => addresses.has(properties.ipAddress ?? ""));
      const keys = [...published.map(serviceKey), ...tagged.flatMap((publicIP) => servicesOf(publicIP) ?? [])];
      return [...new Set(keys)].sort().join(",") || OURS;
    }
    case "foreign":
      return FOREIGN;
  }
}

function publicIPRows({ config, publicIPs, loadBalancers }: Inventory): Row[] {
  return publicIPs.map((publicIP) => {
    const { name, sku, properties } = publicIP;
    const user = properties.ipConfiguration?.id;
    const used = loadBalancers.find(({ id }) => user?.toLowerCase().startsWith(`${id.toLowerCase()}/`));
    return {
      name,
      address: properties.ipAddress ?? "",
      sku: sku?.name ?? "Basic",
      usedBy: used?.name ?? (user === undefined ? "" : nameOfId(parentId(user))),
      services: (servicesOf(publicIP) ?? []).join(","),
      owner: isOfCluster(publicIP, config.clusterName) ? OURS : FOREIGN,
    };
  });
}
