/**
 * One read of a cluster and its Azure resources, for commands that only read: the same caches, mirror and observer as in the
 * controller, filled once.
 */
import type { CallReport } from "../azure/arm/arm-exchange.ts";
import { NoAnswerError } from "../azure/arm/transport.ts";
import { ArmError } from "../azure/arm/failures.ts";
import { Mirror } from "../azure/cache/mirror.ts";
import { ProbeResults } from "../azure/cache/probe-results.ts";
import { ClusterCache } from "../controller/cluster-cache.ts";
import { observeChanges, type ObservedChanges } from "../controller/configuration-guard.ts";
import { MachineListing } from "../controller/machine-listing.ts";
import { MEMBER_LIST_NAMESPACE } from "../controller/pools/member-list.ts";
import { observeFully } from "../controller/service/observe-fully.ts";
import { Observer } from "../controller/service/observer.ts";
import type { CachedService } from "../controller/projections.ts";
import {
  adminStatePools,
  type AdminStatePool,
  nodeFinder,
  type NodeFinder,
} from "../core/admin-state/reconcile-admin-state.ts";
import { ipConfigurationFinder } from "../core/backends/machines.ts";
import { type BrakeLimits, DEFAULT_BRAKE_LIMITS } from "../core/brake/brake-limits.ts";
import type { PoolBrake } from "../core/brake/pool-brake.ts";
import { type ClusterConfig, watchesEndpoints, watchesNamespaces } from "../core/config/cluster-config.ts";
import type { Log } from "../core/util/log.ts";
import { DELAY, keptRetryAfterMs } from "../core/retry.ts";
import type { Change } from "../core/guard/configuration-changes.ts";
import { needsCleanup, wantsLoadBalancer, type ClassFilter } from "../core/intent/ownership.ts";
import type { Observed } from "../core/observed.ts";
import { findingsOf, probedRules, probesView, type ProbesView } from "../core/view/probe-findings.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { isFailure, KubeFailure } from "../kube/client/kube-failure.ts";
import {
  CONFIG_MAPS,
  ENDPOINT_SLICES,
  type KubeObject,
  NAMESPACES,
  NODES,
  type Resource,
  SERVICES,
} from "../kube/client/resources.ts";
import type { Reach } from "../core/reach/reach-service.ts";
import type { Inventory } from "../core/inventory/inventory.ts";
import type { Placeholders } from "../core/plan/known-after-apply.ts";
import { applyManifests } from "./apply-manifests.ts";
import { openArmClient } from "./azure-access.ts";
import { knownConnections, type KnownConnections } from "./known-connections.ts";
import { type ClusterChoice, openKubeClient } from "./kube-access.ts";
import { CloudConfigError, loadCloudConfig, nameOf, type CloudConfigSource } from "./load-cloud-config.ts";
import { connectionOf, type Connection } from "./proven-reach.ts";
import { realClock } from "./real-clock.ts";
import { VERSION } from "./version.ts";
import { deniedText, ViewDenied } from "./view-failures.ts";

export interface ViewOptions extends ClusterChoice {
  readonly cloudConfig: CloudConfigSource;
  readonly clusterName: string;
  readonly loadBalancerClass?: string | undefined;
  readonly acceptedChange?: Change | undefined;
  /** As the controller has them; absent: the default. */
  readonly brakeLimits?: BrakeLimits | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Fails as `ViewTimeout` after that; absent or 0: no limit. */
  readonly timeoutMs?: number;
  /** Services to look at in the place of the cluster's: as if they were applied to it. */
  readonly manifests?: readonly KubeObject[];
  readonly onProgress?: ((text: string) => void) | undefined;
}

/** The API server or Azure did not answer in the time that the user gave. */
class ViewTimeout extends Error {
  override readonly name = "ViewTimeout";
}

export interface ClusterView {
  readonly client: KubeClient;
  readonly config: ClusterConfig;
  readonly classFilter: ClassFilter;
  /** Services that the controller serves or cleans up, sorted by key; those of the manifests, where there are any. */
  readonly services: readonly CachedService[];
  /** What the API server would allocate for manifests, and stands for itself here. */
  readonly unallocated: Pick<Placeholders, "bases" | "ports">;
  find(key: string): CachedService | undefined;
  /** Everything that a decision about the Service needs. */
  observe(service: CachedService): Promise<Observed>;
  /** The pools of the cluster's nodes as Azure has them at this moment, and the node of each entry. */
  pools(): Promise<{ readonly places: readonly AdminStatePool[]; readonly nodeOf: NodeFinder }>;
  /** What Azure's probes have found of a Service's members. */
  probes(observed: Observed): Promise<ProbesView>;
  /** What a real connection meets on that way; `undefined` where none can be made, as with Azure itself. */
  connection(reach: Reach, from: string): Promise<Connection | undefined>;
  /** Of a node, by its addresses; `undefined` where nobody knows, as with Azure itself. */
  connections(addresses: readonly string[]): Promise<KnownConnections | undefined>;
  /** What Azure has of the kinds that `azlb get` prints. */
  inventory(): Promise<Inventory>;
  /** Until when Azure has asked this command to wait with calls, where it has. */
  readonly throttledUntil: () => Date | undefined;
  /** Settings that would keep the controller from its work. */
  changes(): Promise<ObservedChanges>;
}

const USER_AGENT = `azlb/${VERSION}`;
/** What went before is known to the running controller alone. */
const NO_MEMORY: Omit<PoolBrake, "limits"> = { recent: new Map(), departed: new Set(), released: new Set() };

/** Runs `read` with a fresh view, and closes all connections afterwards. */
export async function withClusterView<R>(options: ViewOptions, read: (view: ClusterView) => Promise<R>): Promise<R> {
  const { log, env, clusterName, acceptedChange, loadBalancerClass: classFilter } = options;
  const { kubeconfig, context } = options;
  const kube = openKubeClient({ kubeconfig, context, userAgent: USER_AGENT });
  const ending = new AbortController();
  const closers: (() => Promise<unknown>)[] = [() => kube.close()];
  const { onProgress = () => {} } = options;
  let waitsFor = "";
  const waitFor = (what: string): void => {
    waitsFor = what;
    onProgress(`reading ${what}`);
  };
  waitFor("the Kubernetes API server");
  let throttledUntil: Date | undefined;
  const work = async (): Promise<R> => {
    await checkReadable(kube.client, ending.signal);
    const source = options.cloudConfig;
    const { config, credentials } = await loadCloudConfig({
      source,
      clusterName,
      env,
      client: kube.client,
      log,
      acceptedChange,
    });
    const { networkSubscriptionId } = config;
    const onCall = ({ failure }: CallReport): void => {
      if (failure?.kind !== "throttled") return;
      throttledUntil = new Date(realClock.nowMs() + (keptRetryAfterMs(failure) ?? DELAY.gateClosedMs));
      log.warn(`Azure throttles reads until ${throttledUntil.toISOString()}: waiting`);
    };
    const access = { credentials, networkSubscriptionId, env, userAgent: USER_AGENT, onCall, signal: ending.signal };
    waitFor("Azure");
    const arm = await openArmClient(access).catch((error: unknown) => {
      throw unansweredBy(error, nameOf(source));
    });
    if (ending.signal.aborted) await arm.close();
    ending.signal.throwIfAborted();
    closers.push(() => arm.close());
    waitFor("the Kubernetes API server");
    if (watchesEndpoints(config)) await checkListable(kube.client, ENDPOINT_SLICES, undefined, ending.signal);
    if (watchesNamespaces(config)) await checkListable(kube.client, NAMESPACES, undefined, ending.signal);
    const cache = new ClusterCache({ client: kube.client, clock: realClock, random: Math.random, log, config });
    const mirror = new Mirror({ client: arm.client, config, clock: realClock });
    const observer = new Observer({
      config,
      classFilter,
      cache,
      mirror,
      machines: new MachineListing(mirror, realClock),
      brake: { pools: { ...NO_MEMORY, limits: options.brakeLimits ?? DEFAULT_BRAKE_LIMITS } },
    });
    const running = cache.run(ending.signal);
    closers.push(() => running);
    await cache.synced;
    waitFor("Azure");
    await checkConfigured(mirror, config, nameOf(source), ending.signal);
    const isManaged = (service: CachedService): boolean =>
      wantsLoadBalancer(service, classFilter) || needsCleanup(service, classFilter);
    const { applied, unallocated, overlay } = applyManifests(options.manifests ?? [], cache.services.store);
    const shown = options.manifests === undefined ? [...cache.services.store.values()] : applied;
    const services = shown.filter(isManaged).sort(byKey);
    return await read({
      client: kube.client,
      config,
      classFilter,
      services,
      unallocated,
      find: (key) => cache.services.store.get(key),
      observe: (service) => observeFully(observer, service, overlay, ending.signal),
      pools: async () => {
        mirror.expire();
        const nodes = [...cache.nodes.store.values()];
        const [loadBalancers, compute] = await Promise.all([
          mirror.loadBalancers(ending.signal),
          config.poolType === "nodeIPConfiguration" ? mirror.compute(ending.signal) : undefined,
        ]);
        const nodeOf = nodeFinder(nodes, compute && ipConfigurationFinder(nodes, compute));
        return { places: adminStatePools(config, loadBalancers), nodeOf };
      },
      probes: async ({ service, loadBalancers, nodes }) => {
        const results = new ProbeResults(arm.client, realClock);
        const rules = probedRules(loadBalancers, service);
        const answers = await Promise.all(rules.map(({ id }) => results.of(id)));
        return probesView(rules.map((rule, at) => findingsOf(rule, answers[at], nodes)));
      },
      connection: (reach, from) => connectionOf(arm.emulatorControl, reach, from),
      connections: (addresses) => knownConnections(arm.emulatorControl, addresses, ending.signal),
      inventory: async () => {
        const { poolType, sku, resourceGroup } = config;
        const needsMachines = poolType === "nodeIPConfiguration" || sku === "basic";
        const [loadBalancers, publicIPs, securityGroup, compute] = await Promise.all([
          mirror.loadBalancers(ending.signal),
          mirror.list("publicIP", resourceGroup, ending.signal),
          mirror.securityGroup(ending.signal),
          needsMachines ? mirror.compute(ending.signal) : undefined,
        ]);
        const nodes = [...cache.nodes.store.values()];
        return { config, services, nodes, loadBalancers, publicIPs, securityGroup, ...(compute && { compute }) };
      },
      throttledUntil: () => throttledUntil,
      changes: () => observeChanges({ config, classFilter, cache, mirror, acceptedChange }, ending.signal),
    });
  };
  try {
    return await withinTimeout(work(), options.timeoutMs ?? 0, () => waitsFor);
  } finally {
    ending.abort(new Error("the view is closed"));
    for (const close of closers.reverse()) await close();
  }
}

async function withinTimeout<R>(work: Promise<R>, timeoutMs: number, waitsFor: () => string): Promise<R> {
  if (timeoutMs === 0) return work;
  const late = Promise.withResolvers<never>();
  const message = (): string => `not done after ${timeoutMs / 1000} s (--timeout), waiting for ${waitsFor()}`;
  const timer = realClock.setTimer(timeoutMs, () => late.reject(new ViewTimeout(message())));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    timer.cancel();
  }
}

/** Fails at once if the API server cannot be reached or refuses a list; the caches would retry for ever. */
async function checkReadable(client: KubeClient, signal: AbortSignal): Promise<void> {
  await checkListable(client, NODES, undefined, signal); // one first: what cannot be reached is told once
  await checkListable(client, SERVICES, undefined, signal);
  await checkListable(client, CONFIG_MAPS, MEMBER_LIST_NAMESPACE, signal);
}

async function checkListable(
  client: KubeClient,
  resource: Resource,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.listPages(resource, { namespace }, signal, 1).next();
  } catch (error) {
    if (isFailure(error, "forbidden")) {
      const where = namespace === undefined ? "in the whole cluster" : `in namespace ${namespace}`;
      const message = `no right to list ${resource.plural} ${where}: grant the verbs list and watch on ${resource.plural}, as deploy/viewer-rbac.yaml does`;
      throw new KubeFailure(error.kind, `${message} (${error.message})`, { status: 403, cause: error });
    }
    if (!isFailure(error) || error.status !== undefined) throw error;
    const message = `the Kubernetes API server does not answer: is it running, and is it the one of --kubeconfig or KUBECONFIG?`;
    throw new KubeFailure(error.kind, `${message} (${error.message})`, { cause: error });
  }
}

/** Fails if the subscription or a resource group of the config does not exist: no Service could be looked at. */
async function checkConfigured(
  mirror: Mirror,
  config: ClusterConfig,
  where: string,
  signal: AbortSignal,
): Promise<void> {
  const { resourceGroup, loadBalancerResourceGroup, securityGroupResourceGroup, securityGroupName } = config;
  const { networkSubscriptionId, subscriptionId } = config;
  const groups: readonly [key: string, group: string, read: () => Promise<unknown>][] = [
    ["resourceGroup", resourceGroup, () => mirror.list("publicIP", resourceGroup, signal)],
    ["loadBalancerResourceGroup", loadBalancerResourceGroup, () => mirror.loadBalancers(signal)],
    [
      "securityGroupResourceGroup",
      securityGroupResourceGroup,
      async () => (securityGroupName === "" ? undefined : mirror.securityGroup(signal)),
    ],
  ];
  for (const [key, group, read] of groups) {
    try {
      await read();
    } catch (error) {
      if (error instanceof ArmError && error.failure.kind === "denied") throw new ViewDenied(deniedText(error));
      if (!(error instanceof ArmError) || error.failure.kind !== "notFound") throw error;
      const subscriptionKey =
        networkSubscriptionId === subscriptionId ? "subscriptionId" : "networkResourceSubscriptionID";
      const missing = error.failure.missing === "subscription";
      const [name, value] = missing ? [subscriptionKey, networkSubscriptionId] : [key, group];
      const within = missing ? "" : ` in subscription "${networkSubscriptionId}"`;
      throw new CloudConfigError(
        `${where}: ${name} "${value}" does not exist${within}: correct this key (${error.failure.code})`,
      );
    }
  }
}

/** `where`: the file or Secret with the cloud config. */
function unansweredBy(error: unknown, where: string): unknown {
  if (!(error instanceof NoAnswerError)) return error;
  const message = `Azure does not answer: check cloud and resourceManagerEndpoint in ${where}, the network, and HTTPS_PROXY`;
  return new NoAnswerError(`${message} (${error.message})`, error.maybeSent, { cause: error });
}

function byKey(one: CachedService, other: CachedService): number {
  const keys = [one, other].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return (keys[0] ?? "") < (keys[1] ?? "") ? -1 : 1;
}
