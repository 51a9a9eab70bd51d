/**
 * The read-only API of a controller process: what it shows is the controller's while this process leads, and its callers are
 * asked for at the cluster. Certificates are read from files, which are looked at again for renewed ones, or made here.
 */
import { readFile } from "node:fs/promises";

import { LiveView, type LeaderView } from "../api/api-source.ts";
import { type RunningApi, startApi, type Switches } from "../api/api-server.ts";
import { ClusterAuthorizer, OPEN } from "../api/authorizer.ts";
import { type KeyPair, selfSigned } from "../api/certificate.ts";
import type { LeaderApi } from "../api/forward.ts";
import type { ArmClient } from "../azure/arm/arm-client.ts";
import { ProbeResults } from "../azure/cache/probe-results.ts";
import type { Controller } from "../controller/controller.ts";
import type { Metrics } from "../controller/metrics.ts";
import type { WriteLog } from "../controller/write-log.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import type { DriftPolicy } from "../core/intent/service-intent.ts";
import type { Clock, Timer } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { pageFiles } from "./page-files.ts";
import { throttleOf } from "./throttle.ts";
import { VERSION } from "./version.ts";

export interface ControllerApiOptions {
  readonly host: string;
  /** `0`: any free one. */
  readonly port: number;
  /** Where other processes of the controller reach it; absent: they do not. */
  readonly advertised?: string | undefined;
  /** Of the operator; absent: one is made. */
  readonly certificate?: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Of a sandbox, on loopback: without TLS, open to every client, with what its page may do. */
  readonly sandbox?: { readonly switches: Switches } | undefined;
}

interface ApiParts {
  readonly kube: KubeClient;
  readonly arm: ArmClient;
  readonly config: ClusterConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly writes: WriteLog;
  readonly driftPolicy: DriftPolicy;
  readonly leading: () => Controller | undefined;
  readonly leader: () => LeaderView;
  /** Of the process that leads, as it wrote it into the Lease. */
  readonly leaderApi: () => LeaderApi | undefined;
}

interface RunningControllerApi {
  readonly url: string;
  /** What this process writes into the Lease while it leads. */
  readonly advertised: () => LeaderApi | undefined;
  /** Another term as the leader begins, or ends. */
  led(controller: Controller | undefined): void;
  close(): Promise<void>;
}

const RENEWED_MS = 60_000;

export async function startControllerApi(
  options: ControllerApiOptions,
  parts: ApiParts,
): Promise<RunningControllerApi> {
  const { clock, log, metrics, writes, kube } = parts;
  const { host, port, sandbox, certificate } = options;
  const live = new LiveView(sourceOf(parts));
  const keys = sandbox === undefined ? await keysOf(options, clock) : undefined;
  const authorizer = sandbox === undefined ? new ClusterAuthorizer(kube, clock) : OPEN;
  const files = await pageFiles(log);
  const { leaderApi } = parts;
  const switches = sandbox?.switches;
  const api = await startApi({ host, port, live, authorizer, keys, files, switches, log, leaderApi });
  const inForce = { keys };
  const renewal = certificate && keys ? watchCertificate(certificate, inForce, api, clock, log) : undefined;
  metrics.serviceStates.listen(() => live.changed());
  writes.listen(() => live.changed());
  return {
    url: api.url,
    advertised: () => advertisedApi(options, api, inForce.keys),
    led: (controller) => {
      controller?.watchCluster(() => live.changed());
      live.changed();
    },
    close: async () => {
      renewal?.cancel();
      live.close();
      await api.close();
    },
  };
}

function advertisedApi(
  { advertised }: ControllerApiOptions,
  { url }: RunningApi,
  keys: KeyPair | undefined,
): LeaderApi | undefined {
  if (advertised === undefined || keys === undefined) return undefined;
  const host = advertised.includes(":") ? `[${advertised}]` : advertised;
  return { url: `https://${host}:${new URL(url).port}`, cert: keys.cert };
}

function sourceOf({ config, clock, arm, writes, driftPolicy, leading, leader }: ApiParts): LiveView["source"] {
  const probes = new ProbeResults(arm, clock);
  return {
    version: VERSION,
    clusterName: config.clusterName,
    driftPolicy,
    clock,
    picture: () => leading()?.picture,
    isReady: () => leading()?.isReady ?? false,
    leader,
    throttle: () =>
      throttleOf(arm, config).map(({ closedForMs, ...gate }) => {
        const closedUntil = new Date(clock.nowMs() + closedForMs).toISOString();
        return { ...gate, ...(closedForMs > 0 && { closedUntil }) };
      }),
    probeResult: (ruleId) => probes.of(ruleId),
    writes: (limit) => writes.newest(limit),
  };
}

async function keysOf({ certificate, host }: ControllerApiOptions, clock: Clock): Promise<KeyPair> {
  if (certificate === undefined) return selfSigned(host, clock.nowMs());
  return readKeys(certificate);
}

async function readKeys({ certFile, keyFile }: NonNullable<ControllerApiOptions["certificate"]>): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
  return { cert, key };
}

/** A pair that does not fit, as in the middle of a renewal, is left for the next look. */
function watchCertificate(
  files: NonNullable<ControllerApiOptions["certificate"]>,
  inForce: { keys: KeyPair | undefined },
  api: RunningApi,
  clock: Clock,
  log: Log,
): Timer {
  let timer: Timer;
  const look = async (): Promise<void> => {
    try {
      const keys = await readKeys(files);
      if (keys.cert !== inForce.keys?.cert || keys.key !== inForce.keys.key) {
        api.renew(keys);
        inForce.keys = keys;
        log.info("the API has a renewed certificate");
      }
    } catch (error) {
      log.warn(`the API's certificate in ${files.certFile} is not in force: ${errorText(error)}`);
    }
    timer = clock.setTimer(RENEWED_MS, () => void look());
  };
  timer = clock.setTimer(RENEWED_MS, () => void look());
  return { cancel: () => timer.cancel() };
}
