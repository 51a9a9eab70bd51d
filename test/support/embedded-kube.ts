/** An embedded API server and a client of it, for all tests of the file that asks; both end with the last of them. */
import { after } from "node:test";

import { startKubernetes } from "../../sandbox/kubernetes/index.ts";
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";

export interface EmbeddedKube {
  readonly client: KubeClient;
  readonly controlUrl: string;
}

export async function embeddedKube(): Promise<EmbeddedKube> {
  const kubernetes = await startKubernetes();
  const access = openKubeClient({ kubeconfig: kubernetes.kubeconfig, userAgent: "test" });
  after(async () => {
    await access.close();
    await kubernetes.close();
  });
  return { client: access.client, controlUrl: kubernetes.controlUrl };
}
