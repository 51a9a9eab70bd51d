/** A real kube-apiserver and etcd as a suite's cluster; no controllers run on it. */
import type { Cluster } from "./cluster.ts";
import { type ControlPlaneOptions, startControlPlane } from "./control-plane.ts";
import { connect } from "./kube-connection.ts";

export function openRealCluster(): Promise<Cluster> {
  return open({});
}

/** The same, where Services may have both families. */
export function openDualStackRealCluster(): Promise<Cluster> {
  return open({ dualStack: true });
}

/** The same, with MutatingAdmissionPolicies, which Kubernetes has by default from 1.36 on. */
export function openMutatingRealCluster(): Promise<Cluster> {
  return open({ features: ["MutatingAdmissionPolicy"] });
}

async function open(options: ControlPlaneOptions): Promise<Cluster> {
  const plane = await startControlPlane(options);
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
