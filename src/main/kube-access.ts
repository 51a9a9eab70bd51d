/** Opens a client for the cluster that flags and environment name, over real connections. */
import { homedir } from "node:os";

import { findCluster } from "../kube/client/find-cluster.ts";
import { HttpTransport } from "../kube/client/http-transport.ts";
import { KubeClient, type RequestSample } from "../kube/client/kube-client.ts";
import { LiveCredentials } from "../kube/client/live-credentials.ts";
import { realClock } from "./real-clock.ts";

export interface KubeAccessOptions {
  /** The file of `--kubeconfig`; by default `KUBECONFIG`, the in-cluster config, or `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  readonly userAgent: string;
  readonly onRequest?: (sample: RequestSample) => void;
}

export interface KubeAccess {
  readonly client: KubeClient;
  readonly close: () => Promise<void>;
}

export function openKubeClient({ kubeconfig, ...options }: KubeAccessOptions): KubeAccess {
  const access = findCluster({ kubeconfig, env: process.env, homeDir: homedir() });
  const transport = new HttpTransport(new LiveCredentials(access, realClock));
  return {
    client: new KubeClient({ transport, clock: realClock, ...options }),
    close: () => transport.close(),
  };
}
