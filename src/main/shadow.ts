/**
 * `azlb controller --shadow` as a process: connections that cannot write, caches, the shadow and its report on loopback. It
 * holds no Lease, so that it runs beside any controller.
 */
import type { CallReport } from "../azure/arm/arm-exchange.ts";
import { AZURE_LIMITS, shareOf } from "../azure/budget/limits.ts";
import { ClusterCache } from "../controller/cluster-cache.ts";
import { Metrics } from "../controller/metrics.ts";
import { ShadowLoop, type ShadowPace } from "../controller/shadow/shadow-loop.ts";
import { ShadowMetrics } from "../controller/shadow/shadow-metrics.ts";
import { Shadow } from "../controller/shadow/shadow.ts";
import { DELAY, keptRetryAfterMs } from "../core/retry.ts";
import type { Patience } from "../core/shadow/settling.ts";
import { openArmClient } from "./azure-access.ts";
import { type ControllerProcessOptions, measureCall, measureRequest, type RunningController } from "./controller.ts";
import { startHealthServer } from "./health-server.ts";
import { openKubeClient } from "./kube-access.ts";
import { loadCloudConfig } from "./load-cloud-config.ts";
import { realClock } from "./real-clock.ts";
import { startReportServer } from "./report-server.ts";
import { VERSION } from "./version.ts";

export interface ShadowProcessOptions extends Pick<
  ControllerProcessOptions,
  "kubeconfig" | "cloudConfig" | "clusterName" | "env" | "log" | "loadBalancerClass" | "health" | "clock"
> {
  /** How long Azure must be still before a difference counts. */
  readonly settleMs?: number;
  /** Between looks while no change is under way. */
  readonly periodMs?: number;
  /** Of the report, on loopback; `0`: any free port. */
  readonly reportPort?: number;
}

export interface OpenShadow {
  readonly shadow: Shadow;
  readonly loop: ShadowLoop;
  readonly cache: ClusterCache;
  readonly counters: Metrics;
  /** Ends the caches and closes the connections. */
  readonly close: () => Promise<void>;
}

export interface RunningShadow extends RunningController {
  readonly reportUrl: string;
}

/** Of the reads that Azure grants: the rest is for the incumbent and other clients. */
const READ_SHARE = 0.05;
const SETTLE_MS = 120_000;
const PERIOD_MS = 300_000;
const USER_AGENT = `azlb-shadow/${VERSION}`;

/** Resolves once it runs; what it has found is in its report from then on. */
export async function startShadow(options: ShadowProcessOptions): Promise<RunningShadow> {
  const { log, clusterName } = options;
  const { shadow, loop, counters, close } = await openShadow(options);
  const closers: (() => Promise<unknown>)[] = [close];
  const closeAll = async (): Promise<void> => {
    for (const each of closers.splice(0).reverse()) await each();
  };
  try {
    const hasLooked = { name: "azure", failure: () => (shadow.isReady ? undefined : "Azure was not read yet") };
    const leads = { name: "leader", failure: () => "a shadow never leads" };
    const checks = { live: [], ready: [hasLooked], leader: [leads] };
    const address = options.health ?? { host: "127.0.0.1", port: 0 };
    const health = await startHealthServer({ ...address, metrics: counters, checks });
    closers.push(() => health.close());
    const reports = await startReportServer(options.reportPort ?? 0, () => shadow.report());
    closers.push(() => reports.close());
    const stopping = new AbortController();
    const ended = loop.run(stopping.signal).then(() => "stopped" as const);
    closers.push(() => {
      stopping.abort(new Error("the shadow stops"));
      return ended;
    });
    log.info("the shadow is running: it only reads", { cluster: clusterName, report: reports.url });
    return { metricsUrl: `${health.url}/metrics`, reportUrl: reports.url, ended, close: closeAll };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** The shadow with its connections and caches, which looks when it is told to. */
export async function openShadow(options: ShadowProcessOptions): Promise<OpenShadow> {
  const { env, log, clusterName, clock = realClock, loadBalancerClass: classFilter } = options;
  const counters = new Metrics();
  const kube = openKubeClient({
    kubeconfig: options.kubeconfig,
    userAgent: USER_AGENT,
    readOnly: true,
    onRequest: (request) => measureRequest(counters, request),
  });
  try {
    const source = options.cloudConfig;
    const { config, credentials } = await loadCloudConfig({ source, clusterName, env, client: kube.client, log });
    let onCall = (_call: CallReport): void => {};
    const arm = await openArmClient({
      credentials,
      networkSubscriptionId: config.networkSubscriptionId,
      env,
      userAgent: USER_AGENT,
      onCall: (call) => onCall(call),
      clock,
      readOnly: true,
      limits: shareOf(AZURE_LIMITS, READ_SHARE),
      log,
    });
    const cache = new ClusterCache({ client: kube.client, clock, random: Math.random, log, config });
    cache.countIn(counters.loops);
    const metrics = ShadowMetrics.registerIn(counters.registry);
    const { patience, pace } = timesOf(options);
    const shadow = new Shadow({ config, classFilter, cache, arm: arm.client, clock, metrics, patience });
    const loop = new ShadowLoop({ shadow, cache, clock, log, metrics, pace });
    onCall = (call) => {
      measureCall(counters, log, call);
      shadow.countRead();
      if (call.failure?.kind === "throttled") loop.throttled(keptRetryAfterMs(call.failure) ?? DELAY.gateClosedMs);
    };
    const ending = new AbortController();
    const caching = cache.run(ending.signal);
    const close = async (): Promise<void> => {
      ending.abort(new Error("the shadow stops"));
      await caching;
      await Promise.all([arm.close(), kube.close()]);
    };
    return { shadow, loop, cache, counters, close };
  } catch (error) {
    await kube.close();
    throw error;
  }
}

/** All in proportion to how long Azure must be still. */
function timesOf({ settleMs = SETTLE_MS, periodMs = PERIOD_MS }: ShadowProcessOptions): {
  readonly patience: Patience;
  readonly pace: ShadowPace;
} {
  return {
    patience: { stillMs: settleMs, untouchedMs: 5 * settleMs, longestMs: 15 * settleMs },
    pace: { openMs: settleMs / 12, idleMs: periodMs },
  };
}
