/**
 * The caches of LBCF's objects and of pods, with the indexes that watch handlers and decisions need. No controller runs
 * before `synced`: a cache that is not filled yet looks like a cluster without pods.
 */
import type { Clock, Random } from "../../../core/util/clock.ts";
import { referencedKey } from "../../../core/lbcf/objects/references.ts";
import { addressKey } from "../../../core/lbcf/records/reconcile-backend-record.ts";
import type {
  BackendGroup,
  BackendRecord,
  Bind,
  Driver,
  LoadBalancer,
  Pod,
  StringMap,
} from "../../../core/lbcf/objects/objects.ts";
import { readBackendGroup } from "../../../core/lbcf/groups/read-backend-group.ts";
import { readBackendRecord } from "../../../core/lbcf/records/read-backend-record.ts";
import { readBind } from "../../../core/lbcf/binds/read-bind.ts";
import { readDriver } from "../../../core/lbcf/drivers/read-driver.ts";
import { readLoadBalancer } from "../../../core/lbcf/load-balancers/read-load-balancer.ts";
import { readPod } from "../../../core/lbcf/pods/read-pod.ts";
import type { Log } from "../../../core/util/log.ts";
import { logWatchHealth, type WatchHealthCallbacks } from "../../../kube/cache/log-watch-health.ts";
import type { KubeClient } from "../../../kube/client/kube-client.ts";
import { Reflector } from "../../../kube/cache/reflector.ts";
import type { LoopMetrics } from "../../loop-metrics.ts";
import { PODS, type KubeObject, type Resource } from "../../../kube/client/resources.ts";
import { type Indexers, WriteThroughStore } from "../../../kube/cache/store.ts";
import { BACKEND_GROUPS, BACKEND_RECORDS, BINDS, DRIVERS, LOAD_BALANCERS } from "./resources.ts";

export interface LbcfCacheOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** One kind: the reflector that delivers changes, and the store that decisions read. */
interface CachedKind<T extends KubeObject> {
  readonly reflector: Reflector<T>;
  readonly objects: WriteThroughStore<T>;
  /** Records the result of a write; `undefined` when the object is gone. */
  readonly wrote: (stored: KubeObject | undefined) => void;
  /** The same of a write that took the controller's finalizer off. */
  readonly released: (object: T, stored: KubeObject | undefined) => void;
}

export class LbcfCache {
  readonly drivers: CachedKind<Driver>;
  readonly loadBalancers: CachedKind<LoadBalancer>;
  readonly groups: CachedKind<BackendGroup>;
  readonly records: CachedKind<BackendRecord>;
  readonly binds: CachedKind<Bind>;
  readonly pods: Reflector<Pod>;
  readonly #all: readonly Pick<Reflector<Pod>, "synced" | "run" | "plural" | "stats">[];

  constructor(options: LbcfCacheOptions) {
    const { log, ...common } = options;
    const healthOf = ({ plural }: Resource): WatchHealthCallbacks => logWatchHealth(log, options.clock, plural);
    const keep = <T extends KubeObject>(
      resource: Resource,
      project: (object: KubeObject) => T,
      indexers?: Indexers<T>,
    ): CachedKind<T> => {
      const known = (object: KubeObject): T => objects.written(object) ?? project(object);
      const reflector = new Reflector({ ...common, resource, project: known, ...healthOf(resource) });
      const objects: WriteThroughStore<T> = new WriteThroughStore(reflector, indexers);
      return {
        reflector,
        objects,
        wrote: (stored) => stored && objects.wrote(project(stored)),
        released: (object, stored) => objects.released(object, stored && project(stored)),
      };
    };
    this.drivers = keep(DRIVERS, readDriver);
    this.loadBalancers = keep(LOAD_BALANCERS, readLoadBalancer, {
      driver: ({ metadata, spec }) => [referencedKey(spec.lbDriver, metadata.namespace)],
    });
    this.groups = keep(BACKEND_GROUPS, readBackendGroup, GROUP_INDEXES);
    this.records = keep(BACKEND_RECORDS, readBackendRecord, RECORD_INDEXES);
    this.binds = keep(BINDS, readBind, {
      namespace: ({ metadata }) => [metadata.namespace],
      driver: ({ metadata, spec }) => spec.loadBalancers.map(({ driver }) => referencedKey(driver, metadata.namespace)),
    });
    this.pods = new Reflector({
      ...common,
      ...healthOf(PODS),
      resource: PODS,
      project: readPod,
      indexers: POD_INDEXES,
    });
    const { drivers, loadBalancers, groups, records, binds, pods } = this;
    this.#all = [
      drivers.reflector,
      loadBalancers.reflector,
      groups.reflector,
      records.reflector,
      binds.reflector,
      pods,
    ];
  }

  countIn(metrics: Pick<LoopMetrics, "addWatch">): void {
    for (const reflector of this.#all) metrics.addWatch(reflector.plural, reflector);
  }

  get synced(): Promise<unknown> {
    return Promise.all(this.#all.map((reflector) => reflector.synced));
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#all.map((reflector) => reflector.run(signal)));
  }

  /** A superset of the pods that have all these labels: those with the rarest of them. */
  podsWith(namespace: string, labels: StringMap): readonly Pod[] {
    const found = Object.entries(labels).map(([key, value]) => labelKey(namespace, key, value));
    const [first, ...others] = found.map((value) => this.pods.store.by("label", value));
    return others.reduce((least, each) => (each.length < least.length ? each : least), first ?? []);
  }
}

const POD_INDEXES: Indexers<Pod> = {
  label: ({ metadata: { namespace, labels = {} } }) =>
    Object.entries(labels).map(([key, value]) => labelKey(namespace, key, value)),
};

function labelKey(namespace: string, key: string, value: string): string {
  return `${namespace} ${key}=${value}`;
}

const GROUP_INDEXES: Indexers<BackendGroup> = {
  namespace: ({ metadata }) => [metadata.namespace],
  loadBalancer: ({ metadata, spec }) => spec.loadBalancers.map((name) => referencedKey(name, metadata.namespace)),
  service: ({ metadata, spec: { backends } }) =>
    backends.kind === "Service" ? [`${metadata.namespace}/${backends.service}`] : [],
};

const RECORD_INDEXES: Indexers<BackendRecord> = {
  owner: (record) => listed(ownerKeyOf(record)),
  loadBalancer: (record) => [loadBalancerKeyOf(record)],
  driver: ({ metadata, spec }) => [referencedKey(spec.lbDriver, metadata.namespace)],
  address: (record) => listed(addressKey(record)),
  pod: ({ metadata, spec: { backend } }) => (backend.kind === "Pod" ? [`${metadata.namespace}/${backend.name}`] : []),
  node: ({ spec: { backend } }) => (backend.kind === "Service" ? [backend.nodeName] : []),
};

function listed(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

/** `BackendGroup namespace/name`; `undefined` when the record has no owner reference. */
export function ownerKeyOf({ metadata: { owner, namespace } }: BackendRecord): string | undefined {
  return owner === undefined ? undefined : `${owner.kind} ${namespace}/${owner.name}`;
}

/** The load balancers of a Bind belong to it; others are referred to by name. */
export function loadBalancerKeyOf({ metadata: { owner, namespace }, spec: { lbName } }: BackendRecord): string {
  return owner?.kind === "Bind" ? `bind ${namespace}/${owner.name}/${lbName}` : referencedKey(lbName, namespace);
}
