/**
 * Looks up the load balancers that a group names. One that is missing from the cache while the group has records in it is
 * read from the API server: the records are deleted only if the API server says that it does not exist.
 */
import type { Lookup } from "../../../core/lbcf/groups/load-balancer-use.ts";
import type { BackendGroup, BackendRecord, LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import { readLoadBalancer } from "../../../core/lbcf/load-balancers/read-load-balancer.ts";
import { referencedKey } from "../../../core/lbcf/objects/references.ts";
import type { KubeClient } from "../../../kube/client/kube-client.ts";
import { unlessGone } from "../../../kube/client/kube-failure.ts";
import { keyOf, placeOfKey, type KubeObject } from "../../../kube/client/resources.ts";
import type { WriteThroughStore } from "../../../kube/cache/store.ts";
import type { Drivers } from "../drivers/drivers.ts";
import { LOAD_BALANCERS } from "../objects/resources.ts";
import { errorText } from "../../../core/util/text.ts";

export interface LoadBalancerLookupOptions {
  readonly loadBalancers: WriteThroughStore<LoadBalancer>;
  readonly records: WriteThroughStore<BackendRecord>;
  readonly drivers: Drivers;
  readonly client: KubeClient;
}

export class LoadBalancerLookup {
  readonly #options: LoadBalancerLookupOptions;

  constructor(options: LoadBalancerLookupOptions) {
    this.#options = options;
  }

  async of(group: BackendGroup): Promise<ReadonlyMap<string, Lookup>> {
    const found = group.spec.loadBalancers.map(async (name) => [name, await this.#one(group, name)] as const);
    return new Map(await Promise.all(found));
  }

  async #one(group: BackendGroup, name: string): Promise<Lookup> {
    const { loadBalancers } = this.#options;
    const key = referencedKey(name, group.metadata.namespace);
    const cached = loadBalancers.get(key);
    if (cached !== undefined) return this.#found(cached);
    return this.#isRecorded(group, name) ? this.#readStored(key) : { kind: "missing" };
  }

  #isRecorded(group: BackendGroup, name: string): boolean {
    const records = this.#options.records.by("owner", `${group.kind} ${keyOf(group)}`);
    return records.some(({ spec }) => spec.lbName === name);
  }

  async #readStored(key: string): Promise<Lookup> {
    const { client } = this.#options;
    try {
      const stored = await unlessGone(() => client.get<KubeObject>(LOAD_BALANCERS, placeOfKey(key)));
      return stored === undefined ? { kind: "missing" } : this.#found(readLoadBalancer(stored));
    } catch (error) {
      return { kind: "unknown", message: errorText(error) };
    }
  }

  #found(loadBalancer: LoadBalancer): Lookup {
    const { spec, metadata } = loadBalancer;
    return { kind: "found", loadBalancer, driver: this.#options.drivers.stateOf(spec.lbDriver, metadata.namespace) };
  }
}
