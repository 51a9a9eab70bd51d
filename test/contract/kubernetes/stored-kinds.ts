/** Kinds of which the controllers need no more than that they are stored: what a chart installs. */
import { test } from "node:test";

import { type Api, accepted, partly, refused } from "./api.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

export function storedKinds(api: Api): void {
  test("a ClusterRole is of the cluster, and its name may have colons", async () => {
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
    const metadata = { generateName: "contract:reader-" };
    const made = await api.create(`${RBAC}/clusterroles`, { metadata, rules });
    partly(await api.read(`${RBAC}/clusterroles/${made.metadata.name}`), { kind: "ClusterRole", rules });
  });

  test("a field that its kind does not have is refused where the client asks for that", async () => {
    const namespace = await api.namespace();
    const path = `${namespace.group("policy/v1", "poddisruptionbudgets")}?fieldValidation=Strict`;
    const spec = { minAvailable: 1, selector: { matchLabels: { app: "web" } } };
    refused(await api.post(path, { metadata: { name: "web" }, spec: { ...spec, most: 1 } }), {
      code: 400,
      reason: "BadRequest",
    });
    partly(accepted(await api.post(path, { metadata: { name: "web" }, spec }), 201), { spec });
  });

  test("a Deployment's generation follows its spec, not its labels or status", async () => {
    const namespace = await api.namespace();
    const labels = { app: "web" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
    const deployments = namespace.group("apps/v1", "deployments");
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    partly(await api.create(deployments, { metadata: { name: "web" }, spec }), { metadata: { generation: 1 } });
    const path = `${deployments}/web`;
    partly(accepted(await api.mergePatch(path, { metadata: { labels } })), { metadata: { generation: 1 } });
    const containers = [{ name: "web", image: "web:2" }];
    partly(accepted(await api.strategicPatch(path, { spec: { template: { spec: { containers } } } })), {
      metadata: { generation: 2 },
      spec: { template: { spec: { containers } } },
    });
    const status = { replicas: 2, observedGeneration: 2 };
    partly(accepted(await api.mergePatch(`${path}/status`, { status })), { metadata: { generation: 2 }, status });
  });
}
