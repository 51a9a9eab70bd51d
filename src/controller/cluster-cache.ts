/**
 * The controller's caches of the cluster: Services, Nodes, and the ConfigMaps that hold the durable member lists; with
 * several load balancers EndpointSlices too, and namespaces where their labels decide. Where the API shows EndpointSlices
 * they are watched for that alone, and nothing waits for them. No decision is made before `synced`: a cache that is not filled yet would look like a cluster without nodes.
 */
import { type ClusterConfig, watchesEndpoints, watchesNamespaces } from "../core/config/cluster-config.ts";
import type { Clock, Random } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import { logWatchHealth } from "../kube/cache/log-watch-health.ts";
import type { KubeReader } from "../kube/client/kube-client.ts";
import { Reflector } from "../kube/cache/reflector.ts";
import { WriteThroughStore } from "../kube/cache/store.ts";
import {
  CONFIG_MAPS,
  ENDPOINT_SLICES,
  type KubeObject,
  NAMESPACES,
  NODES,
  SERVICES,
} from "../kube/client/resources.ts";
import type { LoopMetrics } from "./loop-metrics.ts";
import { MEMBER_LIST_LABEL, MEMBER_LIST_NAMESPACE, projectMemberList, type MemberList } from "./pools/member-list.ts";
import {
  projectEndpointSlice,
  projectNamespace,
  projectNode,
  projectService,
  type CachedEndpointSlice,
  type CachedNode,
  type CachedService,
} from "./projections.ts";

export interface ClusterCacheOptions {
  readonly client: KubeReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly config: Pick<ClusterConfig, "loadBalancers" | "adminStateTaints">;
  readonly showsEndpoints?: boolean | undefined;
}

export class ClusterCache {
  readonly services: Reflector<CachedService>;
  readonly nodes: Reflector<CachedNode>;
  readonly memberLists: Reflector<MemberList>;
  /** `undefined` where no decision depends on them. */
  readonly endpointSlices: Reflector<CachedEndpointSlice> | undefined;
  /** For views; `undefined` where there is no API. */
  readonly shownEndpoints: Reflector<CachedEndpointSlice> | undefined;
  readonly namespaces: Reflector<KubeObject> | undefined;
  /** With the controller's own writes, for decisions that follow one. */
  readonly written: {
    readonly services: WriteThroughStore<CachedService>;
    readonly memberLists: WriteThroughStore<MemberList>;
  };

  #areEndpointsSeen = false;

  constructor({ client, clock, random, log, config, showsEndpoints = false }: ClusterCacheOptions) {
    const common = { client, clock, random };
    this.services = new Reflector({
      ...common,
      ...logWatchHealth(log, clock, "services"),
      resource: SERVICES,
      project: projectService,
    });
    this.nodes = new Reflector({
      ...common,
      ...logWatchHealth(log, clock, "nodes"),
      resource: NODES,
      project: (object) => projectNode(object, config.adminStateTaints),
    });
    this.memberLists = new Reflector({
      ...common,
      ...logWatchHealth(log, clock, "member lists"),
      resource: CONFIG_MAPS,
      selection: { namespace: MEMBER_LIST_NAMESPACE, labelSelector: MEMBER_LIST_LABEL },
      project: projectMemberList,
    });
    const decides = watchesEndpoints(config);
    if (decides || showsEndpoints) {
      this.shownEndpoints = new Reflector({
        ...common,
        ...logWatchHealth(log, clock, "endpoint slices"),
        resource: ENDPOINT_SLICES,
        selection: { labelSelector: "kubernetes.io/service-name" },
        project: projectEndpointSlice,
      });
      void this.shownEndpoints.synced.then(() => (this.#areEndpointsSeen = true));
    }
    if (decides) this.endpointSlices = this.shownEndpoints;
    if (watchesNamespaces(config)) {
      this.namespaces = new Reflector({
        ...common,
        ...logWatchHealth(log, clock, "namespaces"),
        resource: NAMESPACES,
        project: projectNamespace,
      });
    }
    this.written = {
      services: new WriteThroughStore(this.services),
      memberLists: new WriteThroughStore(this.memberLists),
    };
  }

  countIn(metrics: Pick<LoopMetrics, "addWatch">): void {
    metrics.addWatch("services", this.services);
    metrics.addWatch("nodes", this.nodes);
    metrics.addWatch("configmaps", this.memberLists);
    if (this.shownEndpoints !== undefined) metrics.addWatch("endpointslices", this.shownEndpoints);
    if (this.namespaces !== undefined) metrics.addWatch("namespaces", this.namespaces);
  }

  /** `undefined`: they are not watched, or not listed yet. */
  get seenEndpoints(): readonly CachedEndpointSlice[] | undefined {
    return this.#areEndpointsSeen ? this.shownEndpoints?.store.snapshot : undefined;
  }

  get synced(): Promise<unknown> {
    return Promise.all(this.#deciding.map(({ synced }) => synced));
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const shown = this.shownEndpoints === this.endpointSlices ? undefined : this.shownEndpoints;
    const all = [...this.#deciding, ...(shown === undefined ? [] : [shown])];
    await Promise.all(all.map((reflector) => reflector.run(signal)));
  }

  get #deciding(): readonly Pick<Reflector<KubeObject>, "synced" | "run">[] {
    const optional = [this.endpointSlices, this.namespaces].filter((reflector) => reflector !== undefined);
    return [this.services, this.nodes, this.memberLists, ...optional];
  }
}
