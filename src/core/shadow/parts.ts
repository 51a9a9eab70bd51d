/**
 * Azure's state as the set of what is there: resources, and the named parts of load balancers and security groups. Fields
 * are left out; whether they are right is what a plan tells. Also which parts belong to this cluster: everything else may
 * come and go as other clients like.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { BackendPool, LoadBalancer, SecurityGroup } from "../model/arm.ts";
import { nameOfId } from "../model/ids.ts";
import { baseOf, isManagedLoadBalancer, ownPoolName, poolName, SHARED_PROBE_NAME } from "../model/names.ts";
import { CLUSTER_TAG, OWNER_TAG, SERVICE_TAG, tagValue, type Tags } from "../model/tags.ts";
import { LISTED_KINDS } from "../resources/kinds.ts";
import { listedOf, type ObservedAzure } from "../resources/observed-azure.ts";
import { kindOf } from "../resources/security-group/security-rules.ts";

export interface Part {
  /** Of the resource that it is, or is in. */
  readonly resourceId: string;
  /** Within the resource, `loadBalancingRules/NAME`; empty: the resource itself. */
  readonly path: string;
  /** Of the resource. */
  readonly tags?: Tags | undefined;
}

/** By key: id and path, in lower case. */
export type Parts = ReadonlyMap<string, Part>;

export function keyOf({ resourceId, path }: Pick<Part, "resourceId" | "path">): string {
  return `${resourceId}${path === "" ? "" : `/${path}`}`.toLowerCase();
}

const LISTS = ["frontendIPConfigurations", "loadBalancingRules", "probes"] as const;

export function partsOf(azure: Pick<ObservedAzure, "loadBalancers" | "listed" | "securityGroup">): Parts {
  const listed = LISTED_KINDS.flatMap((kind) => [...listedOf(azure, kind).values()].flat());
  const parts: Part[] = [
    ...azure.loadBalancers.flatMap(loadBalancerParts),
    ...listed.map(({ id, tags }) => ({ resourceId: id, path: "", tags: isTags(tags) ? tags : undefined })),
    ...(azure.securityGroup === undefined ? [] : securityGroupParts(azure.securityGroup)),
  ];
  return new Map(parts.map((part) => [keyOf(part), part]));
}

function isTags(tags: unknown): tags is Tags {
  return typeof tags === "object" && tags !== null;
}

function loadBalancerParts({ id, tags, properties }: LoadBalancer): Part[] {
  const paths = [
    "",
    ...LISTS.flatMap((list) => (properties[list] ?? []).map(({ name }) => `${list}/${name}`)),
    ...(properties.backendAddressPools ?? []).flatMap(poolPaths),
  ];
  return paths.map((path) => ({ resourceId: id, path, tags }));
}

/** Azure shows the network interfaces of a pool of addresses, too; they say no more than its addresses. */
function poolPaths({ name, properties }: BackendPool): string[] {
  const pool = `backendAddressPools/${name}`;
  const addresses = properties.loadBalancerBackendAddresses ?? [];
  const entries = addresses.filter((entry) => entry.properties.ipAddress !== undefined);
  const interfaces = entries.length > 0 ? [] : (properties.backendIPConfigurations ?? []);
  return [
    pool,
    ...entries.map((entry) => `${pool}/loadBalancerBackendAddresses/${entry.name}`),
    ...interfaces.map(({ id }) => `${pool}/backendIPConfigurations/${machineOf(id)}`),
  ];
}

/** `vmss/virtualMachines/0`, or the name of the network interface. */
function machineOf(ipConfigurationId: string): string {
  const instance = /virtualMachineScaleSets\/([^/]+\/virtualMachines\/\d+)/i.exec(ipConfigurationId)?.[1];
  return instance ?? /networkInterfaces\/([^/]+)/i.exec(ipConfigurationId)?.[1] ?? ipConfigurationId;
}

function securityGroupParts({ id, properties }: SecurityGroup): Part[] {
  return (properties.securityRules ?? []).map(({ name }) => ({ resourceId: id, path: `securityRules/${name}` }));
}

export interface Owners {
  readonly config: ClusterConfig;
  /** The Services of the cluster, those that are gone included: base in lower case → `namespace/name`. */
  readonly services: ReadonlyMap<string, string>;
}

export type Owner =
  /** `service` is absent where the part is of several Services, or the cluster's. */
  { readonly isOwn: true; readonly service?: string | undefined } | { readonly isOwn: false };

const FOREIGN: Owner = { isOwn: false };

/** Told by names and tags alone. */
export function ownerOfPart({ resourceId, path, tags }: Part, { config, services }: Owners): Owner {
  const ofBase = (base: string): Owner => {
    const service = services.get(base.toLowerCase());
    return service === undefined ? FOREIGN : { isOwn: true, service };
  };
  const [list = "", name = ""] = path.split("/");
  switch (list) {
    case "":
      return ownerOfResource(resourceId, tags, { config, services });
    case "securityRules": {
      const rule = kindOf(name.toLowerCase());
      if (rule.kind === "own" || rule.kind === "legacy") return ofBase(rule.base);
      return rule.kind === "shared" ? { isOwn: true } : FOREIGN;
    }
    case "backendAddressPools":
      return ownerOfPool(name, { config, services });
    default:
      return name === SHARED_PROBE_NAME ? { isOwn: true } : ofBase(baseOf(name));
  }
}

function ownerOfResource(id: string, tags: Tags | undefined, { config, services }: Owners): Owner {
  const name = nameOfId(id);
  if (/\/loadBalancers\//i.test(id)) {
    return isManagedLoadBalancer(name, config, []) ? { isOwn: true } : FOREIGN;
  }
  const base = /a[\da-f]{31}/.exec(name.toLowerCase())?.[0];
  const service = services.get(base ?? "");
  if (service !== undefined) return { isOwn: true, service };
  const cluster = tagValue(tags, CLUSTER_TAG)?.toLowerCase();
  const tagged = tagValue(tags, OWNER_TAG) ?? tagValue(tags, SERVICE_TAG)?.split(",")[0];
  const isOwn = cluster === config.clusterName.toLowerCase() && [...services.values()].some((key) => key === tagged);
  return isOwn ? { isOwn, service: tagged } : FOREIGN;
}

const FAMILIES = ["IPv4", "IPv6"] as const;

function ownerOfPool(name: string, { config, services }: Owners): Owner {
  const pool = name.toLowerCase();
  if (FAMILIES.some((family) => poolName(config.clusterName, family).toLowerCase() === pool)) return { isOwn: true };
  const service = [...services.values()].find((key) => FAMILIES.some((family) => ownPoolName(key, family) === pool));
  return service === undefined ? FOREIGN : { isOwn: true, service };
}
