/** Opens a client for the cluster that flags and environment name, over real connections. */
import { homedir } from "node:os";

import { findCluster } from "../kube/client/find-cluster.ts";
import { HttpTransport } from "../kube/client/http-transport.ts";
import { KubeClient, type RequestSample } from "../kube/client/kube-client.ts";
import { ReadOnlyTransport } from "../kube/client/read-only-transport.ts";
import { LiveCredentials } from "../kube/client/live-credentials.ts";
import { realClock } from "./real-clock.ts";

export interface KubeAccessOptions {
  /** The file of `--kubeconfig`; by default `KUBECONFIG`, the in-cluster config, or `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  readonly userAgent: string;
  readonly onRequest?: (sample: RequestSample) => void;
  /** Writes fail before they leave. */
  readonly readOnly?: boolean;
}

export interface KubeAccess {
  readonly client: KubeClient;
  readonly close: () => Promise<void>;
}

export function openKubeClient({ kubeconfig, readOnly = false, ...options }: KubeAccessOptions): KubeAccess {
  const access = findCluster({ kubeconfig, env: process.env, homeDir: homedir() });
  const http = new HttpTransport(new LiveCredentials(access, realClock));
  const transport = readOnly ? new ReadOnlyTransport(http) : http;
  return {
    client: new KubeClient({ transport, clock: realClock, ...options }),
    close: () => transport.close(),
  };
}
