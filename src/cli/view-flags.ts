/** The flags that `azlb plan` and `azlb explain` share with the controller. */
import type { Command } from "commander";

import type { ViewOptions } from "../main/cluster-view.ts";
import { brakeLimits, withBrakeFlags, type BrakeFlags } from "./brake-flags.ts";
import { type ClusterFlags, withClusterFlags } from "./cluster-flags.ts";
import { parseFlagDurationMs } from "./flag-values.ts";
import { cloudConfigSource, type CloudConfigFlags } from "./cloud-config-flags.ts";

export interface ViewFlags extends CloudConfigFlags, BrakeFlags, ClusterFlags {
  readonly clusterName: string;
  readonly loadBalancerClass?: string;
  readonly timeout: string;
}

export function withViewFlags(command: Command): Command {
  return withClusterFlags(withBrakeFlags(command))
    .option("--cluster-name <name>", "prefix of resource names in Azure", "kubernetes")
    .option("--load-balancer-class <class>", "Services of this class (default: those without a class)")
    .option("--timeout <duration>", "give up after this time; 0: never", "5m");
}

export function viewOptions(flags: ViewFlags): Omit<ViewOptions, "log"> {
  return {
    kubeconfig: flags.kubeconfig,
    context: flags.context,
    cloudConfig: cloudConfigSource(flags),
    clusterName: flags.clusterName,
    loadBalancerClass: flags.loadBalancerClass,
    brakeLimits: brakeLimits(flags),
    timeoutMs: parseFlagDurationMs("--timeout", flags.timeout),
    env: process.env,
  };
}
