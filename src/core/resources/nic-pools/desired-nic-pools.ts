/**
 * Pools of network interfaces: which machines must join or leave the pools of one load balancer.
 *
 *   machine                                             | joins | leaves
 *   ----------------------------------------------------|-------|--------------------------------------
 *   of an eligible node (the oldest, if of several)     | yes   |
 *   stopped or being deleted                            | no    | no
 *   its interface has failed                            | only where that is to be repaired: a write makes it good
 *   in a pool of another load balancer than the twins   | no    | no: Azure allows one of each kind
 *   of a node that is not eligible (any more)           |       | yes, but never the last of the pool
 *   of no node                                          |       | if it stands in the durable member list
 *   one of too many that would leave at once            |       | no: `leaving-machines.ts`
 *   Basic: of another VM set than the load balancer's   | no    | no
 */
import type { PoolBrake } from "../../brake/pool-brake.ts";
import type { Family, LoadBalancer } from "../../model/arm.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { loadBalancerPartId, nameOfId, parentId } from "../../model/ids.ts";
import type { Node } from "../../model/kubernetes.ts";
import { externalName, loadBalancerName, migrationPoolName, poolName } from "../../model/names.ts";
import type { NicPoolsFragment, PoolRef } from "./fragment.ts";
import type { Compute, Instance } from "../../backends/compute.ts";
import { nodesOfMachines } from "../../backends/contested-nodes.ts";
import { isEligible } from "../../backends/eligible-nodes.ts";
import { ipConfigurationFinder, type NicResource, nicResourceOf, vmSetOf } from "../../backends/machines.ts";
import { type Attachable, isAttached, poolsOf } from "./merge-nic-pools.ts";
import { ipConfigurationsOf } from "./predict-pool-members.ts";
import { isKnownAs, leavingMachines, machinesIn, withheldIn } from "./leaving-machines.ts";

export interface NicPoolsInput {
  readonly config: ClusterConfig;
  readonly nodes: readonly Node[];
  readonly compute: Compute;
  readonly loadBalancer: LoadBalancer;
  /** The durable member list of the load balancer. */
  readonly known: readonly string[];
  /** Interfaces that have failed are written too. Not for a Service: one broken machine must not keep it waiting. */
  readonly repairs?: boolean | undefined;
  readonly brake?: PoolBrake | undefined;
  /** The pools that stand in for the cluster's during a migration, instead of these. */
  readonly inSecondPools?: boolean | undefined;
}

/** The network interface, scale set or scale-set instance with this id, and the pools that it joins and leaves. */
export interface DesiredNicPools {
  readonly id: string;
  readonly fragment: NicPoolsFragment;
}

type Resource = NicPoolsFragment["resource"];

/** Ids, in lower case, of machines that stay in the pool for now: too many would leave it at once. */
export function withheldMachines(input: NicPoolsInput, family: Family): ReadonlySet<string> {
  return withheldIn(input, poolIn(input, family));
}

/** Ids, in lower case, of the cluster's machines in the pool. */
export function ownMachines(input: NicPoolsInput, family: Family): ReadonlySet<string> {
  return machinesIn(input, poolIn(input, family));
}

/** The eligible nodes' machines join the pools of these families, and others of the cluster leave them. */
export function desiredNicPools(all: NicPoolsInput, families: readonly Family[]): DesiredNicPools[] {
  const input = { ...all, nodes: nodesOfMachines(all.nodes) };
  const changes = new Changes();
  for (const family of families) {
    const pool = poolIn(input, family);
    const joining = input.nodes.flatMap((node) => {
      const found = joiningResource(input, node, pool);
      return found === undefined ? [] : [{ ...found, node: node.metadata.name }];
    });
    for (const { kind, body, scaleSetId, node } of joining) {
      const model = scaleSetId === undefined ? undefined : input.compute.scaleSets.get(scaleSetId.toLowerCase());
      if (model?.properties.virtualMachineProfile !== undefined && !isBeingDeleted(model))
        changes.join("scaleSet", model, pool, node);
      changes.join(kind, body, pool, node);
    }
    // one whose last write failed may fail again, but not leave the pool that it is in
    if (!joining.some((one) => isActive(one) || isAttached(one.body, one.kind, pool.pool))) continue;
    for (const { kind, body } of leavingMachines(input, pool)) changes.leave(kind, body, pool);
  }
  return changes.all();
}

/** Before a load balancer can be deleted, nothing may name its pools: models, instances and interfaces of ours. */
export function absentNicPools(input: NicPoolsInput): DesiredNicPools[] {
  const families = ["IPv4", "IPv6"] as const;
  const pools = [false, true].flatMap((inSecondPools) =>
    families.map((family) => poolIn({ ...input, inSecondPools }, family)),
  );
  return leavingPools(input.compute, pools);
}

/** Every machine that names one of the pools leaves it. */
export function leavingPools(compute: Compute, pools: readonly PoolRef[]): DesiredNicPools[] {
  const changes = new Changes();
  for (const pool of pools) {
    for (const body of compute.scaleSets.values()) changes.leave("scaleSet", body, pool);
    for (const body of compute.instances.values()) changes.leave("instance", body, pool);
    for (const body of compute.networkInterfaces.values()) changes.leave("networkInterface", body, pool);
  }
  return changes.all();
}

/**
 * Ids of the ipConfigurations that are the cluster's, in lower case: of nodes, in the durable member list, or of another
 * machine of a scale set with nodes: Azure creates machines in the pools that the model names, and their nodes register
 * later, if at all. Also those that the load balancer as last seen does not show as members: machines join by writes of
 * their own.
 */
export function ownIPConfigurations({ nodes, compute, loadBalancer, known }: NicPoolsInput): string[] {
  const nodeOf = ipConfigurationFinder(nodes, compute);
  const names = new Set(known.map((name) => name.toLowerCase()));
  const isKnown = (id: string): boolean => {
    const body = compute.networkInterfaces.get(parentId(id)) ?? compute.instances.get(parentId(parentId(id)));
    return body !== undefined && isKnownAs(body, names, compute);
  };
  const pools = loadBalancer.properties.backendAddressPools ?? [];
  const members = pools.flatMap(({ properties }) => properties.backendIPConfigurations ?? []);
  const ids = new Set([...members, ...ipConfigurationsOf(compute)].map(({ id }) => id.toLowerCase()));
  const ofScaleSet = scaleSetFinder(compute);
  const scaleSets = new Set(nodes.flatMap((node) => nicResourceOf(node, compute)?.scaleSetId?.toLowerCase() ?? []));
  const isBeside = (id: string): boolean => scaleSets.has(ofScaleSet(id) ?? "");
  return [...ids].filter((id) => nodeOf(id) !== undefined || isKnown(id) || isBeside(id));
}

/** Id, in lower case, of the scale set that the machine of an ipConfiguration is of. */
function scaleSetFinder({ networkInterfaces, virtualMachines, instances }: Compute) {
  return (ipConfigurationId: string): string | undefined => {
    const interfaceId = parentId(ipConfigurationId);
    const instance = instances.get(parentId(interfaceId));
    if (instance !== undefined) return parentId(instance.id.toLowerCase());
    const machine = networkInterfaces.get(interfaceId)?.properties.virtualMachine;
    return virtualMachines.get(machine?.id.toLowerCase() ?? "")?.properties.virtualMachineScaleSet?.id.toLowerCase();
  };
}

function poolIn({ config, loadBalancer, inSecondPools = false }: NicPoolsInput, family: Family): PoolRef {
  const own = poolName(config.clusterName, family);
  const name = inSecondPools ? migrationPoolName(own) : own;
  return { pool: loadBalancerPartId(loadBalancer.id, "backendAddressPools", name), family };
}

function joiningResource(input: NicPoolsInput, node: Node, { pool }: PoolRef): NicResource | undefined {
  const { config, compute, loadBalancer, repairs = false } = input;
  if (!isEligible(node, config) || !isOfSet(input, node)) return undefined;
  const resource = nicResourceOf(node, compute);
  if (resource === undefined || !(isActive(resource) || (repairs && resource.kind === "networkInterface")))
    return undefined;
  const isElsewhere = poolsOf(resource.body, resource.kind).some(
    (id) => !isTwin(loadBalancer.name, nameOfId(parentId(id))),
  );
  return isElsewhere && !isAttached(resource.body, resource.kind, pool) ? undefined : resource;
}

/** Basic serves one VM set by one load balancer; Standard serves all. */
function isOfSet({ config, compute, loadBalancer }: NicPoolsInput, node: Node): boolean {
  if (config.sku === "standard") return true;
  const vmSet = vmSetOf(node, compute);
  return vmSet !== undefined && isTwin(loadBalancer.name, loadBalancerName(config, "external", vmSet));
}

function isTwin(one: string, other: string): boolean {
  return externalName(one).toLowerCase() === externalName(other).toLowerCase();
}

const INACTIVE_POWER = new Set(["stopped", "stopping", "deallocated", "deallocating"]);

/** An unknown power state is no reason to leave a machine out. */
function isActive({ kind, body }: NicResource): boolean {
  if (kind === "networkInterface") return body.properties.provisioningState !== "Failed";
  return !isBeingDeleted(body) && !INACTIVE_POWER.has(powerOf(body));
}

function powerOf({ properties }: Instance): string {
  const codes = (properties.instanceView?.statuses ?? []).map(({ code }) => code ?? "");
  return (
    codes
      .find((code) => code.startsWith("PowerState/"))
      ?.slice("PowerState/".length)
      .toLowerCase() ?? ""
  );
}

function isBeingDeleted({ properties }: Attachable): boolean {
  return properties.provisioningState === "Deleting";
}

interface Change {
  readonly id: string;
  readonly resource: Resource;
  readonly join: PoolRef[];
  readonly leave: PoolRef[];
  readonly nodes: Set<string>;
}

/** One fragment per resource, with all the pools that it joins and leaves; only where that changes something. */
class Changes {
  readonly #byId = new Map<string, Change>();

  join(resource: Resource, body: Attachable, pool: PoolRef, node: string): void {
    if (isAttached(body, resource, pool.pool)) return;
    const change = this.#of(resource, body);
    change.join.push(pool);
    change.nodes.add(node);
  }

  leave(resource: Resource, body: Attachable, pool: PoolRef): void {
    if (isAttached(body, resource, pool.pool)) this.#of(resource, body).leave.push(pool);
  }

  all(): DesiredNicPools[] {
    return [...this.#byId.values()].map(({ id, resource, join, leave, nodes }) => {
      const unique = [...new Map(join.map((pool) => [pool.pool.toLowerCase(), pool])).values()];
      return { id, fragment: { resource, join: unique, leave, ...(nodes.size > 0 && { nodes: [...nodes] }) } };
    });
  }

  #of(resource: Resource, { id }: Attachable): Change {
    const known = this.#byId.get(id.toLowerCase()) ?? { id, resource, join: [], leave: [], nodes: new Set<string>() };
    this.#byId.set(id.toLowerCase(), known);
    return known;
  }
}
