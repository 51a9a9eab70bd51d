/** `azlb uninstall --keep-addresses`: takes the controller out of a cluster, and leaves Azure as it is. */
import type { Command } from "commander";

import { kubeconfigFlag } from "./kubeconfig-flag.ts";

interface UninstallFlags {
  readonly kubeconfig?: string;
  readonly loadBalancerClass?: string;
}

export function registerUninstall(azlb: Command): void {
  azlb
    .command("uninstall")
    .description(
      "remove the controller's finalizers, annotations and ConfigMaps, so that no Service hangs when it is deleted. Stop the controller first",
    )
    .addOption(kubeconfigFlag())
    .requiredOption("--keep-addresses", "leave load balancers, public IPs and security rules in Azure as they are")
    .option("--load-balancer-class <class>", "Services of this class (default: those without a class)")
    .action(run);
}

async function run({ kubeconfig, loadBalancerClass }: UninstallFlags): Promise<void> {
  const [{ uninstall }, { openKubeClient }, { realClock }, { VERSION }] = await Promise.all([
    import("../main/uninstall.ts"),
    import("../main/kube-access.ts"),
    import("../main/real-clock.ts"),
    import("../main/version.ts"),
  ]);
  const { client, close } = openKubeClient({ kubeconfig, userAgent: `azlb/${VERSION}` });
  try {
    process.stdout.write(await uninstall({ client, classFilter: loadBalancerClass, nowMs: realClock.nowMs() }));
  } finally {
    await close();
  }
}
