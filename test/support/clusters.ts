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
  /** Forgets history: versions and continue tokens handed out so far are expired from now on, or a few seconds later. */
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
      await compactEtcd(plane.etcdUrl, String(metadata.resourceVersion));
    },
    close: async () => {
      await connection.close();
      await plane.close();
    },
  };
}

/** As kube-apiserver does it every five minutes: it learns from the key, within 15 s, to drop its own snapshots. */
async function compactEtcd(etcdUrl: string, revision: string): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const steps = {
    put: { key: base64("compact_rev_key"), value: base64(revision) },
    compaction: { revision, physical: true },
  };
  for (const [step, body] of Object.entries(steps)) {
    const reply = await fetch(`${etcdUrl}/v3/kv/${step}`, { method: "POST", body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`etcd refused ${step}: ${await reply.text()}`);
  }
}
