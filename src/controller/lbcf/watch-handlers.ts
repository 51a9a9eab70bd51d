/** Enqueues the objects that a change affects; the controllers' headers have the tables. */
import type { Node, Service } from "../../core/model/kubernetes.ts";
import { claimedNames } from "../../core/lbcf/azure/azure-claims.ts";
import { AZURE_DRIVER } from "../../core/lbcf/objects/names.ts";
import { referencedKey } from "../../core/lbcf/objects/references.ts";
import { findCondition } from "../../core/lbcf/objects/conditions.ts";
import type {
  BackendGroup,
  BackendRecord,
  Bind,
  Condition,
  Driver,
  LoadBalancer,
  Pod,
} from "../../core/lbcf/objects/objects.ts";
import { isAvailable, isSelected } from "../../core/lbcf/pods/pods.ts";
import { addressKey } from "../../core/lbcf/records/reconcile-backend-record.ts";
import { desiredAdminState } from "../../core/admin-state/desired-admin-state.ts";
import { keyOf, type KubeObject } from "../../kube/client/resources.ts";
import type { Reflector } from "../../kube/cache/reflector.ts";
import type { Change } from "../../kube/cache/store.ts";
import { sameJson } from "../../kube/client/same-json.ts";
import type { AzureClaims } from "./azure/azure-claims.ts";
import type { BackendAdminStates } from "./azure/backend-admin-states.ts";
import type { BindController } from "./binds/bind-controller.ts";
import type { DriverController } from "./drivers/driver-controller.ts";
import type { Drivers } from "./drivers/drivers.ts";
import type { GateController } from "./pods/gate-controller.ts";
import type { GroupController } from "./groups/group-controller.ts";
import type { GroupSync } from "./groups/group-sync.ts";
import { type LbcfCache, loadBalancerKeyOf, ownerKeyOf } from "./objects/lbcf-cache.ts";
import type { LoadBalancerController } from "./load-balancers/load-balancer-controller.ts";
import type { LoadBalancerSteps } from "./load-balancers/load-balancer-steps.ts";
import type { RecordController } from "./records/record-controller.ts";

export interface WatchHandlersOptions {
  readonly cache: LbcfCache;
  readonly services: Reflector<Service & KubeObject>;
  readonly nodes: Reflector<Node & KubeObject>;
  readonly drivers: Drivers;
  readonly sync: GroupSync;
  readonly steps: LoadBalancerSteps;
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

  constructor(options: WatchHandlersOptions) {
    this.#options = options;
  }

  /** Call once the caches are synced: every existing object is delivered as added. */
  start(): void {
    const { cache, services, nodes } = this.#options;
    cache.drivers.reflector.subscribe((change) => this.#driver(change));
    cache.loadBalancers.reflector.subscribe((change) => this.#loadBalancer(change));
    cache.groups.reflector.subscribe((change) => this.#group(change));
    cache.binds.reflector.subscribe((change) => this.#bind(change));
    cache.records.reflector.subscribe((change) => this.#record(change));
    cache.pods.subscribe((change) => this.#pod(change));
    services.subscribe(({ object }) => this.#service(object));
    nodes.subscribe((change) => this.#node(change));
  }

  /** Enqueues the objects that wait for a driver. */
  driverUsable(key: string): void {
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
    this.driverUsable(key);
  }

  #loadBalancer(change: Change<LoadBalancer>): void {
    const { cache, loadBalancers, records, steps, driverController } = this.#options;
    const { object } = change;
    const key = keyOf(object);
    if (change.kind === "deleted") {
      steps.forget(key);
      this.#enqueueDeleted(driverController, object.metadata.namespace, object.spec.lbDriver);
    } else if (!isStatusOnly(change)) {
      loadBalancers.loop.enqueue(key);
    }
    this.#groupsOf(key);
    this.#enqueueClaimants(change);
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
    this.#enqueueClaimants(change);
    if (change.kind !== "deleted") {
      if (!isStatusOnly(change)) binds.enqueue(keyOf(change.object));
      return;
    }
    sync.forget(metadata.uid);
    for (const { name, driver } of spec.loadBalancers) {
      steps.forget(`${keyOf(change.object)}/${name}`);
      this.#enqueueDeleted(driverController, metadata.namespace, driver);
    }
  }

  /** Where an object gives up a pool or a frontend in Azure, those that were refused for it are enqueued. */
  #enqueueClaimants(change: Change<LoadBalancer> | Change<Bind>): void {
    const { cache, claims, loadBalancers, binds, records } = this.#options;
    if (change.kind === "added") return;
    const before = claims.of(change.kind === "updated" ? change.old : change.object);
    const after = change.kind === "updated" ? claims.of(change.object) : [];
    const kept = new Set(after.flatMap(claimedNames));
    if (before.flatMap(claimedNames).every((name) => kept.has(name))) return;
    const driver = referencedKey(AZURE_DRIVER, "");
    const isRefused = (conditions: readonly Condition[]): boolean =>
      conditions.some(({ status }) => status === "False");
    for (const lb of cache.loadBalancers.objects.by("driver", driver)) {
      if (isRefused(lb.status.conditions)) loadBalancers.loop.enqueue(keyOf(lb));
    }
    for (const bind of cache.binds.objects.by("driver", driver)) {
      const isWaiting = bind.status.loadBalancerStatuses.some(({ conditions }) => isRefused(conditions));
      if (isWaiting) binds.enqueue(keyOf(bind));
    }
    records.enqueue(cache.records.objects.by("driver", driver).filter(isUnsettled));
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
    this.#enqueueOwner(object);
    gates.enqueuePodOf(object);
    const address = addressKey(object);
    if (address === undefined) return;
    const others = cache.records.objects
      .by("address", address)
      .filter((other) => other.metadata.uid !== object.metadata.uid);
    records.enqueue(others.filter(isUnsettled));
  }

  #enqueueOwner(record: BackendRecord): void {
    const [kind, key] = (ownerKeyOf(record) ?? "").split(" ");
    if (key === undefined) return;
    if (kind === "Bind") this.#options.binds.enqueue(key);
    else this.#options.groups.enqueue(key);
  }

  #enqueueDeleted(driverController: DriverController, namespace: string, name: string): void {
    const { cache } = this.#options;
    for (const key of [`${namespace}/${name}`, `kube-system/${name}`]) {
      if (cache.drivers.objects.get(key)?.metadata.deletionTimestamp !== undefined) driverController.loop.enqueue(key);
    }
  }

  #pod(change: Change<Pod>): void {
    const { cache, records, gates } = this.#options;
    const { object } = change;
    gates.enqueue(object);
    const old = change.kind === "updated" ? change.old : undefined;
    if (old !== undefined && sameRegistration(old, object)) return;
    records.enqueue(cache.records.objects.by("pod", keyOf(object)));
    this.#enqueueSelecting(object, old);
  }

  #enqueueSelecting(pod: Pod, old: Pod | undefined): void {
    const { cache, groups, binds } = this.#options;
    const selects = ({ spec: { backends } }: BackendGroup): boolean =>
      backends.kind === "Pod" &&
      (isSelected(pod, backends.select) || (old !== undefined && isSelected(old, backends.select)));
    const { namespace } = pod.metadata;
    for (const group of cache.groups.objects.by("namespace", namespace))
      if (selects(group)) groups.enqueue(keyOf(group));
    for (const bind of cache.binds.objects.by("namespace", namespace))
      if (selects(bind.group)) binds.enqueue(keyOf(bind));
  }

  #service(service: Service & KubeObject): void {
    const { cache, groups } = this.#options;
    for (const group of cache.groups.objects.by("service", keyOf(service))) groups.enqueue(keyOf(group));
  }

  #node(change: Change<Node & KubeObject>): void {
    const { cache, groups, records, states } = this.#options;
    const { object } = change;
    const old = change.kind === "updated" ? change.old : undefined;
    const isDownNow = change.kind !== "deleted" && desiredAdminState(object) === "Down";
    const wasDown = old !== undefined && desiredAdminState(old) === "Down";
    if (isDownNow !== wasDown && change.kind !== "deleted") void states.sync("drain");
    const isSame = old !== undefined && sameJson(labelsAndAddresses(old), labelsAndAddresses(object));
    if (isSame) return;
    records.enqueue(cache.records.objects.by("node", object.metadata.name));
    for (const group of cache.groups.objects.store.values()) {
      if (group.spec.backends.kind === "Service") groups.enqueue(keyOf(group));
    }
  }
}

function labelsAndAddresses({ metadata: { labels }, status: { addresses } }: Node): unknown {
  return [labels, addresses];
}

/** Whether both versions of the pod are registered alike: same readiness, address, phase, deletion and labels. */
function sameRegistration(old: Pod, now: Pod): boolean {
  return (
    isAvailable(old) === isAvailable(now) &&
    old.ip === now.ip &&
    old.phase === now.phase &&
    old.metadata.deletionTimestamp === now.metadata.deletionTimestamp &&
    sameJson(old.metadata.labels, now.metadata.labels)
  );
}

/** Only the status changed: the controller wrote it, and its reconciliation continues by itself. */
function isStatusOnly<T extends KubeObject>(change: Change<T>): boolean {
  return change.kind === "updated" && sameJson(change.old.metadata, change.object.metadata, "resourceVersion");
}

/** A change that affects other records of the address, the owner, or the pod's readiness gate. */
function changesRegistration(old: BackendRecord, now: BackendRecord): boolean {
  const registered = ({ status }: BackendRecord): string | undefined =>
    findCondition(status.conditions, "Registered")?.status;
  return (
    registered(old) !== registered(now) ||
    old.status.backendAddr !== now.status.backendAddr ||
    old.status.registeredAddr !== now.status.registeredAddr ||
    old.metadata.deletionTimestamp !== now.metadata.deletionTimestamp
  );
}

function isUnsettled({ metadata, status }: BackendRecord): boolean {
  return metadata.deletionTimestamp !== undefined || findCondition(status.conditions, "Registered")?.status !== "True";
}
