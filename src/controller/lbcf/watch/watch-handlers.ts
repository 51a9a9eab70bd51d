/** Enqueues the objects that a change of one of LBCF's objects affects; the controllers' headers have the tables. */
import type { Node, Service } from "../../../core/model/kubernetes.ts";
import type { BackendGroup, BackendRecord, Bind, Driver, LoadBalancer } from "../../../core/lbcf/objects/objects.ts";
import { addressKey } from "../../../core/lbcf/records/reconcile-backend-record.ts";
import { keyOf, type KubeObject, sameJson } from "../../../kube/client/resources.ts";
import type { Reflector } from "../../../kube/cache/reflector.ts";
import type { Change } from "../../../kube/cache/store.ts";
import type { AzureClaims } from "../azure/azure-claims.ts";
import type { BackendAdminStates } from "../azure/backend-admin-states.ts";
import type { BindController } from "../binds/bind-controller.ts";
import type { DriverController } from "../drivers/driver-controller.ts";
import type { Drivers } from "../drivers/drivers.ts";
import type { RetryDelays } from "../drivers/retry-delays.ts";
import type { ValidationMemo } from "../drivers/validation-memo.ts";
import type { GateController } from "../pods/gate-controller.ts";
import type { GroupController } from "../groups/group-controller.ts";
import type { GroupSync } from "../groups/group-sync.ts";
import { type LbcfCache, loadBalancerKeyOf, ownerKeyOf } from "../objects/lbcf-cache.ts";
import type { LoadBalancerController } from "../load-balancers/load-balancer-controller.ts";
import type { LoadBalancerSteps } from "../load-balancers/load-balancer-steps.ts";
import { ClusterHandlers } from "./cluster-handlers.ts";
import { changesCount, changesRegistration, isStatusOnly, isUnsettled } from "./change-predicates.ts";
import { enqueueRefused, enqueueRefusedByService } from "./enqueue-refused.ts";
import type { RecordController } from "../records/record-controller.ts";

export interface WatchHandlersOptions {
  readonly cache: LbcfCache;
  readonly services: Reflector<Service & KubeObject>;
  readonly nodes: Reflector<Node & KubeObject>;
  readonly drivers: Drivers;
  readonly sync: GroupSync;
  readonly steps: LoadBalancerSteps;
  readonly delays: RetryDelays;
  readonly validations: ValidationMemo;
  readonly states: BackendAdminStates;
  readonly claims: AzureClaims;
  readonly driverController: DriverController;
  readonly loadBalancers: LoadBalancerController;
  readonly groups: GroupController;
  readonly records: RecordController;
  readonly binds: BindController;
  readonly gates: GateController;
}

export class WatchHandlers {
  readonly #options: WatchHandlersOptions;
  readonly #cluster: ClusterHandlers;

  constructor(options: WatchHandlersOptions) {
    this.#options = options;
    this.#cluster = new ClusterHandlers(options);
  }

  /** Call once the caches are synced: every existing object is delivered as added. */
  start(): void {
    const { cache, services, nodes } = this.#options;
    cache.drivers.reflector.subscribe((change) => this.#driver(change));
    cache.loadBalancers.reflector.subscribe((change) => this.#loadBalancer(change));
    cache.groups.reflector.subscribe((change) => this.#group(change));
    cache.binds.reflector.subscribe((change) => this.#bind(change));
    cache.records.reflector.subscribe((change) => this.#record(change));
    cache.pods.subscribe((change) => this.#cluster.pod(change));
    services.subscribe((change) => {
      this.#cluster.service(change.object);
      enqueueRefusedByService(change, this.#options);
    });
    nodes.subscribe((change) => this.#cluster.node(change));
  }

  /** A driver that did not answer, or reported itself unhealthy, is healthy again: what failed is tried at once. */
  driverHealthy(key: string): void {
    const { delays, validations } = this.#options;
    delays.driverUsable(key);
    validations.driverUsable(key);
    this.#enqueueWaiting(key);
  }

  /** Enqueues the objects that wait for a driver. */
  #enqueueWaiting(key: string): void {
    const { cache, records, loadBalancers, binds } = this.#options;
    for (const lb of cache.loadBalancers.objects.by("driver", key)) {
      loadBalancers.loop.enqueue(keyOf(lb));
      this.#groupsOf(keyOf(lb));
    }
    for (const bind of cache.binds.objects.by("driver", key)) binds.enqueue(keyOf(bind));
    records.enqueue(cache.records.objects.by("driver", key).filter((record) => isUnsettled(record)));
  }

  #driver(change: Change<Driver>): void {
    const { driverController, drivers } = this.#options;
    const key = keyOf(change.object);
    if (isStatusOnly(change)) return;
    if (change.kind === "deleted") drivers.forget(key);
    else driverController.loop.enqueue(key);
    this.#enqueueWaiting(key);
  }

  #loadBalancer(change: Change<LoadBalancer>): void {
    const { cache, loadBalancers, records, steps, driverController } = this.#options;
    const { object } = change;
    const key = keyOf(object);
    if (change.kind === "deleted") {
      steps.forget(key, object.metadata.uid);
      this.#enqueueDeleted(driverController, object.metadata.namespace, object.spec.lbDriver);
    } else if (!isStatusOnly(change)) {
      loadBalancers.loop.enqueue(key);
    }
    this.#groupsOf(key);
    enqueueRefused(change, this.#options);
    if (change.kind === "updated" && !sameJson(change.old.metadata.annotations, object.metadata.annotations)) {
      records.enqueue(cache.records.objects.by("loadBalancer", key));
    }
  }

  #groupsOf(loadBalancer: string): void {
    const { cache, groups } = this.#options;
    for (const group of cache.groups.objects.by("loadBalancer", loadBalancer)) groups.enqueue(keyOf(group));
  }

  #group(change: Change<BackendGroup>): void {
    const { cache, groups, gates, sync } = this.#options;
    const { metadata, spec } = change.object;
    if (isStatusOnly(change)) return;
    if (change.kind === "deleted") sync.forget(metadata.uid);
    groups.enqueue(keyOf(change.object), 0);
    if (spec.backends.kind !== "Pod" || !("labels" in spec.backends.select)) return;
    for (const pod of cache.podsWith(metadata.namespace, spec.backends.select.labels)) gates.enqueue(pod);
  }

  #bind(change: Change<Bind>): void {
    const { binds, sync, steps, driverController } = this.#options;
    const { metadata, spec } = change.object;
    enqueueRefused(change, this.#options);
    if (change.kind !== "deleted") {
      if (!isStatusOnly(change)) binds.enqueue(keyOf(change.object));
      return;
    }
    sync.forget(metadata.uid);
    for (const { name, driver } of spec.loadBalancers) {
      steps.forget(`${keyOf(change.object)}/${name}`, `${metadata.uid}-${name}`);
      this.#enqueueDeleted(driverController, metadata.namespace, driver);
    }
  }

  #record(change: Change<BackendRecord>): void {
    const { cache, records, gates, driverController, loadBalancers } = this.#options;
    const { object } = change;
    if (change.kind === "deleted") {
      records.forget(object);
      this.#enqueueDeleted(driverController, object.metadata.namespace, object.spec.lbDriver);
      const lb = loadBalancerKeyOf(object);
      if (cache.loadBalancers.objects.get(lb)?.metadata.deletionTimestamp !== undefined) loadBalancers.loop.enqueue(lb);
    } else if (!isStatusOnly(change)) {
      records.enqueue([object]);
    }
    if (change.kind === "updated" && !changesRegistration(change.old, object)) return;
    this.#enqueueOwner(change);
    gates.enqueuePodOf(object);
    const address = addressKey(object);
    if (address === undefined) return;
    const others = cache.records.objects
      .by("address", address)
      .filter((other) => other.metadata.uid !== object.metadata.uid);
    records.enqueue(others.filter(isUnsettled));
  }

  /** A record that came was written by its owner, and one that was registered is only to be counted: thousands come at once. */
  #enqueueOwner(change: Change<BackendRecord>): void {
    const { binds, groups } = this.#options;
    const [kind, key] = (ownerKeyOf(change.object) ?? "").split(" ");
    if (key === undefined) return;
    const owner = kind === "Bind" ? binds : groups;
    const isLeaving = change.object.metadata.deletionTimestamp !== undefined || change.kind === "deleted";
    if (isLeaving) owner.enqueue(key);
    else if (change.kind === "added" || (change.kind === "updated" && changesCount(change.old, change.object)))
      owner.enqueueCount(key);
  }

  #enqueueDeleted(driverController: DriverController, namespace: string, name: string): void {
    const { cache } = this.#options;
    for (const key of [`${namespace}/${name}`, `kube-system/${name}`]) {
      if (cache.drivers.objects.get(key)?.metadata.deletionTimestamp !== undefined) driverController.loop.enqueue(key);
    }
  }
}
