/**
 * The controller as a process: real connections, real time, the leader's lease, health endpoints. What it does once it
 * leads is `controller/controller.ts`.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

import type { ArmClient } from "../azure/arm/arm-client.ts";
import type { CallReport } from "../azure/arm/arm-exchange.ts";
import { Controller } from "../controller/controller.ts";
import type { WebhookHosts } from "../core/lbcf/drivers/webhook-hosts.ts";
import type { LbcfOptions } from "../controller/lbcf/lbcf-part.ts";
import { Metrics } from "../controller/metrics.ts";
import type { BrakeLimits } from "../core/brake/brake-limits.ts";
import type { Clock } from "../core/util/clock.ts";
import { quotasOf } from "../core/view/balancers.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import type { Credential } from "../core/config/credential-config.ts";
import { DELAY, keptRetryAfterMs } from "../core/retry.ts";
import { SILENT_LOG, type Log, type LogFields } from "../core/util/log.ts";
import type { Tracer } from "../core/util/tracer.ts";
import type { Change } from "../core/guard/configuration-changes.ts";
import type { DriftPolicy } from "../core/intent/service-intent.ts";
import { EventRecorder } from "../kube/events/event-recorder.ts";
import { OPEN_FENCE, type Fence } from "../kube/election/lease.ts";
import type { KubeClient, RequestSample } from "../kube/client/kube-client.ts";
import { LeaderElection } from "../kube/election/leader-election.ts";
import { WriteLog } from "../controller/write-log.ts";
import { API_ANNOTATION, type LeaderApi, readApi, writtenApi } from "../api/forward.ts";
import { type ControllerApiOptions, startControllerApi } from "./api.ts";
import { type AzureAccessOptions, openArmClient } from "./azure-access.ts";
import { type GateWebhookOptions, startGateWebhook } from "./gate-webhook.ts";
import { healthChecks } from "./health-checks.ts";
import { startHealthServer } from "./health-server.ts";
import { openKubeClient } from "./kube-access.ts";
import { ConfigWatch } from "./config-watch.ts";
import { loadCloudConfig, type LoadedConfig, type CloudConfigSource } from "./load-cloud-config.ts";
import { realClock } from "./real-clock.ts";
import { throttleOf } from "./throttle.ts";
import { VERSION } from "./version.ts";
import { WebhookHttp } from "./webhook-http.ts";
import { errorText } from "../core/util/text.ts";

export interface ControllerProcessOptions {
  readonly kubeconfig?: string | undefined;
  readonly cloudConfig: CloudConfigSource;
  readonly clusterName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly leaderElect: boolean;
  readonly lease?: LeaseOptions;
  readonly loadBalancerClass?: string | undefined;
  readonly driftPolicy?: DriftPolicy;
  readonly driftPeriodMs?: number;
  readonly workers?: number;
  readonly acceptedChange?: Change | undefined;
  /** Of the brake on blast radius; absent: the default. */
  readonly brakeLimits?: BrakeLimits | undefined;
  readonly health?: { readonly host: string; readonly port: number };
  readonly lbcf?: Partial<LbcfOptions>;
  /** Where webhooks of LBCF's drivers may go; see `webhook-hosts.ts`. */
  readonly webhookHosts?: WebhookHosts | undefined;
  /** How often the cloud config is looked at for changes. */
  readonly configPeriodMs?: number;
  /** The read-only API and its page; absent: none. */
  readonly api?: ControllerApiOptions | undefined;
  /** The webhook of the readiness gate; absent: none. */
  readonly gateWebhook?: GateWebhookOptions | undefined;
  /** Around the wire to ARM: for a caller that keeps a record of it. */
  readonly aroundAzure?: AzureAccessOptions["around"];
  /** What it waits by, between attempts and looks; absent: real time. */
  readonly clock?: Clock;
}

export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

export interface RunningController {
  readonly metricsUrl: string;
  /** `undefined`: there is no API. */
  readonly apiUrl?: string | undefined;
  /** `undefined`: there is none. */
  readonly gateWebhookUrl?: string | undefined;
  /** Compares everything with Azure now, as the drift check does. */
  lookAgain?(): void;
  /** Resolves when it ends by itself: the lease is lost, or it failed. */
  readonly ended: Promise<"lost" | "stopped">;
  close(): Promise<void>;
}

export const DEFAULT_LEASE: LeaseOptions = {
  namespace: "kube-system",
  name: "azlb-controller",
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};
const USER_AGENT = `azlb/${VERSION}`;
/** Workers only wait for writers: as many as there may be Services in one batch. */
const WORKERS = 1_000;
const DRIFT_PERIOD_MS = 300_000;
const CONFIG_PERIOD_MS = 15_000;

/** Resolves once it runs: as the leader, or waiting to become it. */
export async function startController(options: ControllerProcessOptions): Promise<RunningController> {
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async (): Promise<void> => {
    await Promise.all(closers.map((close) => close()));
  };
  try {
    return await start(options, closers, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function start(
  options: ControllerProcessOptions,
  closers: (() => Promise<void>)[],
  closeAll: () => Promise<void>,
): Promise<RunningController> {
  const { log } = options;
  const metrics = new Metrics();
  metrics.buildInfo.set({ version: VERSION, node_version: process.versions.node }, 1);
  const clock = options.clock ?? realClock;
  const writes = options.api === undefined ? undefined : new WriteLog(clock);
  const access = await openAccess(options, metrics, writes, closers);
  const stopping = new AbortController();
  closers.push(async () => stopping.abort(new Error("the controller stops"))); // also where the start fails
  const config = watchConfig(options, access, metrics, stopping);
  const identity = `${hostname()}_${randomUUID()}`;
  const advertised = (): LeaderApi | undefined => api?.advertised();
  const election = options.leaderElect ? openElection(options, access.kube, identity, advertised) : undefined;
  let leading: Controller | undefined;
  metrics.limits.watch({
    gates: () => throttleOf(access.arm, access.config),
    quotas: () => (leading === undefined ? [] : quotasOf(leading.picture)),
  });
  const lead = async (fence: Fence): Promise<void> => {
    leading = assemble(options, access, metrics, writes, fence);
    metrics.leader.set(1);
    api?.led(leading);
    log.info("this process leads", { identity });
    const over = aborted(stopping.signal, fence.signal);
    // caches are never filled where no API server answers: the end must not wait for them
    await Promise.race([leading.start(), over]);
    if (leading.isReady) log.info("the controller is running", { cluster: access.config.clusterName });
    await over;
    log.info("this process leads no more; it ends what is in flight", { identity });
    await leading.stop();
    leading = undefined;
    metrics.leader.set(0);
    api?.led(undefined);
  };
  const api =
    options.api && writes
      ? await startControllerApi(options.api, {
          ...access,
          clock,
          log,
          metrics,
          writes,
          driftPolicy: options.driftPolicy ?? "report",
          leading: () => leading,
          leader: () => ({
            leads: leading !== undefined,
            identity,
            holder: election?.holder ?? (leading && identity) ?? "",
          }),
          leaderApi: () => readApi(election?.annotation(API_ANNOTATION), election?.holder ?? ""),
        })
      : undefined;
  if (api !== undefined) closers.push(() => api.close());
  const gateWebhook = options.gateWebhook && (await startGateWebhook(options.gateWebhook, { ...access, clock, log }));
  if (gateWebhook !== undefined) closers.push(() => gateWebhook.close());
  const health = await startHealthServer({
    ...(options.health ?? { host: "127.0.0.1", port: 0 }),
    metrics,
    checks: healthChecks({ leading: () => leading, election, config }),
  });
  log.info("the controller starts", {
    ...startSummary(access),
    identity,
    health: health.url,
    ...(api && { api: api.url }),
    ...(gateWebhook && { gateWebhook: gateWebhook.url }),
  });
  const run = async (): Promise<"lost" | "stopped"> => {
    try {
      return await (election === undefined ? alone(lead) : election.run(stopping.signal, lead));
    } finally {
      await closeAll();
    }
  };
  const ended = run();
  ended.catch((error: unknown) => log.error(`the controller ended: ${String(error)}`));
  return {
    metricsUrl: `${health.url}/metrics`,
    apiUrl: api?.url,
    gateWebhookUrl: gateWebhook?.url,
    lookAgain: () => leading?.resync(),
    ended,
    async close() {
      stopping.abort(new Error("the controller stops"));
      await ended.catch(() => {});
      await health.close();
    },
  };
}

/** What runs with which settings; nothing secret. */
function startSummary({ config, credentialKind }: Access): LogFields {
  const { clusterName, subscriptionId, resourceGroup, vmType, poolType } = config;
  const settings = { cluster: clusterName, subscription: subscriptionId, resourceGroup, vmType, poolType };
  return { version: VERSION, node: process.versions.node, ...settings, signIn: credentialKind };
}

/** The connections of the process, and the cloud config. */
interface Access {
  readonly kube: KubeClient;
  readonly arm: ArmClient;
  readonly tracer: Tracer | undefined;
  readonly webhooks: WebhookHttp;
  readonly config: ClusterConfig;
  readonly credentialKind: Credential["kind"];
  /** The cloud config as it is now. */
  readonly reload: () => Promise<ClusterConfig>;
}

async function openAccess(
  options: ControllerProcessOptions,
  metrics: Metrics,
  writes: WriteLog | undefined,
  closers: (() => Promise<void>)[],
): Promise<Access> {
  const { env, log } = options;
  const kube = openKubeClient({
    kubeconfig: options.kubeconfig,
    userAgent: USER_AGENT,
    onRequest: (request) => measureRequest(metrics, request),
  });
  closers.push(kube.close);
  const { cloudConfig: source, clusterName, acceptedChange } = options;
  const load = (logged: Log): Promise<LoadedConfig> =>
    loadCloudConfig({ source, clusterName, env, client: kube.client, log: logged, acceptedChange });
  const { config, credentials } = await load(log);
  const arm = await openArmClient({
    credentials,
    reload: async () => (await load(SILENT_LOG)).credentials,
    networkSubscriptionId: config.networkSubscriptionId,
    env,
    userAgent: USER_AGENT,
    log,
    around: options.aroundAzure,
    onCall: (call) => {
      measureCall(metrics, log, call);
      writes?.called(call);
    },
  });
  closers.push(() => arm.close());
  const webhooks = new WebhookHttp({ hosts: options.webhookHosts });
  closers.push(() => webhooks.close());
  return {
    kube: kube.client,
    arm: arm.client,
    tracer: arm.tracer,
    webhooks,
    config,
    credentialKind: credentials.credential.kind,
    reload: async () => (await load(SILENT_LOG)).config,
  };
}

/** A change that can be applied stops the process. */
function watchConfig(
  { log, clock = realClock, configPeriodMs: periodMs = CONFIG_PERIOD_MS }: ControllerProcessOptions,
  { config: inForce, reload: load }: Access,
  metrics: Metrics,
  stopping: AbortController,
): ConfigWatch {
  const watch = new ConfigWatch({
    inForce,
    load,
    clock,
    log,
    periodMs,
    onChange: () => stopping.abort(new Error("the cloud config has changed")),
    onProblem: (problem) => metrics.configRefused.set({}, problem === undefined ? 0 : 1),
  });
  void watch.run(stopping.signal);
  return watch;
}

/** The controller for one term as the leader. */
function assemble(
  options: ControllerProcessOptions,
  { kube, arm, tracer, webhooks, config }: Access,
  metrics: Metrics,
  writes: WriteLog | undefined,
  fence: Fence,
): Controller {
  const { log } = options;
  const common = { clock: options.clock ?? realClock, random: Math.random };
  const recorder = new EventRecorder({
    ...common,
    client: kube.fencedBy(fence),
    component: "azlb",
    onProblem: (error) => log.warn(`an event was given up: ${errorText(error)}`),
    onOutcome: (outcome) => metrics.events.inc({ outcome }),
  });
  return new Controller({
    ...common,
    config,
    kube,
    arm,
    tracer,
    recorder,
    metrics,
    writes,
    log,
    fence,
    classFilter: options.loadBalancerClass,
    driftPolicy: options.driftPolicy ?? "report",
    driftPeriodMs: options.driftPeriodMs ?? DRIFT_PERIOD_MS,
    workers: options.workers ?? WORKERS,
    acceptedChange: options.acceptedChange,
    brakeLimits: options.brakeLimits,
    showsEndpoints: options.api !== undefined,
    lbcf: { webhooks: webhooks.send, ...options.lbcf },
  });
}

async function alone(lead: (fence: Fence) => Promise<void>): Promise<"stopped"> {
  await lead(OPEN_FENCE);
  return "stopped";
}

function openElection(
  { lease = DEFAULT_LEASE, log }: ControllerProcessOptions,
  client: KubeClient,
  identity: string,
  api: () => LeaderApi | undefined,
): LeaderElection {
  return new LeaderElection({
    client,
    annotations: (): Readonly<Record<string, string>> => {
      const own = api();
      return own === undefined ? {} : { [API_ANNOTATION]: writtenApi(identity, own) };
    },
    clock: realClock,
    random: Math.random,
    identity,
    onHolder: (holder) => {
      if (holder !== "" && holder !== identity)
        log.info("another process leads; this one waits for the Lease", { holder });
    },
    onProblem: (error) => log.warn(`leader election: ${String(error)}`),
    onWait: (waitMs) =>
      log.info(
        `the Lease was not there: leads in ${Math.ceil(waitMs / 1000)} s, when a former leader must have stopped`,
      ),
    ...lease,
  });
}

/** Resolves when either is aborted. */
function aborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    }
  });
}

export function measureRequest(metrics: Metrics, { plural, method, status, durationMs }: RequestSample): void {
  metrics.kubeSeconds.observe({ resource: plural, method }, durationMs / 1000);
  if (status >= 200 && status <= 299) return;
  metrics.kubeErrors.inc({ resource: plural, method, status_code: String(status) });
}

export function measureCall(metrics: Metrics, log: Log, call: CallReport): void {
  const { verb, type, id, priority, status, failure, waitedMs, durationMs } = call;
  const labels = { resource: type, method: verb };
  metrics.armSeconds.observe(labels, durationMs / 1000);
  metrics.armWaitSeconds.observe({ priority }, waitedMs / 1000);
  logWrite(log, call);
  if (failure === undefined) return;
  metrics.armErrors.inc({ ...labels, status_code: String(status ?? 0), error_code: failure.kind });
  if (failure.kind !== "throttled") return;
  const waitMs = keptRetryAfterMs(failure) ?? DELAY.gateClosedMs;
  metrics.armThrottledSeconds.inc(labels, waitMs / 1000);
  log.warn(`Azure throttles ${verb} of ${type}: it waits for ${Math.ceil(waitMs / 1000)} s`, { id });
}

/** One line for each write that Azure answered or may have got, with what its support asks for. */
function logWrite(log: Log, { verb, id, status, failure, batchSize, requestId, durationMs }: CallReport): void {
  if (verb !== "put" && verb !== "delete" && verb !== "post") return;
  if (status === undefined && failure?.kind !== "transient") return; // it was held back
  const outcome = failure === undefined ? {} : { failure: failure.kind, code: failure.code };
  const fields = { fragments: batchSize, status, durationMs: Math.round(durationMs), ...outcome, requestId, id };
  log.info(`${verb.toUpperCase()} ${id.split("/").slice(-2).join("/")}`, fields);
}
