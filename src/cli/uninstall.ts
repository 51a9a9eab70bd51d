/** `azlb uninstall`: takes the controller out of a cluster; what is in Azure stays as it is, or goes. */
import type { Command } from "commander";

import { cloudConfigSource, type CloudConfigFlags, withCloudConfigFlags } from "./cloud-config-flags.ts";
import { type ClusterFlags, withClusterFlags } from "./cluster-flags.ts";
import { InputError } from "./input-error.ts";

interface UninstallFlags extends CloudConfigFlags, ClusterFlags {
  readonly keepAddresses?: boolean;
  readonly remove?: boolean;
  readonly dryRun?: boolean;
  readonly ignoreLease?: boolean;
  readonly clusterName: string;
  readonly loadBalancerClass?: string;
  readonly leaderElectResourceName: string;
  readonly leaderElectResourceNamespace: string;
}

export function registerUninstall(azlb: Command): void {
  const command = azlb
    .command("uninstall")
    .description(
      "remove the controller's finalizers, annotations and ConfigMaps, so that no Service hangs when it is deleted. Stop the controller first",
    )
    .option("--keep-addresses", "leave load balancers, public IPs and security rules in Azure as they are")
    .option("--remove", "remove from Azure everything that the controller made there for Services of this cluster")
    .option("--dry-run", "with --remove: print what would be removed, and write nothing")
    .option("--ignore-lease", "also while a controller holds its Lease: it may write everything anew")
    .option("--cluster-name <name>", "with --remove: prefix of resource names in Azure", "kubernetes")
    .option("--load-balancer-class <class>", "Services of this class (default: those without a class)")
    .option("--leader-elect-resource-name <name>", "name of the controller's Lease", "azlb-controller")
    .option("--leader-elect-resource-namespace <namespace>", "namespace of the controller's Lease", "kube-system");
  withCloudConfigFlags(withClusterFlags(command)).action(run);
}

async function run(flags: UninstallFlags): Promise<void> {
  if ((flags.keepAddresses === true) === (flags.remove === true))
    throw new InputError("say what becomes of the addresses: either --keep-addresses or --remove");
  if (flags.remove === true) return remove(flags);
  const { kubeconfig, context } = flags;
  const [{ uninstallKeeping }, { openKubeClient }, options] = await Promise.all([
    import("../main/uninstall.ts"),
    import("../main/kube-access.ts"),
    commonOptions(flags),
  ]);
  const { client, close } = openKubeClient({ kubeconfig, context, userAgent: options.userAgent });
  try {
    process.stdout.write((await uninstallKeeping({ ...options, client })).text);
  } finally {
    await close();
  }
}

async function remove(flags: UninstallFlags): Promise<void> {
  const [{ planRemoval, removeCluster }, { commandLog }, options] = await Promise.all([
    import("../main/remove-cluster.ts"),
    import("../main/stderr-log.ts"),
    commonOptions(flags),
  ]);
  const { kubeconfig, context, clusterName, dryRun } = flags;
  const cloudConfig = cloudConfigSource(flags);
  const access = { kubeconfig, context, clusterName, cloudConfig, env: process.env, log: commandLog() };
  const { text, isDone } = await (dryRun === true ? planRemoval : removeCluster)({ ...options, ...access });
  process.stdout.write(text);
  if (!isDone) process.exitCode = 1;
}

async function commonOptions(flags: UninstallFlags) {
  const [{ realClock }, { VERSION }] = await Promise.all([
    import("../main/real-clock.ts"),
    import("../main/version.ts"),
  ]);
  const { leaderElectResourceName: name, leaderElectResourceNamespace: namespace } = flags;
  return {
    classFilter: flags.loadBalancerClass,
    ignoresLease: flags.ignoreLease === true,
    lease: { namespace, name },
    clock: realClock,
    userAgent: `azlb/${VERSION}`,
  };
}
