/**
 * What we last saw of the Azure resources that decisions look at. Filled by lists (one per kind and resource group, so
 * reads do not grow with the number of Services), kept right by the writers, read anew when it expires. Readers at the
 * same moment share one request; a failed read fails its readers and is never shown as "nothing there".
 */
import type { LoadBalancer, PublicIP, SecurityGroup, Subnet } from "../core/arm.ts";
import type { Compute, Instance, NetworkInterface, ScaleSet, VirtualMachine } from "../core/backends/compute.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import { securityGroupId, subnetId } from "../core/ids.ts";
import type { ArmClient, CallOptions } from "./arm-client.ts";
import type { ArmBody } from "./commit-types.ts";
import { SeenResources } from "./seen-resources.ts";
import { zonesOf } from "./zones.ts";

export interface MirrorOptions {
  readonly client: ArmClient;
  readonly config: ClusterConfig;
}

interface Identified extends ArmBody {
  readonly id: string;
}

export class Mirror {
  readonly #client: ArmClient;
  readonly #config: ClusterConfig;
  readonly #kinds = new Map<string, SeenResources<Identified>>();
  #zones: Promise<readonly string[]> | undefined;
  #compute: { readonly parts: readonly unknown[]; readonly compute: Compute } | undefined;

  constructor({ client, config }: MirrorOptions) {
    this.#client = client;
    this.#config = config;
  }

  loadBalancers(signal?: AbortSignal): Promise<readonly LoadBalancer[]> {
    const { networkSubscriptionId, loadBalancerResourceGroup } = this.#config;
    return this.#listed<LoadBalancer>(
      network(networkSubscriptionId, loadBalancerResourceGroup, "loadBalancers"),
      signal,
    );
  }

  publicIPs(resourceGroup: string, signal?: AbortSignal): Promise<readonly PublicIP[]> {
    const { networkSubscriptionId } = this.#config;
    return this.#listed<PublicIP>(network(networkSubscriptionId, resourceGroup, "publicIPAddresses"), signal);
  }

  async securityGroup(signal?: AbortSignal): Promise<SecurityGroup | null> {
    return this.#single<SecurityGroup>(securityGroupId(this.#config), signal);
  }

  async subnet(name: string, signal?: AbortSignal): Promise<Subnet | null> {
    return this.#single<Subnet & Identified>(subnetId(this.#config, name), signal);
  }

  /** Of the region; they never change while we live. */
  zones(signal?: AbortSignal): Promise<readonly string[]> {
    const { subscriptionId, location, azureStack } = this.#config;
    if (azureStack) return Promise.resolve([]);
    this.#zones ??= this.#client
      .get(`/subscriptions/${subscriptionId}/providers/Microsoft.Compute`, readOptions(signal))
      .then((provider) => zonesOf(provider, location))
      .catch((error: unknown) => {
        this.#zones = undefined;
        throw error;
      });
    return this.#zones;
  }

  /** The machines of the cluster's resource group. */
  async compute(signal?: AbortSignal): Promise<Compute> {
    const { subscriptionId, resourceGroup } = this.#config;
    const at = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Compute`;
    const [scaleSets, virtualMachines, networkInterfaces] = await Promise.all([
      this.#listed<ScaleSet>(`${at}/virtualMachineScaleSets`, signal),
      this.#listed<VirtualMachine>(`${at}/virtualMachines`, signal),
      this.#listed<NetworkInterface>(network(subscriptionId, resourceGroup, "networkInterfaces"), signal),
    ]);
    const uniform = scaleSets.filter(({ properties }) => properties["orchestrationMode"] !== "Flexible");
    const instances = await Promise.all(
      uniform.map(({ id }) => this.#listed<Instance>(`${id}/virtualMachines?$expand=instanceView`, signal)),
    );
    const parts = [scaleSets, virtualMachines, networkInterfaces, ...instances];
    if (this.#compute === undefined || !sameParts(this.#compute.parts, parts)) {
      const compute = {
        scaleSets: byId(scaleSets),
        virtualMachines: byId(virtualMachines),
        networkInterfaces: byId(networkInterfaces),
        instances: byId(instances.flat()),
      };
      this.#compute = { parts, compute };
    }
    return this.#compute.compute;
  }

  /** For writers: what is known of it without asking; `undefined` where nobody has looked. */
  lastSeen(id: string): ArmBody | null | undefined {
    return this.#homeOf(id)?.get(id);
  }

  /** For writers: what they read or wrote; `undefined` where they no longer know. */
  seen(id: string, body: ArmBody | null | undefined): void {
    const home = this.#homeOf(id);
    if (body === undefined) home?.expire();
    else home?.tell(id, body as Identified | null);
  }

  /** Whoever looks next looks at Azure. */
  expire(): void {
    for (const kind of this.#kinds.values()) kind.expire();
  }

  #listed<Body extends { readonly id: string }>(path: string, signal?: AbortSignal): Promise<readonly Body[]> {
    const list = (): Promise<Identified[]> => this.#client.list<Identified>(path, readOptions(signal));
    const values: Promise<readonly { readonly id: string }[]> = this.#kind(collectionOf(path), list).values(signal);
    return values as Promise<readonly Body[]>;
  }

  async #single<Body extends { readonly id?: string }>(id: string, signal?: AbortSignal): Promise<Body | null> {
    const find = async (): Promise<Identified[]> => {
      const found = await this.#client.find<Identified>(id, readOptions(signal));
      return found === null ? [] : [found];
    };
    const values: readonly unknown[] = await this.#kind(id.toLowerCase(), find).values(signal);
    return (values[0] as Body | undefined) ?? null;
  }

  #kind(key: string, list: () => Promise<Identified[]>): SeenResources<Identified> {
    const known = this.#kinds.get(key) ?? new SeenResources<Identified>(list);
    this.#kinds.set(key, known);
    return known;
  }

  /** Where a resource is kept: by itself, or with the others of its collection. */
  #homeOf(id: string): SeenResources<Identified> | undefined {
    return this.#kinds.get(id.toLowerCase()) ?? this.#kinds.get(collectionOf(id.slice(0, id.lastIndexOf("/"))));
  }
}

function network(subscription: string, group: string, collection: string): string {
  return `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Network/${collection}`;
}

function collectionOf(path: string): string {
  return (path.split("?")[0] ?? path).toLowerCase();
}

function readOptions(signal: AbortSignal | undefined): CallOptions {
  return { priority: "create", signal };
}

function byId<Body extends { readonly id: string }>(bodies: readonly Body[]): ReadonlyMap<string, Body> {
  return new Map(bodies.map((body) => [body.id.toLowerCase(), body]));
}

function sameParts(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at]);
}
