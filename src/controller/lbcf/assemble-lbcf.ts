/** Wires the parts of LBCF together. Nothing runs yet. */
import { desiredAdminState } from "../../core/admin-state/reconcile-admin-state.ts";
import type { AdminState } from "../../core/model/arm.ts";
import { ownEntries, type OwnEntries } from "../../core/resources/backend-pool/desired-backend-pool.ts";
import { DEFAULT_DEREGISTRATION_LIMIT } from "../../core/lbcf/groups/deregistration-limit.ts";
import { ANNOTATION } from "../../core/lbcf/objects/names.ts";
import type { BackendRecord, Driver } from "../../core/lbcf/objects/objects.ts";
import { LBCF_RETRIES } from "../../core/lbcf/drivers/retry.ts";
import { consentsOf } from "../../core/intent/address-sharing.ts";
import { OURS } from "../../core/intent/annotations/ours.ts";
import type { OwningService } from "../../core/lbcf/azure/azure-claims.ts";
import { type Service, serviceKey } from "../../core/model/kubernetes.ts";
import { NO_STATIC_ADDRESSES } from "../../core/lbcf/azure/static-addresses.ts";
import { baseName } from "../../core/model/names.ts";
import { AzureClaims } from "./azure/azure-claims.ts";
import { AzureDriver } from "./azure/azure-driver.ts";
import { BackendBatcher } from "./azure/backend-batcher.ts";
import { BackendAdminStates } from "./azure/backend-admin-states.ts";
import { BindController } from "./binds/bind-controller.ts";
import { CallSlots } from "./drivers/call-slots.ts";
import { DriverController } from "./drivers/driver-controller.ts";
import { Drivers } from "./drivers/drivers.ts";
import { GateController } from "./pods/gate-controller.ts";
import { GroupCluster } from "./groups/group-cluster.ts";
import { GroupController } from "./groups/group-controller.ts";
import { GroupSync } from "./groups/group-sync.ts";
import { LbcfCache, loadBalancerKeyOf } from "./objects/lbcf-cache.ts";
import type { LbcfContext, LbcfLoop } from "./lbcf-loop.ts";
import { LbcfMetrics } from "./lbcf-metrics.ts";
import type { LbcfPartOptions } from "./lbcf-part.ts";
import { Events } from "../events.ts";
import { LbcfWriter } from "./objects/lbcf-writer.ts";
import { ConcurrencyLimit } from "./concurrency-limit.ts";
import { LoadBalancerController } from "./load-balancers/load-balancer-controller.ts";
import { LoadBalancerLookup } from "./groups/load-balancer-lookup.ts";
import { LoadBalancerSteps } from "./load-balancers/load-balancer-steps.ts";
import { RecordController } from "./records/record-controller.ts";
import { BackendObjectReader } from "./drivers/backend-object-reader.ts";
import { RetryDelays } from "./drivers/retry-delays.ts";
import { ValidationMemo } from "./drivers/validation-memo.ts";
import { isUnanswered } from "./watch/change-predicates.ts";
import { WatchHandlers } from "./watch/watch-handlers.ts";
import { WebhookDriver } from "./drivers/webhook-driver.ts";
import type { WebhookTransport } from "./drivers/webhook-client.ts";

const HEALTH_EVERY_MS = 30_000;
/** Concurrent writes to the API server. */
const WRITES_AT_A_TIME = 64;

export interface LbcfParts {
  readonly cache: LbcfCache;
  readonly watchHandlers: WatchHandlers;
  readonly states: BackendAdminStates;
  readonly loops: readonly LbcfLoop[];
}

export function assembleLbcf(options: LbcfPartOptions): LbcfParts {
  const { config, kube, fenced, clock, random, log, retries = LBCF_RETRIES } = options;
  const { nodes, services } = options.cache;
  const metrics = new LbcfMetrics(options.metrics.registry);
  const cache = new LbcfCache({ client: kube, clock, random, log });
  const records = cache.records.objects;
  const limit = new ConcurrencyLimit(WRITES_AT_A_TIME);
  const writer = new LbcfWriter({ client: fenced, records, metrics, limit, clock });
  const azure = azureSide(options, cache);
  const open = webhookOpener(options, metrics);
  const drivers = new Drivers({ drivers: cache.drivers.objects, azure: azure.driver, open });
  const events = new Events(options.recorder, log);
  const delays = new RetryDelays({ clock, retries });
  const validations = new ValidationMemo(clock);
  const context: LbcfContext = { cache, writer, drivers, events, metrics, clock, random, delays, validations };
  const cluster = new GroupCluster({ cache, services: services.store, nodes: nodes.store, client: kube });
  const sync = new GroupSync({
    ...context,
    records,
    cluster,
    deregistrationLimit: options.deregistrationLimit ?? DEFAULT_DEREGISTRATION_LIMIT,
  });
  const steps = new LoadBalancerSteps(context);
  const states = new BackendAdminStates({
    ...azure,
    config,
    records,
    nodeOf: (record) => nodeOf(cache, record),
    log,
  });
  const controllers = controllersOf(options, context, {
    sync,
    steps,
    onUsable: (key) => watchHandlers.driverHealthy(key),
  });
  const watchHandlers: WatchHandlers = new WatchHandlers({
    cache,
    nodes,
    services,
    drivers,
    sync,
    steps,
    delays,
    validations,
    states,
    claims: azure.claims,
    ...controllers,
  });
  cache.countIn(options.metrics.loops);
  const queues = {
    driver: controllers.driverController.loop,
    loadbalancer: controllers.loadBalancers.loop,
    backendgroup: controllers.groups.loop,
    backendrecord: controllers.records.loop,
    bind: controllers.binds.loop,
  };
  metrics.watchQueues(queues);
  const all = Object.entries({ ...queues, gate: controllers.gates.loop });
  for (const [name, queue] of all) options.metrics.loops.addQueue(name, queue);
  return { cache, watchHandlers, states, loops: Object.values(controllers).map(({ loop }) => loop) };
}

interface Shared {
  readonly sync: GroupSync;
  readonly steps: LoadBalancerSteps;
  readonly onUsable: (key: string) => void;
}

function controllersOf(
  { kube: client, healthEveryMs = HEALTH_EVERY_MS, cache: { nodes } }: LbcfPartOptions,
  context: LbcfContext,
  { sync, steps, onUsable }: Shared,
) {
  const { cache, drivers } = context;
  const records = cache.records.objects;
  const lookup = new LoadBalancerLookup({ loadBalancers: cache.loadBalancers.objects, records, drivers, client });
  return {
    driverController: new DriverController({ ...context, healthEveryMs, onUsable }),
    loadBalancers: new LoadBalancerController({ ...context, steps }),
    groups: new GroupController({ ...context, sync, lookup, client }),
    records: new RecordController({
      ...context,
      nodeNamed: (name) => nodes.store.get(name),
      isForgotten: (record) => isForgotten(cache, record),
    }),
    binds: new BindController({ ...context, sync, steps, client }),
    gates: new GateController(context),
  };
}

/** The built-in driver, and the parts that write its pools. */
function azureSide(
  { config, commit, mirror, clock, staticAddresses, cache: { nodes, memberLists, services } }: LbcfPartOptions,
  cache: LbcfCache,
) {
  const batcher = new BackendBatcher(commit, clock);
  const adminStateOf = (record: BackendRecord): AdminState | undefined => {
    const name = nodeOf(cache, record);
    const node = name === undefined ? undefined : nodes.store.get(name);
    return !config.enableAdminState || node === undefined ? undefined : desiredAdminState(node);
  };
  const clusterEntries = (id: string): OwnEntries => {
    const lists = [...memberLists.store.values()];
    const known = lists.find(({ loadBalancerId }) => loadBalancerId === id.toLowerCase())?.members ?? [];
    return ownEntries([...nodes.store.values()], known);
  };
  const zones = () => mirror.zones();
  const claims = new AzureClaims(cache, config, clock);
  const driver = new AzureDriver({
    config,
    commit,
    batcher,
    zones,
    adminStateOf,
    clusterEntries,
    claims: () => claims.all(),
    serviceOf: (base) => owningService([...services.store.values()], base),
    staticAddresses: staticAddresses ?? NO_STATIC_ADDRESSES,
    unanswered: (record) =>
      cache.records.objects.by("loadBalancer", loadBalancerKeyOf(record)).filter(isUnanswered).length,
  });
  return { driver, batcher, adminStateOf, claims };
}

function webhookOpener(options: LbcfPartOptions, metrics: LbcfMetrics): (driver: Driver) => WebhookDriver {
  const { kube, fence, webhooks, clock, random } = options;
  const objects = new BackendObjectReader(kube);
  const slots = new CallSlots();
  const transport: WebhookTransport = async (call) => {
    fence.check();
    return webhooks(call);
  };
  return (driver) =>
    new WebhookDriver({ driver, transport, slots, metrics, clock, random, ...objects.driverOptions() });
}

function owningService(services: readonly Service[], base: string): OwningService | undefined {
  const service = services.find(({ metadata }) => baseName(metadata.uid) === base);
  const { key: annotation } = OURS.shareAddressWith;
  return service && { key: serviceKey(service), sharesWith: consentsOf(service), annotation };
}

/** The node of a backend: the pod's, or the Service backend's own. */
function nodeOf(cache: LbcfCache, { metadata: { namespace }, spec: { backend } }: BackendRecord): string | undefined {
  if (backend.kind === "Service") return backend.nodeName;
  return backend.kind === "Pod" ? cache.pods.store.get(`${namespace}/${backend.name}`)?.nodeName : undefined;
}

/** Whether the LoadBalancer or Bind of the record has the annotation `forget`. */
function isForgotten(cache: LbcfCache, record: BackendRecord): boolean {
  const { owner, namespace } = record.metadata;
  const holder =
    owner?.kind === "Bind"
      ? cache.binds.objects.get(`${namespace}/${owner.name}`)
      : cache.loadBalancers.objects.get(loadBalancerKeyOf(record));
  return holder?.metadata.annotations?.[ANNOTATION.forget] === "true";
}
