/** `azlb uninstall --remove`, and what it would do: connections and cloud config around `uninstall.ts`. */
import { planCluster } from "../core/plan/plan-cluster.ts";
import { reportPlan } from "../core/plan/plan-report.ts";
import { renderReport } from "../core/plan/render-report.ts";
import { withdrawn } from "../core/service/withdraw.ts";
import type { Log } from "../core/util/log.ts";
import { openArmClient } from "./azure-access.ts";
import { withClusterView } from "./cluster-view.ts";
import { type ClusterChoice, openKubeClient } from "./kube-access.ts";
import { type CloudConfigSource, loadCloudConfig } from "./load-cloud-config.ts";
import { OtherSettings, removeFromAzure } from "./remove-from-azure.ts";
import { type Uninstalled, type UninstallOptions, uninstallRemoving } from "./uninstall.ts";

export interface RemoveClusterOptions extends Omit<UninstallOptions, "client">, ClusterChoice {
  readonly cloudConfig: CloudConfigSource;
  readonly clusterName: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly userAgent: string;
  readonly log: Log;
}

export async function removeCluster(options: RemoveClusterOptions): Promise<Uninstalled> {
  const { kubeconfig, context, userAgent, cloudConfig: source, clusterName, env, log } = options;
  const { client, close } = openKubeClient({ kubeconfig, context, userAgent });
  try {
    const { config, credentials } = await loadCloudConfig({ source, clusterName, env, client, log });
    const { networkSubscriptionId } = config;
    const arm = await openArmClient({ credentials, networkSubscriptionId, env, userAgent });
    try {
      return await uninstallRemoving({ ...options, client }, (fence) =>
        removeFromAzure({ ...options, kube: client, arm: arm.client, config, fence }),
      );
    } finally {
      await arm.close();
    }
  } finally {
    await close();
  }
}

/** Reads only. */
export function planRemoval({ classFilter, ...options }: RemoveClusterOptions): Promise<Uninstalled> {
  return withClusterView({ ...options, loadBalancerClass: classFilter }, async (view) => {
    const { refused } = await view.changes();
    if (refused.length > 0) throw new OtherSettings(refused);
    const observed = await Promise.all(view.services.map((service) => view.observe(service)));
    const before = observed.map(withdrawn);
    const plan = planCluster(before);
    const report = reportPlan({ ...plan, before, unreadable: [], drift: { services: [], steps: [] } });
    return { text: renderReport(report, plan.steps, view.config.resourceGroup), isDone: true };
  });
}
