/**
 * `azlb doctor`: checks everything that the controller depends on before it is started, in the order in which one thing rests
 * on another. Reads only; never fails: what cannot be checked is a line.
 */
import { findCloud } from "../azure/arm/clouds.ts";
import { HttpTransport } from "../azure/arm/http-transport.ts";
import type { CredentialConfig } from "../core/config/credential-config.ts";
import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { SERVICES } from "../kube/client/resources.ts";
import { openArmClient } from "./azure-access.ts";
import { type ViewOptions, withClusterView } from "./cluster-view.ts";
import { checkAzure } from "./doctor-azure.ts";
import { type Check, ok, unknown, wrong } from "./doctor-checks.ts";
import { checkDefinitions, checkKubernetesRights, checkRivals } from "./doctor-kubernetes.ts";
import { openKubeClient } from "./kube-access.ts";
import { loadCloudConfig, nameOf } from "./load-cloud-config.ts";
import { realClock } from "./real-clock.ts";
import { VERSION } from "./version.ts";

const USER_AGENT = `azlb/${VERSION}`;

export async function runDoctor(options: ViewOptions): Promise<Check[]> {
  const kube = openKubeClient({ kubeconfig: options.kubeconfig, context: options.context, userAgent: USER_AGENT });
  try {
    const cluster = await checkCluster(kube.client);
    const azure = await checkCloud(options, kube.client);
    const isSound = ![...cluster, ...azure].some(({ kind }) => kind === "wrong");
    const settings = isSound
      ? await checkSettings(options)
      : unknown("settings", "not compared: see what is wrong above");
    return [...cluster, ...azure, settings];
  } finally {
    await kube.close();
  }
}

async function checkCluster(client: KubeClient): Promise<Check[]> {
  try {
    await client.listPages(SERVICES, {}, undefined, 1).next();
  } catch (error) {
    const fix = "correct --kubeconfig or KUBECONFIG, or grant the rights of deploy/rbac.yaml";
    return [wrong("Kubernetes", errorText(error), fix)];
  }
  return [
    ok("Kubernetes", "the API server answers"),
    await checkKubernetesRights(client),
    ...(await checkRivals(client, realClock.nowMs())),
    await checkDefinitions(client),
  ];
}

async function checkCloud(options: ViewOptions, client: KubeClient): Promise<Check[]> {
  const { cloudConfig: source, clusterName, env, timeoutMs = 0 } = options;
  const where = nameOf(source);
  const warnings: string[] = [];
  const log: Log = { ...options.log, warn: (message) => void warnings.push(message) };
  const loaded = await loadCloudConfig({ source, clusterName, env, client, log }).catch((error: unknown) =>
    errorText(error),
  );
  if (typeof loaded === "string") return [wrong("cloud config", loaded, `correct ${where}`)];
  const { config, credentials } = loaded;
  const signal = timeoutMs === 0 ? new AbortController().signal : AbortSignal.timeout(timeoutMs);
  const file = ok("cloud config", [where, ...warnings].join("; "));
  try {
    const skew = await checkClock(credentials, env, signal);
    const { networkSubscriptionId } = config;
    const arm = await openArmClient({ credentials, networkSubscriptionId, env, userAgent: USER_AGENT });
    const profile = credentials.azureStack ? "azureStack" : "current";
    const checks = await checkAzure({ client: arm.client, config, where, profile, signal });
    await arm.close();
    return [file, skew, ...checks];
  } catch (error) {
    return [
      file,
      wrong("Azure", errorText(error), `check network, proxy, cloud and resourceManagerEndpoint in ${where}`),
    ];
  }
}

/** Tokens are not accepted where clocks differ by minutes. */
const MOST_SKEW_MS = 60_000;

async function checkClock(credentials: CredentialConfig, env: ViewOptions["env"], signal: AbortSignal): Promise<Check> {
  const transport = new HttpTransport({ caFile: credentials.caFile, env });
  try {
    const { resourceManager } = await findCloud(credentials, transport, env["AZURE_ENVIRONMENT_FILEPATH"]);
    const { headers } = await transport.send({ method: "GET", url: `${resourceManager}/`, headers: {}, signal });
    const skewMs = realClock.nowMs() - Date.parse(headers["date"] ?? "");
    if (Number.isNaN(skewMs)) return unknown("clock", "cannot be checked here: Azure tells no date");
    const text = `${Math.round(Math.abs(skewMs) / 1000)} s from Azure's`;
    return Math.abs(skewMs) < MOST_SKEW_MS
      ? ok("clock", text)
      : wrong("clock", text, "synchronise this machine's clock");
  } finally {
    await transport.close();
  }
}

/** Cluster name, SKU and the other settings that published Services tell. */
async function checkSettings(options: ViewOptions): Promise<Check> {
  const what = "settings";
  try {
    const { refused } = await withClusterView(options, (view) => view.changes());
    const [first] = refused;
    if (first === undefined) return ok(what, "as published Services have them in Azure, cluster name included");
    const fix = `see docs/handover.md, "When a setting differs"`;
    return wrong(what, refused.map(({ message }) => message).join("; "), fix);
  } catch (error) {
    return wrong(what, errorText(error), "correct what the message names");
  }
}
