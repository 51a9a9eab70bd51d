/**
 * The controller's caches of the cluster: Services, Nodes, and the ConfigMaps that hold the durable member lists. No
 * decision is made before `synced`: a cache that is not filled yet would look like a cluster without nodes.
 */
import type { Clock, Random } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import { logWatchHealth } from "../kube/cache/log-watch-health.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { Reflector } from "../kube/cache/reflector.ts";
import { WriteThroughStore } from "../kube/cache/store.ts";
import { CONFIG_MAPS, NODES, SERVICES } from "../kube/client/resources.ts";
import type { LoopMetrics } from "./loop-metrics.ts";
import { MEMBER_LIST_LABEL, MEMBER_LIST_NAMESPACE, projectMemberList, type MemberList } from "./pools/member-list.ts";
import { projectNode, projectService, type CachedNode, type CachedService } from "./projections.ts";

export interface ClusterCacheOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export class ClusterCache {
  readonly services: Reflector<CachedService>;
  readonly nodes: Reflector<CachedNode>;
  readonly memberLists: Reflector<MemberList>;
  /** With the controller's own writes, for decisions that follow one. */
  readonly written: {
    readonly services: WriteThroughStore<CachedService>;
    readonly memberLists: WriteThroughStore<MemberList>;
  };

  constructor({ client, clock, random, log }: ClusterCacheOptions) {
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
      project: projectNode,
    });
    this.memberLists = new Reflector({
      ...common,
      ...logWatchHealth(log, clock, "member lists"),
      resource: CONFIG_MAPS,
      selection: { namespace: MEMBER_LIST_NAMESPACE, labelSelector: MEMBER_LIST_LABEL },
      project: projectMemberList,
    });
    this.written = {
      services: new WriteThroughStore(this.services),
      memberLists: new WriteThroughStore(this.memberLists),
    };
  }

  countIn(metrics: Pick<LoopMetrics, "addWatch">): void {
    metrics.addWatch("services", this.services);
    metrics.addWatch("nodes", this.nodes);
    metrics.addWatch("configmaps", this.memberLists);
  }

  get synced(): Promise<unknown> {
    return Promise.all([this.services.synced, this.nodes.synced, this.memberLists.synced]);
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.services.run(signal), this.nodes.run(signal), this.memberLists.run(signal)]);
  }
}
