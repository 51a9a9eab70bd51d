/** Opens a client for the cluster that flags and environment name, over real connections. */
import { homedir } from "node:os";

import type { ClusterAccess } from "../kube/client/cluster-access.ts";
import { findCluster } from "../kube/client/find-cluster.ts";
import { HttpTransport } from "../kube/client/http-transport.ts";
import { KubeClient, type RequestSample } from "../kube/client/kube-client.ts";
import { ReadOnlyTransport } from "../kube/client/read-only-transport.ts";
import { LiveCredentials } from "../kube/client/live-credentials.ts";
import { realClock } from "./real-clock.ts";

/** Which cluster a command is about. */
export interface ClusterChoice {
  /** The file of `--kubeconfig`; by default `KUBECONFIG`, the in-cluster config, or `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  /** By default the current one of the kubeconfig. */
  readonly context?: string | undefined;
}

export interface KubeAccessOptions extends ClusterChoice {
  readonly userAgent: string;
  readonly onRequest?: (sample: RequestSample) => void;
  /** Writes fail before they leave. */
  readonly readOnly?: boolean;
}

export interface KubeAccess {
  readonly client: KubeClient;
  readonly close: () => Promise<void>;
}

export function openKubeClient({ kubeconfig, context, readOnly = false, ...options }: KubeAccessOptions): KubeAccess {
  const access = find({ kubeconfig, context });
  const http = new HttpTransport(new LiveCredentials(access, realClock));
  const transport = readOnly ? new ReadOnlyTransport(http) : http;
  return {
    client: new KubeClient({ transport, clock: realClock, ...options }),
    close: () => transport.close(),
  };
}

/** The namespace that commands mean where none is named. */
export function contextNamespace(choice: ClusterChoice): string {
  return find(choice).namespace;
}

function find({ kubeconfig, context }: ClusterChoice): ClusterAccess {
  return findCluster({ kubeconfig, context, env: process.env, homeDir: homedir() });
}
