/**
 * `azlb verify-azure`: the controller itself, on an embedded Kubernetes with two Nodes, works in a resource group that holds nothing else. The
 * network, the security group and all that the controller makes bear a tag of this run; what bears it is removed at the end, and nothing else.
 */
import { randomBytes } from "node:crypto";

import { startKubernetes } from "../../../sandbox/kubernetes/index.ts";
import type { Log } from "../../core/util/log.ts";
import { errorText } from "../../core/util/text.ts";
import { AzureTrace, type TracedCall } from "./trace.ts";
import { openArmClient } from "../azure-access.ts";
import { startController } from "../controller.ts";
import { loadCloudConfig } from "../load-cloud-config.ts";
import { openKubeClient } from "../kube-access.ts";
import { realClock } from "../real-clock.ts";
import { VERSION } from "../version.ts";
import { CLUSTER, scenarios } from "./scenarios.ts";
import { TAG, Throwaway } from "./throwaway.ts";

export interface VerifyOptions {
  /** The user's cloud config: identity, subscription, cloud and location are taken from it. */
  readonly cloudConfig: Readonly<Record<string, unknown>>;
  readonly resourceGroup: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly withinMs: number;
  readonly log: Log;
  readonly say: (line: string) => void;
}

export interface Verification {
  readonly azlb: string;
  readonly results: readonly { readonly scenario: string; readonly seconds: number; readonly problem?: string }[];
  readonly calls: readonly TracedCall[];
}

const IDENTITY_KEYS =
  /^(cloud|tenantId|subscriptionId|location|resourceManagerEndpoint|caFile|aad\w+|use\w+Extension|userAssignedIdentityID)$/;

export async function verifyAzure(options: VerifyOptions): Promise<Verification> {
  const { resourceGroup, env, log, say } = options;
  const run = randomBytes(6).toString("hex");
  const value = {
    ...Object.fromEntries(Object.entries(options.cloudConfig).filter(([key]) => IDENTITY_KEYS.test(key))),
    resourceGroup,
    vnetResourceGroup: resourceGroup,
    securityGroupResourceGroup: resourceGroup,
    vnetName: TAG,
    subnetName: "nodes",
    securityGroupName: TAG,
    vmType: "standard",
    loadBalancerSku: "standard",
    loadBalancerBackendPoolConfigurationType: "nodeIP",
    tags: `${TAG}=${run}`,
  };
  const cloudConfig = { kind: "object", value } as const;
  const trace = new AzureTrace(realClock, resourceGroup);
  const nodes = [10, 11].map((host) => ({ name: `node-${host}`, internalIPs: [`10.250.0.${host}`] }));
  const kubernetes = await startKubernetes({ nodes, simulate: true, log: () => {} });
  const { kubeconfig } = kubernetes;
  const kube = openKubeClient({ kubeconfig, userAgent: TAG });
  const closers = [() => kubernetes.close(), kube.close];
  const results: { scenario: string; seconds: number; problem?: string }[] = [];
  try {
    const loaded = await loadCloudConfig({ source: cloudConfig, clusterName: CLUSTER, env, client: kube.client, log });
    const { config, credentials } = loaded;
    const around = trace.around.bind(trace);
    const arm = await openArmClient({ credentials, env, userAgent: `azlb/${VERSION}`, around });
    closers.push(() => arm.close());
    const group = `/subscriptions/${config.subscriptionId}/resourceGroups/${resourceGroup}`;
    const azure = new Throwaway(arm.client, `${group}/providers/Microsoft.Network`, run);
    await azure.refuseIfUsed(resourceGroup);
    try {
      await azure.prepare(config.location);
      const controller = await startController({
        kubeconfig,
        cloudConfig,
        clusterName: CLUSTER,
        env,
        log,
        aroundAzure: around,
        leaderElect: false,
      });
      try {
        for (const [scenario, act] of scenarios(kube.client, azure, options.withinMs)) {
          trace.scenario = scenario;
          const startMs = realClock.monotonicMs();
          const problem = await act().then(
            () => undefined,
            (error: unknown) => errorText(error),
          );
          const seconds = Math.round((realClock.monotonicMs() - startMs) / 100) / 10;
          results.push({ scenario, seconds, ...(problem !== undefined && { problem }) });
          say(
            `${problem === undefined ? "OK   " : "WRONG"} ${scenario} (${seconds} s)${problem ? `: ${problem}` : ""}`,
          );
        }
      } finally {
        await controller.close();
      }
    } finally {
      trace.scenario = "clean up";
      for (const line of await azure.removeOwn()) say(line);
    }
  } finally {
    for (const close of closers.toReversed()) await close();
  }
  return { azlb: VERSION, results, calls: trace.calls };
}
