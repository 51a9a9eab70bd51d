/**
 * The clusters that a suite can run on. A suite is a function of a name and an opener,
 *
 *   export function kubernetesContract(name: string, open: ClusterOpener): void { describe(...) }
 *
 * and two files of one line say where: `<suite>.test.ts` calls it with openEmbeddedCluster (part of `npm test`),
 * `test/e2e/<suite>.e2e.ts` with openRealCluster (part of `npm run e2e`).
 */
import { startControlPlane } from "./control-plane.ts";
import { type KubeConnection, connect } from "./kube-connection.ts";

export interface Cluster extends KubeConnection {
  /** Path of a kubeconfig with full rights. */
  readonly kubeconfig: string;
  /** Forgets history: versions and continue tokens handed out so far are expired from now on. */
  compact(): Promise<void>;
}

export type ClusterOpener = () => Promise<Cluster>;

/** etcd and kube-apiserver, without controllers. */
export async function openRealCluster(): Promise<Cluster> {
  const plane = await startControlPlane();
  const connection = connect(plane.kubeconfig);
  return {
    ...connection,
    kubeconfig: plane.kubeconfig,
    compact: async () => {
      const { metadata } = (await connection.request("GET", "/api/v1/namespaces?limit=1")).body;
      const body = JSON.stringify({ revision: metadata.resourceVersion, physical: true });
      const reply = await fetch(`${plane.etcdUrl}/v3/kv/compaction`, { method: "POST", body });
      if (!reply.ok) throw new Error(`etcd did not compact: ${await reply.text()}`);
    },
    close: async () => {
      await connection.close();
      await plane.close();
    },
  };
}
