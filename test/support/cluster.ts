/**
 * A cluster that a suite runs on. A suite is a function of a name and an opener,
 *
 *   export function kubernetesContract(name: string, open: ClusterOpener): void { describe(...) }
 *
 * and two files of one call each say where it runs:
 *
 *   `<suite>/embedded.test.ts`   with openEmbeddedCluster (embedded-cluster.ts)   part of `npm test`
 *   `test/e2e/<suite>.e2e.ts`    with openRealCluster (real-cluster.ts)           part of `npm run e2e`
 */
import type { KubeConnection } from "./kube-connection.ts";

export interface Cluster extends KubeConnection {
  /** Path of a kubeconfig with full rights. */
  readonly kubeconfig: string;
  /** Forgets history: versions and continue tokens handed out so far are expired from now on, or seconds later. */
  compact(): Promise<void>;
}

export type ClusterOpener = () => Promise<Cluster>;
