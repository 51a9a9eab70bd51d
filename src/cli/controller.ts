/** `azlb controller`: runs the controller alone. Flags are spelled as the incumbent (cloud-provider-azure) spells them. */
import { Option, type Command } from "commander";

import type { ControllerProcessOptions, LeaseOptions, RunningController } from "../main/controller.ts";
import type { ShadowProcessOptions } from "../main/shadow.ts";
import type { LogFormat, LogLevel } from "../main/stderr-log.ts";
import { parseStaticAddresses, type StaticAddresses } from "../core/lbcf/azure/static-addresses.ts";
import { parseWebhookHosts, type WebhookHosts } from "../core/lbcf/drivers/webhook-hosts.ts";
import type { DriftPolicy } from "../core/intent/service-intent.ts";
import type { Change } from "../core/guard/configuration-changes.ts";
import { parseAddress } from "../core/util/cidr.ts";
import { acceptChangeFlag } from "./accept-change.ts";
import { driftPolicyFlag } from "./drift-policy-flag.ts";
import { kubeconfigFlag } from "./cluster-flags.ts";
import { brakeLimits, withBrakeFlags, type BrakeFlags } from "./brake-flags.ts";
import { cloudConfigSource, withCloudConfigFlags, type CloudConfigFlags } from "./cloud-config-flags.ts";
import { parseFlagBoolean, parseFlagDurationMs, parseFlagNumber } from "./flag-values.ts";
import { InputError, portErrorOf } from "./input-error.ts";
import { untilSignal } from "./sandbox-line.ts";

interface ControllerFlags extends CloudConfigFlags, BrakeFlags {
  readonly kubeconfig?: string;
  readonly clusterName: string;
  readonly leaderElect: string | boolean;
  readonly leaderElectLeaseDuration: string;
  readonly leaderElectRenewDeadline: string;
  readonly leaderElectRetryPeriod: string;
  readonly leaderElectResourceName: string;
  readonly leaderElectResourceNamespace: string;
  readonly loadBalancerClass?: string;
  readonly acceptChange?: Change;
  readonly driftPolicy: DriftPolicy;
  readonly driftCheckPeriod: string;
  readonly concurrentServiceSyncs: string;
  readonly lbcfWebhookHosts?: string;
  readonly lbcfStaticAddresses?: string;
  readonly bindAddress: string;
  readonly healthPort: string;
  readonly apiAddress?: string;
  readonly apiAdvertiseAddress?: string;
  readonly apiCertFile?: string;
  readonly apiKeyFile?: string;
  readonly lbcfGateWebhookAddress?: string;
  readonly lbcfGateWebhookCertFile?: string;
  readonly lbcfGateWebhookKeyFile?: string;
  readonly logFormat?: LogFormat;
  readonly logLevel: LogLevel;
  readonly shadow?: boolean;
  readonly shadowSettle: string;
  readonly shadowPort: string;
}

/** Flags of the incumbent that are accepted but have no effect; each gets one warning. */
const WITHOUT_EFFECT = [
  "allocate-node-cidrs",
  "authentication-kubeconfig",
  "authorization-kubeconfig",
  "cloud-provider",
  "cluster-cidr",
  "configure-cloud-routes",
  "controllers",
  "enable-dynamic-reloading",
  "kube-api-burst",
  "kube-api-qps",
  "min-resync-period",
  "node-monitor-period",
  "node-sync-period",
  "route-reconciliation-period",
  "secure-port",
  "use-service-account-credentials",
  "v",
];

/** A year: longer than any process. */
const NEVER_MS = 31_536_000_000;

export function registerController(azlb: Command): void {
  const command = azlb
    .command("controller")
    .description("run the controller that creates Azure load balancers for Services of type LoadBalancer")
    .addOption(kubeconfigFlag())
    .option(
      "--cluster-name <name>",
      "prefix of resource names in Azure; must not change during the life of a cluster",
      "kubernetes",
    )
    .option("--leader-elect [bool]", "use leader election: write only while holding the Lease", true)
    .option("--leader-elect-lease-duration <duration>", "how long a lease lasts without renewal", "15s")
    .option(
      "--leader-elect-renew-deadline <duration>",
      "how long the leader tries to renew the lease before it stops",
      "10s",
    )
    .option("--leader-elect-retry-period <duration>", "time between attempts to acquire or renew the lease", "2s")
    .option("--leader-elect-resource-name <name>", "name of the Lease", "azlb-controller")
    .option("--leader-elect-resource-namespace <namespace>", "namespace of the Lease", "kube-system")
    .option("--load-balancer-class <class>", "serve only Services of this class (default: those without a class)")
    .addOption(acceptChangeFlag())
    .addOption(
      driftPolicyFlag("what to do when another client has changed the Azure resources of an unchanged Service"),
    )
    .option(
      "--drift-check-period <duration>",
      "interval of the drift check, which reads and compares Azure; 0: never",
      "5m",
    )
    .option("--concurrent-service-syncs <count>", "Services that are reconciled in parallel", "1000")
    .option(
      "--lbcf-webhook-hosts <hosts>",
      "where webhooks of LBCF drivers may go: names, *.suffix, addresses and blocks, by commas (default: everywhere but " +
        "loopback, link-local and other special addresses)",
    )
    .option(
      "--lbcf-static-addresses <list>",
      "static addresses of BackendGroups that may enter pools of lbcf-azure: addresses, blocks and *, each after NAMESPACE= " +
        "where it holds for one namespace, by commas (default: none)",
    )
    .option(
      "--lbcf-gate-webhook-address <[host:]port>",
      "serve the webhook that gives new pods the readiness gate there, for API servers without MutatingAdmissionPolicies; a port " +
        "alone: on loopback (default: none)",
    )
    .option("--lbcf-gate-webhook-cert-file <file>", "certificate of that webhook, with those that it is signed by")
    .option("--lbcf-gate-webhook-key-file <file>", "private key of that certificate")
    .option("--bind-address <address>", "address of /livez, /readyz, /leaderz and /metrics", "0.0.0.0")
    .option("--health-port <port>", "port of /livez, /readyz, /leaderz and /metrics; 0: any free port", "10358")
    .option(
      "--api-address <[host:]port>",
      "serve the read-only API and its page there, over TLS; a port alone: on loopback (default: none)",
    )
    .option(
      "--api-advertise-address <address>",
      "IP address at which other controllers of the cluster reach the API of this one, to pass requests on while it leads",
    )
    .option("--api-cert-file <file>", "certificate of the API, with those that it is signed by (default: one is made)")
    .option("--api-key-file <file>", "private key of that certificate")
    .option(
      "--shadow",
      "run beside the incumbent and only read: predict what it will do, and compare; azlb shadow report shows the outcome. No Lease, and no flag about writes has an effect",
    )
    .option(
      "--shadow-settle <duration>",
      "how long Azure must be still before a difference from the prediction counts",
      "2m",
    )
    .option("--shadow-port <port>", "port of the shadow's report, on loopback; 0: any free port", "10359")
    .addOption(
      new Option("--log-format <format>", "format of the log (default: text on a terminal, otherwise json)").choices([
        "text",
        "json",
      ]),
    )
    .addOption(
      new Option("--log-level <level>", "least severity of the lines that are written")
        .choices(["info", "warn", "error"])
        .default("info"),
    );
  for (const flag of WITHOUT_EFFECT) command.addOption(new Option(`--${flag} [value]`).hideHelp());
  withCloudConfigFlags(withBrakeFlags(command)).action(run);
}

async function run(flags: ControllerFlags & Readonly<Record<string, unknown>>): Promise<void> {
  const [{ startController }, { stderrLog }] = await Promise.all([
    import("../main/controller.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const log = stderrLog(flags.logFormat, flags.logLevel);
  for (const flag of WITHOUT_EFFECT) {
    if (flags[camelCase(flag)] !== undefined) log.warn(`--${flag} has no effect`);
  }
  const start = async (): Promise<RunningController> => {
    if (flags.shadow !== true) return startController({ ...processOptions(flags), log });
    const { startShadow } = await import("../main/shadow.ts");
    return startShadow({ ...shadowOptions(flags), log });
  };
  const controller = await start().catch((error: unknown) => {
    throw portErrorOf(error);
  });
  const why = await Promise.race([controller.ended, untilSignal()]);
  if (why !== "lost" && why !== "stopped") log.info(`${why}: the controller stops once its writes have ended`);
  if (why === "lost") log.error("leader election lost: another replica leads now");
  await controller.close();
  log.info("the controller has stopped");
  if (why === "lost") process.exitCode = 1;
}

function processOptions(flags: ControllerFlags): Omit<ControllerProcessOptions, "log"> {
  return {
    kubeconfig: flags.kubeconfig,
    cloudConfig: cloudConfigSource(flags),
    clusterName: flags.clusterName,
    env: process.env,
    leaderElect: parseFlagBoolean("--leader-elect", flags.leaderElect),
    lease: leaseOptions(flags),
    loadBalancerClass: flags.loadBalancerClass,
    acceptedChange: flags.acceptChange,
    brakeLimits: brakeLimits(flags),
    driftPolicy: flags.driftPolicy,
    driftPeriodMs: parseFlagDurationMs("--drift-check-period", flags.driftCheckPeriod),
    workers: parseFlagNumber("--concurrent-service-syncs", flags.concurrentServiceSyncs, 1, 10_000),
    webhookHosts: webhookHosts(flags.lbcfWebhookHosts),
    lbcf: { staticAddresses: staticAddresses(flags.lbcfStaticAddresses) },
    api: apiOptions(flags),
    gateWebhook: gateWebhookOptions(flags),
    health: { host: flags.bindAddress, port: parseFlagNumber("--health-port", flags.healthPort, 0, 65_535) },
  };
}

/** `undefined`: none. */
function apiOptions(flags: ControllerFlags): ControllerProcessOptions["api"] {
  const { apiAddress, apiAdvertiseAddress: advertised, apiCertFile, apiKeyFile } = flags;
  if (apiAddress === undefined) return undefined;
  const address = listenAddress("--api-address", apiAddress);
  if (advertised !== undefined && parseAddress(advertised) === undefined) {
    throw new InputError(`--api-advertise-address is "${advertised}"; it takes an IP address, as of the pod`);
  }
  if ((apiCertFile === undefined) !== (apiKeyFile === undefined)) {
    throw new InputError("--api-cert-file and --api-key-file belong together: only one is given");
  }
  const certificate = apiCertFile && apiKeyFile ? { certFile: apiCertFile, keyFile: apiKeyFile } : undefined;
  return { ...address, certificate, advertised };
}

/** `undefined`: none. */
function gateWebhookOptions(flags: ControllerFlags): ControllerProcessOptions["gateWebhook"] {
  const { lbcfGateWebhookAddress: given, lbcfGateWebhookCertFile: certFile, lbcfGateWebhookKeyFile: keyFile } = flags;
  if (given === undefined) return undefined;
  const address = listenAddress("--lbcf-gate-webhook-address", given);
  if (certFile === undefined || keyFile === undefined) {
    throw new InputError(
      "--lbcf-gate-webhook-address needs --lbcf-gate-webhook-cert-file and --lbcf-gate-webhook-key-file: the API server calls over TLS",
    );
  }
  return { ...address, certificate: { certFile, keyFile } };
}

function listenAddress(flag: string, value: string): { readonly host: string; readonly port: number } {
  const [, ipv6, name, port = ""] = /^(?:(?:\[([^\]]+)\]|([^:]*)):)?([^:]*)$/.exec(value) ?? [];
  if (!/^\d+$/.test(port)) throw new InputError(`${flag} is "${value}"; it takes HOST:PORT, or a port for loopback`);
  const host = ipv6 ?? (name === undefined || name === "" ? "127.0.0.1" : name);
  return { host, port: parseFlagNumber(flag, port, 0, 65_535) };
}

function webhookHosts(value: string | undefined): WebhookHosts | undefined {
  if (value === undefined) return undefined;
  const hosts = parseWebhookHosts(value);
  if ("mistake" in hosts) throw new InputError(`--lbcf-webhook-hosts: ${hosts.mistake}`);
  return hosts;
}

function staticAddresses(value: string | undefined): StaticAddresses | undefined {
  if (value === undefined) return undefined;
  const allowed = parseStaticAddresses(value);
  if ("mistake" in allowed) throw new InputError(`--lbcf-static-addresses: ${allowed.mistake}`);
  return allowed;
}

function shadowOptions(flags: ControllerFlags): Omit<ShadowProcessOptions, "log"> {
  return {
    ...processOptions(flags),
    settleMs: parseFlagDurationMs("--shadow-settle", flags.shadowSettle),
    periodMs: parseFlagDurationMs("--drift-check-period", flags.driftCheckPeriod) || NEVER_MS,
    reportPort: parseFlagNumber("--shadow-port", flags.shadowPort, 0, 65_535),
  };
}

/** A renew deadline beyond the lease duration would let two replicas lead at once. */
function leaseOptions(flags: ControllerFlags): LeaseOptions {
  const lease = {
    namespace: flags.leaderElectResourceNamespace,
    name: flags.leaderElectResourceName,
    leaseDurationMs: parseFlagDurationMs("--leader-elect-lease-duration", flags.leaderElectLeaseDuration),
    renewDeadlineMs: parseFlagDurationMs("--leader-elect-renew-deadline", flags.leaderElectRenewDeadline),
    retryPeriodMs: parseFlagDurationMs("--leader-elect-retry-period", flags.leaderElectRetryPeriod),
  };
  if (lease.renewDeadlineMs >= lease.leaseDurationMs) {
    throw new InputError(
      `--leader-elect-renew-deadline is ${flags.leaderElectRenewDeadline}; it must be shorter than --leader-elect-lease-duration, ${flags.leaderElectLeaseDuration}`,
    );
  }
  if (lease.retryPeriodMs <= 0 || lease.retryPeriodMs >= lease.renewDeadlineMs) {
    throw new InputError(
      `--leader-elect-retry-period is ${flags.leaderElectRetryPeriod}; it must be more than 0 and shorter than --leader-elect-renew-deadline, ${flags.leaderElectRenewDeadline}`,
    );
  }
  return lease;
}

function camelCase(flag: string): string {
  return flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
