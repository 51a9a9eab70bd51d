/**
 * What we last saw of Azure: load balancers, public IPs, the security group, subnets, machines. Filled by lists, so
 * that reads do not grow with the number of Services; kept by what the writers see; read anew only when told that it
 * has expired. Decides nothing.
 */
import type { LoadBalancer, PublicIP, SecurityGroup, Subnet } from "../../core/model/arm.ts";
import type { Compute, Instance, NetworkInterface, ScaleSet, VirtualMachine } from "../../core/backends/compute.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import { isBodyOf, KINDS } from "../../core/resources/kinds.ts";
import { nameOfId, parseId, securityGroupId, subnetId, virtualNetworkId } from "../../core/model/ids.ts";
import { unlessAborted } from "../../core/util/clock.ts";
import type { ArmClient } from "../arm/arm-client.ts";
import type { ArmBody } from "../group-commit/commit-types.ts";
import { field, textField } from "../arm/error-body.ts";
import { assertResourceShape } from "../arm/resource-shape.ts";
import { ResourceListCache } from "./resource-list-cache.ts";

export interface MirrorOptions {
  readonly client: ArmClient;
  readonly config: ClusterConfig;
}

interface Named extends ArmBody {
  readonly id: string;
}

/** `known`: what was last read will do, however long ago, for whoever must not wait; a writer learns if it is outdated. */
type Age = "fresh" | "known";

const READ = { priority: "create" } as const;
/** Read one by one; everything else is listed. */
const SINGLE = /^(networkSecurityGroups|virtualNetworks\/subnets)$/i;

export class Mirror {
  readonly #client: ArmClient;
  readonly #config: ClusterConfig;
  /** By the path of the list, or by id for what is read alone; in lower case. */
  readonly #shelves = new Map<string, ResourceListCache<Named>>();
  #compute: { readonly lists: readonly unknown[]; readonly made: Compute } | undefined;
  #zones: Promise<readonly string[]> | undefined;

  constructor({ client, config }: MirrorOptions) {
    this.#client = client;
    this.#config = config;
  }

  /** All of the load balancers' resource group. */
  loadBalancers(signal?: AbortSignal, age?: Age): Promise<readonly LoadBalancer[]> {
    return this.#list<LoadBalancer>(this.#loadBalancerPath(), signal, age);
  }

  publicIPs(resourceGroup: string, signal?: AbortSignal): Promise<readonly PublicIP[]> {
    return this.#list<PublicIP>(this.#networkPath(resourceGroup, "publicIPAddresses"), signal);
  }

  /** `null` where there is none. */
  async securityGroup(signal?: AbortSignal): Promise<SecurityGroup | null> {
    return (await this.#list<SecurityGroup>(securityGroupId(this.#config), signal))[0] ?? null;
  }

  async subnet(name: string, signal?: AbortSignal): Promise<Subnet | null> {
    return (await this.#list<Subnet & Named>(subnetId(this.#config, name), signal))[0] ?? null;
  }

  async subnetNames(signal?: AbortSignal): Promise<readonly string[]> {
    const subnets = await this.#list<Named>(`${virtualNetworkId(this.#config)}/subnets`, signal);
    return subnets.map(({ id }) => nameOfId(id));
  }

  /** The machines of the cluster's resource group. */
  async compute(signal?: AbortSignal, age?: Age): Promise<Compute> {
    const { subscriptionId, resourceGroup } = this.#config;
    const group = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers`;
    const [virtualMachines, networkInterfaces, scaleSets] = await Promise.all([
      this.#list<VirtualMachine>(`${group}/Microsoft.Compute/virtualMachines`, signal, age),
      this.#list<NetworkInterface>(`${group}/Microsoft.Network/networkInterfaces`, signal, age),
      this.#list<ScaleSet>(`${group}/Microsoft.Compute/virtualMachineScaleSets`, signal, age),
    ]);
    const uniform = scaleSets.filter(({ properties }) => textField(properties, "orchestrationMode") !== "Flexible");
    const instances = await Promise.all(
      uniform.map(({ id }) => this.#list<Instance>(`${id}/virtualMachines`, signal, age)),
    );
    return this.#indexed([virtualMachines, networkInterfaces, scaleSets, ...instances], () => ({
      virtualMachines: byId(virtualMachines),
      networkInterfaces: byId(networkInterfaces),
      scaleSets: byId(scaleSets),
      instances: byId(instances.flat()),
    }));
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

  /** What a writer may start from: `null` where it isn't there, `undefined` where it must look. */
  lastSeen(id: string): ArmBody | null | undefined {
    return this.#shelves.get(shelfKeyOf(id))?.lastSeen(id);
  }

  /** What a writer has seen; `undefined`: what was last seen holds no more. */
  seen(id: string, body: ArmBody | null | undefined): void {
    this.#shelf(shelfKeyOf(id)).seen(id, body as Named | null | undefined);
    if (body === undefined || parseId(id)?.type.toLowerCase() !== "loadbalancers") return;
    const following = KINDS.loadBalancer.publicIPsAfter?.(id, isBodyOf("loadBalancer", body) ? body : undefined);
    if (following === undefined) return;
    for (const [key, shelf] of this.#shelves) {
      if (key.endsWith("/publicipaddresses")) (shelf as unknown as ResourceListCache<PublicIP>).changeAll(following);
    }
  }

  /** Whoever looks next looks at Azure. */
  expire(): void {
    for (const shelf of this.#shelves.values()) shelf.expire();
  }

  #list<Body extends Named>(
    path: string,
    signal: AbortSignal | undefined,
    age: Age = "fresh",
  ): Promise<readonly Body[]> {
    const shelf = this.#shelf(path);
    const ask = (): Promise<readonly unknown[]> => (age === "known" ? shelf.known() : shelf.read());
    return unlessAborted(ask as () => Promise<readonly Body[]>, signal);
  }

  #shelf(path: string): ResourceListCache<Named> {
    const key = path.toLowerCase();
    const shelf = this.#shelves.get(key) ?? new ResourceListCache<Named>(() => this.#load(path));
    this.#shelves.set(key, shelf);
    return shelf;
  }

  async #load(path: string): Promise<readonly Named[]> {
    const alone = parseId(path);
    if (alone !== undefined && SINGLE.test(alone.type)) {
      const found = await this.#client.find<Named>(path, READ);
      return found === null ? [] : [assertResourceShape(found, `reading ${path}`)];
    }
    const isInstances = /\/virtualMachineScaleSets\/[^/]+\/virtualMachines$/i.test(path);
    const found = await this.#client.list<Named>(isInstances ? `${path}?$expand=instanceView` : path, READ);
    return found.map((body) => assertResourceShape(body, `listing ${path}`));
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

  #loadBalancerPath(): string {
    return this.#networkPath(this.#config.loadBalancerResourceGroup, "loadBalancers");
  }

  #networkPath(resourceGroup: string, type: string): string {
    const { networkSubscriptionId } = this.#config;
    return `/subscriptions/${networkSubscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Network/${type}`;
  }
}

/** Of the list that a resource is in, or of itself where it is read alone. */
function shelfKeyOf(id: string): string {
  const isSingle = SINGLE.test(parseId(id)?.type ?? "");
  return (isSingle ? id : id.slice(0, id.lastIndexOf("/"))).toLowerCase();
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
