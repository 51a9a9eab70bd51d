/** `--kubeconfig`, as every command that talks to a cluster has it. */
import { Option } from "commander";

export function kubeconfigFlag(): Option {
  const where = "kubeconfig of the cluster (default: KUBECONFIG, the in-cluster config, or ~/.kube/config)";
  return new Option("--kubeconfig <file>", where);
}
