/**
 * `helm install` and `helm upgrade` of the chart, with Helm 3, on the embedded server and on a real kube-apiserver: what is
 * stored is the same, `managedFields` included, but for identities, versions, times and the spelling of quantities.
 */
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";

import type { Cluster } from "../support/cluster.ts";
import { openEmbeddedCluster } from "../support/embedded-cluster.ts";
import { CHART, helm } from "../support/helm.ts";
import type { KubeObject } from "../support/kube-connection.ts";
import { openRealCluster } from "../support/real-cluster.ts";

/** Every kind that the chart has. */
const COLLECTIONS = [
  "/api/v1/namespaces/kube-system/serviceaccounts",
  "/api/v1/namespaces/kube-system/configmaps",
  "/api/v1/namespaces/kube-system/services",
  "/apis/apps/v1/namespaces/kube-system/deployments",
  "/apis/apps/v1/namespaces/kube-system/daemonsets",
  "/apis/policy/v1/namespaces/kube-system/poddisruptionbudgets",
  "/apis/networking.k8s.io/v1/namespaces/kube-system/networkpolicies",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles",
  "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
];

suite("helm 3", () => {
  let embedded: Cluster;
  let real: Cluster;
  before(async () => {
    [embedded, real] = await Promise.all([openEmbeddedCluster(), openRealCluster()]);
  });
  after(() => Promise.all([embedded.close(), real.close()]));

  const onBoth = async (verb: string, ...values: readonly string[]): Promise<void> => {
    for (const { kubeconfig } of [embedded, real]) {
      const flags = ["--namespace", "kube-system", "--kubeconfig", kubeconfig];
      await helm(verb, "azlb", CHART, "--set", "clusterName=kubernetes", ...values, ...flags);
    }
  };
  const compared = async (): Promise<void> => {
    const [ours, theirs] = await Promise.all([stored(embedded), stored(real)]);
    assert.deepEqual([...ours.keys()], [...theirs.keys()]);
    assert.ok(theirs.size > 5, `${theirs.size} objects are installed`);
    for (const [name, object] of theirs) assert.deepEqual(spelled(ours.get(name)), spelled(object), name);
  };

  test("install leaves the same objects with the same owners of fields", async () => {
    await onBoth("install");
    await compared();
  });

  test("upgrade does, too", async () => {
    await onBoth("upgrade", "--set", "replicas=3");
    await compared();
  });
});

/** What Helm installed, by kind and name. */
async function stored(cluster: Cluster): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const path of COLLECTIONS) {
    const { body } = await cluster.request("GET", path);
    for (const item of body["items"] as KubeObject[]) {
      const isOurs =
        (item.metadata["annotations"] as Record<string, string> | undefined)?.["meta.helm.sh/release-name"] === "azlb";
      if (isOurs || path.endsWith("customresourcedefinitions"))
        found.set(`${path}/${item.metadata.name}`, comparable(item));
    }
  }
  return found;
}

function comparable({ metadata, status: _status, ...rest }: KubeObject): unknown {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, managedFields, ...kept } = metadata;
  const entries = (managedFields as { manager: string; operation: string; time?: string }[]).map(
    ({ time: _when, ...entry }) => entry,
  );
  const order = (entry: { manager: string; operation: string }): string => JSON.stringify(entry);
  return {
    ...rest,
    metadata: { ...kept, managedFields: entries.toSorted((left, right) => (order(left) < order(right) ? -1 : 1)) },
  };
}

/** kube-apiserver writes `1024Mi` as `1Gi`; the embedded server keeps it as it was sent. */
function spelled(object: unknown): unknown {
  return JSON.parse(JSON.stringify(object).replaceAll('"1024Mi"', '"1Gi"')) as unknown;
}
