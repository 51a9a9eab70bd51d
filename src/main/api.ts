/**
 * The read-only API of a controller process: what it shows is the controller's while this process leads, and its callers are
 * asked for at the cluster. Certificates are read from files, which are looked at again for renewed ones, or made here.
 */
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
import type { Clock } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { type CertificateFiles, readKeys, watchCertificate } from "./certificate-files.ts";
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
  readonly certificate?: CertificateFiles | undefined;
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
  const onRenewed = (renewed: KeyPair): void => {
    api.renew(renewed);
    inForce.keys = renewed;
  };
  const renewal =
    certificate && keys
      ? watchCertificate({ what: "the API", files: certificate, inForce: keys, onRenewed, clock, log })
      : undefined;
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
