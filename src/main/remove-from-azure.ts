/**
 * Takes everything that the cluster's Services have out of Azure, by the decisions and writers of the controller: rules,
 * frontends, load balancers and public IPs that the controller made go, and last each Service's finalizer. What other
 * clients put there stays. One Service that cannot be removed keeps no other from it. May be interrupted anywhere and run
 * again: the finalizer tells what is left.
 */
import type { ArmClient } from "../azure/arm/arm-client.ts";
import { ArmError } from "../azure/arm/failures.ts";
import { AzureConnection } from "../controller/azure-connection.ts";
import { ClusterCache } from "../controller/cluster-cache.ts";
import { observeChanges } from "../controller/configuration-guard.ts";
import { MachineListing } from "../controller/machine-listing.ts";
import { Metrics } from "../controller/metrics.ts";
import { MemberLists } from "../controller/pools/member-list.ts";
import type { CachedService } from "../controller/projections.ts";
import { CloudLoadBalancer, type SyncOutcome } from "../controller/service/cloud-load-balancer.ts";
import { Observer } from "../controller/service/observer.ts";
import { AzureStepExecutor, ServiceWriter } from "../controller/service/step-executor.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import type { ConfigurationChange } from "../core/guard/configuration-changes.ts";
import { isHeld, needsCleanup, wantsLoadBalancer, type ClassFilter } from "../core/intent/ownership.ts";
import { serviceKey } from "../core/model/kubernetes.ts";
import { clusterOf, isOtherClusters, servicesOf } from "../core/model/tags.ts";
import { isManagedName } from "../core/resources/managed-pools.ts";
import { BACKOFF } from "../core/retry.ts";
import { withdrawn } from "../core/service/withdraw.ts";
import { type Clock, DecisionTurns } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";
import type { Fence } from "../kube/election/lease.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";

export interface RemovalOptions {
  readonly kube: KubeClient;
  readonly arm: ArmClient;
  readonly config: ClusterConfig;
  readonly classFilter: ClassFilter;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Removal {
  /** Keys of the Services that have nothing in Azure any more. */
  readonly removed: readonly string[];
  readonly failed: readonly { readonly service: string; readonly message: string }[];
  /** What the controller leaves, and why. */
  readonly stays: readonly string[];
}

/** The settings are not those that the Services were published with: what they have would not be found. */
export class OtherSettings extends Error {
  override readonly name = "OtherSettings";
  constructor(changes: readonly ConfigurationChange[]) {
    super(changes.map(({ message }) => message).join("\n"));
  }
}

const MOST_ATTEMPTS = 8;
const WAIT_MS = 3_000;
/** Shorter waits are not told. */
const TOLD_MS = 5_000;
/** No retry helps. */
const FINAL: ReadonlySet<string> = new Set(["denied", "locked", "unauthenticated", "fenced"]);

export async function removeFromAzure(options: RemovalOptions): Promise<Removal> {
  const { kube, config, clock, log } = options;
  const ending = new AbortController();
  const cache = new ClusterCache({ client: kube, clock, random: Math.random, log, config });
  const running = cache.run(ending.signal);
  const azure = new AzureConnection({
    ...options,
    kube: kube.fencedBy(options.fence),
    metrics: new Metrics(),
    random: Math.random,
    onFailure: () => {},
    onPoolsGone: () => {},
    onTakenAway: () => {},
    onReadHeld: (waitMs) => log.warn(`Azure throttles reads for ${Math.ceil(waitMs / 1000)} s: waiting`),
    onRival: (message) => log.warn(message),
  });
  try {
    await cache.synced;
    return await removeAll(options, cache, azure, ending.signal);
  } finally {
    await azure.close();
    await azure.releaseLock();
    ending.abort(new Error("the removal is over"));
    await running;
  }
}

async function removeAll(
  { kube, config, classFilter, fence, clock, log }: RemovalOptions,
  cache: ClusterCache,
  { mirror, commit }: AzureConnection,
  signal: AbortSignal,
): Promise<Removal> {
  const { refused } = await observeChanges({ config, classFilter, cache, mirror }, signal);
  if (refused.length > 0) throw new OtherSettings(refused);
  const observer = new Observer({ config, classFilter, cache, mirror, machines: new MachineListing(mirror, clock) });
  const stays = new Set<string>();
  const client = kube.fencedBy(fence);
  const executor = new AzureStepExecutor({
    observer,
    written: cache.written.services,
    commit,
    services: new ServiceWriter(client, classFilter),
    members: new MemberLists(client, cache.written.memberLists),
    onWarning: (_, { message }) => stays.add(message),
    onRetry: (_, what, { afterMs }) => {
      if (afterMs > TOLD_MS) log.warn(`${what}: will try again in ${Math.ceil(afterMs / 1000)} s`);
    },
  });
  const cloud = new CloudLoadBalancer({
    observer: {
      observe: async (service, needs, signalled) => withdrawn(await observer.observe(service, needs, signalled)),
      refresh: (kind) => observer.refresh(kind),
    },
    executor,
    turns: new DecisionTurns(clock),
  });
  const isOurs = (service: CachedService): boolean =>
    isHeld(service) && (wantsLoadBalancer(service, classFilter) || needsCleanup(service, classFilter));
  const services = [...cache.services.store.values()].filter(isOurs);
  const failed: { service: string; message: string }[] = [];
  const removed: string[] = [];
  const remove = async (key: string): Promise<void> => {
    const read = (): CachedService | undefined => cache.written.services.get(key);
    const problem = await removeOne({ read, cloud, clock, isOurs, signal });
    if (problem === undefined) removed.push(key);
    else failed.push({ service: key, message: problem });
  };
  await Promise.all(services.map((service) => remove(serviceKey(service))));
  mirror.expire();
  const isManaged = isManagedName({ ...(await observer.observePools(signal)) });
  for (const { name } of await mirror.loadBalancers(signal))
    if (isManaged(name))
      stays.add(`load balancer "${name}": other clients have parts on it, or it could not be removed`);
  for (const publicIP of await mirror.list("publicIP", config.resourceGroup, signal)) {
    const isClusters = clusterOf(publicIP) !== undefined && !isOtherClusters(publicIP, config.clusterName);
    if (isClusters && servicesOf(publicIP) !== undefined)
      stays.add(`public IP "${publicIP.name}" (${publicIP.properties.ipAddress ?? "no address"})`);
  }
  return { removed: removed.sort(), failed, stays: [...stays].sort() };
}

interface OneRemoval {
  readonly read: () => CachedService | undefined;
  readonly isOurs: (service: CachedService) => boolean;
  readonly cloud: CloudLoadBalancer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Why something of the Service is left; `undefined`: nothing is. */
async function removeOne({ read, isOurs, cloud, clock, signal }: OneRemoval): Promise<string | undefined> {
  let problem = "";
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const service = read();
    if (service === undefined || !isOurs(service)) return undefined;
    try {
      const outcome = await cloud.ensureLoadBalancerDeleted(service, { signal });
      if (outcome.kind === "settled") return undefined;
      problem = problemOf(outcome);
      if (outcome.kind === "rejected") return problem;
    } catch (error) {
      problem = errorText(error);
      if (error instanceof ArmError && FINAL.has(error.failure.kind)) return problem;
    }
    const { firstMs } = BACKOFF.failure;
    await clock.sleep(Math.min(WAIT_MS, firstMs * 2 ** attempt), signal);
  }
  return problem;
}

function problemOf(outcome: Exclude<SyncOutcome, { kind: "settled" }>): string {
  switch (outcome.kind) {
    case "rejected":
      return outcome.rejection.message;
    case "waiting":
      return outcome.why;
    case "drifted":
      return outcome.differences;
  }
}
