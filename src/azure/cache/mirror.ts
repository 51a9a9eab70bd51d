/**
 * What was last seen of Azure: every kind of the table of resource kinds, and machines. Filled by lists, so that reads do
 * not grow with the number of Services; kept current by what the writers see; read again only when told that it has
 * expired. Decides nothing.
 */
import type { Compute, VirtualMachine } from "../../core/backends/compute.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import type { LoadBalancer, SecurityGroup, Subnet } from "../../core/model/arm.ts";
import { movesPrivateLink, showsUnlistedLink, takesPoolsAway } from "../../core/freshness.ts";
import { nameOfId, securityGroupId, subnetId, virtualNetworkId } from "../../core/model/ids.ts";
import { migratedPoolName } from "../../core/model/names.ts";
import type { Bodies, Kind, ListedKind } from "../../core/resources/azure-step.ts";
import { isBodyOf, knownType, listPath, publicIPsAfter } from "../../core/resources/kinds.ts";
import { isInstance, isNetworkInterface, isScaleSet, poolsOf } from "../../core/resources/nic-pools/merge-nic-pools.ts";
import { type Clock, unlessAborted } from "../../core/util/clock.ts";
import { field, textField } from "../arm/response-body.ts";
import type { ArmBody } from "../group-commit/commit-types.ts";
import { type Age, type ArmReader, type Named, READ, ResourceLists } from "./resource-lists.ts";

export interface MirrorOptions {
  readonly client: ArmReader;
  readonly config: ClusterConfig;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** A load balancer, or one of its pools, is gone. */
  readonly onPoolsGone?: (() => void) | undefined;
}

export class Mirror {
  readonly #client: ArmReader;
  readonly #config: ClusterConfig;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #onPoolsGone: (() => void) | undefined;
  /** Of what is written; made where it is first asked for. */
  readonly #written: WrittenLists<Kind> = {};
  readonly #virtualMachines: ResourceLists<VirtualMachine>;
  #compute: { readonly lists: readonly unknown[]; readonly made: Compute } | undefined;
  #zones: Promise<readonly string[]> | undefined;

  constructor({ client, config, clock, onPoolsGone }: MirrorOptions) {
    this.#onPoolsGone = onPoolsGone;
    this.#client = client;
    this.#config = config;
    this.#clock = clock;
    this.#virtualMachines = new ResourceLists(client, clock);
  }

  /** All of a kind in a resource group. */
  async list<K extends ListedKind>(
    kind: K,
    resourceGroup: string,
    signal?: AbortSignal,
  ): Promise<readonly Bodies[K][]> {
    const lists = this.#of(kind);
    const path = listPath(kind, this.#config, resourceGroup);
    const listed = await lists.list(path, signal);
    if (kind !== "privateLinkService") return listed;
    const links = listed.filter((body) => isBodyOf("privateLinkService", body));
    if (!showsUnlistedLink(await this.loadBalancers(signal, "known"), path, links)) return listed;
    lists.expire();
    return lists.list(path, signal);
  }

  /** All of the load balancers' resource group. */
  loadBalancers(signal?: AbortSignal, age?: Age): Promise<readonly LoadBalancer[]> {
    const path = listPath("loadBalancer", this.#config, this.#config.loadBalancerResourceGroup);
    return this.#of("loadBalancer").list(path, signal, age);
  }

  /** `undefined` where there is none. */
  async securityGroup(signal?: AbortSignal): Promise<SecurityGroup | undefined> {
    return (await this.#of("securityGroup").list(securityGroupId(this.#config), signal))[0];
  }

  async subnet(name: string, signal?: AbortSignal): Promise<Subnet | undefined> {
    return (await this.#of("subnet").list(subnetId(this.#config, name), signal))[0];
  }

  async subnetNames(signal?: AbortSignal): Promise<readonly string[]> {
    const subnets = await this.#of("subnet").list(`${virtualNetworkId(this.#config)}/subnets`, signal);
    return subnets.map(({ id }) => nameOfId(id));
  }

  /** The machines of the cluster's resource group. */
  async compute(signal?: AbortSignal, age?: Age): Promise<Compute> {
    const { subscriptionId, resourceGroup } = this.#config;
    const group = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers`;
    const machines = this.#of("nicPools");
    const [virtualMachines, interfaces, scaleSets] = await Promise.all([
      this.#virtualMachines.list(`${group}/Microsoft.Compute/virtualMachines`, signal, age),
      machines.list(`${group}/Microsoft.Network/networkInterfaces`, signal, age),
      machines.list(`${group}/Microsoft.Compute/virtualMachineScaleSets`, signal, age),
    ]);
    const uniform = scaleSets.filter(({ properties }) => textField(properties, "orchestrationMode") !== "Flexible");
    const instances = await Promise.all(uniform.map(({ id }) => machines.list(`${id}/virtualMachines`, signal, age)));
    return this.#indexed([virtualMachines, interfaces, scaleSets, ...instances], () => ({
      virtualMachines: byId(virtualMachines),
      networkInterfaces: byId(interfaces.filter(isNetworkInterface)),
      scaleSets: byId(scaleSets.filter(isScaleSet)),
      instances: byId(instances.flat().filter(isInstance)),
    }));
  }

  /** As it was last made. */
  get shownCompute(): Compute | undefined {
    return this.#compute?.made;
  }

  /** Made anew only when one of the lists has changed: every Service asks for it. */
  #indexed(lists: readonly unknown[], make: () => Compute): Compute {
    const known = this.#compute;
    if (known?.lists.length === lists.length && known.lists.every((list, at) => list === lists[at])) return known.made;
    const made = make();
    this.#compute = { lists, made };
    return made;
  }

  /** Of the region; empty where it has none. Never changes while we run, so it is read once. */
  zones(signal?: AbortSignal): Promise<readonly string[]> {
    const ask = (): Promise<readonly string[]> =>
      (this.#zones ??= this.#readZones().catch((error: unknown) => {
        this.#zones = undefined;
        throw error;
      }));
    return unlessAborted(ask, signal);
  }

  /** All of a kind that was last seen, however long ago; calls nothing, and decisions must not be made on it. */
  shown<K extends Kind>(kind: K): readonly Bodies[K][] {
    return this.#of(kind).shown;
  }

  /** What a writer may start from: `null` where it isn't there, `undefined` where it must be read. */
  lastSeen(id: string): ArmBody | null | undefined {
    const kind = knownType(id)?.kind;
    return kind && this.#of(kind).lastSeen(id);
  }

  /** It was there when it was last seen, whatever has changed in it since. */
  wasThere(id: string): boolean {
    const kind = knownType(id)?.kind;
    return kind !== undefined && this.#of(kind).wasThere(id);
  }

  /** It was written so recently that a read may still be without it. */
  isJustWritten(id: string): boolean {
    const kind = knownType(id)?.kind;
    return kind !== undefined && this.#of(kind).isJustWritten(id);
  }

  /** What a writer has seen; `undefined`: what was last seen holds no more. */
  seen(id: string, body: ArmBody | null | undefined): void {
    const kind = knownType(id)?.kind;
    if (kind === undefined) return;
    const before = this.#of(kind).lastSeen(id);
    this.#of(kind).seen(id, body);
    if (body !== null && !isBodyOf(kind, body)) return;
    const change = publicIPsAfter(kind, id, body ?? undefined);
    if (change !== undefined) this.#of("publicIP").changeAll(change);
    if (kind === "privateLinkService") {
      const [old, now] = [before, body].map((each) => (isBodyOf("privateLinkService", each) ? each : undefined));
      if (movesPrivateLink(old, now)) this.#of("loadBalancer").expire();
    }
    if (kind === "nicPools" && (this.#config.migratesPools || isInSecondPool(before)))
      this.#of("loadBalancer").expire();
    if (kind !== "loadBalancer") return;
    const [old, now] = [before, body].map((each) => (isBodyOf("loadBalancer", each) ? each : undefined));
    if (!takesPoolsAway(old, now)) return;
    this.expireMachines();
    this.#onPoolsGone?.();
  }

  /** The next reader of machines and their network interfaces reads from Azure. */
  expireMachines(): void {
    for (const lists of [this.#of("nicPools"), this.#virtualMachines]) lists.expire();
  }

  /** The next reader reads from Azure, of this kind or of all. */
  expire(kind?: Kind): void {
    if (kind !== undefined) return this.#of(kind).expire();
    for (const lists of [...Object.values(this.#written), this.#virtualMachines]) lists.expire();
  }

  async #readZones(): Promise<readonly string[]> {
    const { azureStack, location, subscriptionId } = this.#config;
    if (azureStack) return [];
    const provider = await this.#client.get(`/subscriptions/${subscriptionId}/providers/Microsoft.Compute`, READ);
    const machines = find(provider, "resourceTypes", (type) => textField(type, "resourceType") === "virtualMachines");
    const mapping = find(machines, "zoneMappings", (each) => normal(textField(each, "location")) === normal(location));
    const zones = field(mapping, "zones");
    return Array.isArray(zones) ? zones.filter((zone) => typeof zone === "string").sort() : [];
  }

  #of<K extends Kind>(kind: K): ResourceLists<Bodies[K] & Named> {
    return listsOf(kind, this.#written, this.#client, this.#clock);
  }
}

/** Of a machine: whether it is in a pool that serves during a migration. */
function isInSecondPool(body: unknown): boolean {
  if (!isBodyOf("nicPools", body)) return false;
  const resource = isNetworkInterface(body) ? "networkInterface" : isScaleSet(body) ? "scaleSet" : "instance";
  return poolsOf(body, resource).some((pool) => migratedPoolName(nameOfId(pool)) !== undefined);
}

type WrittenLists<K extends Kind> = { [Each in K]?: ResourceLists<Bodies[Each] & Named> };

function listsOf<K extends Kind>(
  kind: K,
  written: WrittenLists<K>,
  client: ArmReader,
  clock: Pick<Clock, "monotonicMs">,
): ResourceLists<Bodies[K] & Named> {
  return (written[kind] ??= new ResourceLists(client, clock, (body): body is Bodies[K] & Named =>
    isBodyOf(kind, body),
  ));
}

/** The first object of a field's list that fits. */
function find(value: unknown, name: string, fits: (each: unknown) => boolean): unknown {
  const list = field(value, name);
  return Array.isArray(list) ? list.find(fits) : undefined;
}

/** Regions are spelled "West US 2" and "westus2". */
function normal(location: string | undefined): string | undefined {
  return location?.toLowerCase().replaceAll(" ", "");
}

function byId<Body extends Named>(bodies: readonly Body[]): ReadonlyMap<string, Body> {
  return new Map(bodies.map((body) => [body.id.toLowerCase(), body]));
}
