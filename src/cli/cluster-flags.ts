/** Which cluster and namespace a command is about: `--kubeconfig`, `--context` and `-n`, as kubectl has them. */
import { Option, type Command } from "commander";

export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export function kubeconfigFlag(): Option {
  const where = "kubeconfig of the cluster (default: KUBECONFIG, the in-cluster config, or ~/.kube/config)";
  return new Option("--kubeconfig <file>", where);
}

/** For commands that people run; a controller or agent has one cluster, and takes `--kubeconfig` alone. */
export function withClusterFlags(command: Command): Command {
  return command
    .addOption(kubeconfigFlag())
    .option("--context <name>", "context of the kubeconfig (default: its current-context)");
}

export function namespaceFlag(what: string): Option {
  return new Option("-n, --namespace <namespace>", `${what} (default: that of the kubeconfig's context)`);
}

export function allNamespacesFlag(): Option {
  return new Option("-A, --all-namespaces", "Services of all namespaces, where no object is named").conflicts(
    "namespace",
  );
}

/** Read from the kubeconfig where the user names none; asks no server. */
export async function namespaceOf(flags: ClusterFlags & { readonly namespace?: string }): Promise<string> {
  if (flags.namespace !== undefined) return flags.namespace;
  const { contextNamespace } = await import("../main/kube-access.ts");
  return contextNamespace(flags);
}
