/** The embedded Kubernetes API as a suite's cluster: in this process, single-stack, without a controller manager. */
import { startKubernetes, type RunningKubernetes } from "../../sandbox/kubernetes/index.ts";
import type { Cluster } from "./cluster.ts";
import { connect } from "./kube-connection.ts";

export function openEmbeddedCluster(): Promise<Cluster> {
  return open(false);
}

/** The same, where Services may have both families. */
export function openDualStackCluster(): Promise<Cluster> {
  return open(true);
}

async function open(dualStack: boolean): Promise<Cluster> {
  return clusterOf(await startKubernetes({ dualStack, controllers: false }));
}

/** Closing it closes the server. */
export function clusterOf(kubernetes: RunningKubernetes): Cluster {
  const connection = connect(kubernetes.kubeconfig);
  return {
    ...connection,
    kubeconfig: kubernetes.kubeconfig,
    compact: async () => kubernetes.api.compact(),
    close: async () => {
      await connection.close();
      await kubernetes.close();
    },
  };
}
