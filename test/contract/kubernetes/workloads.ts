/** Workloads as the API has them, without the controllers that make their pods: the scale subresource, evictions, columns. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../../support/kube-connection.ts";
import { type Api, accepted, at, type NamespacePaths, partly, refused } from "./api.ts";

const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const spec = { replicas: 2, selector: { matchLabels: labels }, template };

export function workloads(api: Api): void {
  const deployment = async (namespace: NamespacePaths): Promise<string> => {
    const deployments = namespace.group("apps/v1", "deployments");
    await api.create(deployments, { metadata: { name: "web" }, spec });
    return `${deployments}/web`;
  };

  test("scale is read, replaced and patched, and is a change of the spec", async () => {
    const path = await deployment(await api.namespace());
    const scale = await api.read(`${path}/scale`);
    partly(scale, {
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      metadata: { name: "web" },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: "app=web" },
    });
    partly(accepted(await api.put(`${path}/scale`, { ...scale, spec: { replicas: 3 } })), { spec: { replicas: 3 } });
    partly(accepted(await api.mergePatch(`${path}/scale`, { spec: { replicas: 4 } })), { spec: { replicas: 4 } });
    const changed = await api.read(path);
    partly(changed, { metadata: { generation: 3 }, spec: { replicas: 4 } });
    const owners = (changed.metadata["managedFields"] ?? []) as { subresource?: string; fieldsV1: unknown }[];
    const byScale = owners.filter(({ subresource }) => subresource === "scale");
    assert.deepEqual(
      byScale.map(({ fieldsV1 }) => fieldsV1),
      [{ "f:spec": { "f:replicas": {} } }],
    );
  });

  test("scale to less than none, with an old version, or of nothing is refused", async () => {
    const path = await deployment(await api.namespace());
    const scale = await api.read(`${path}/scale`);
    refused(await api.mergePatch(`${path}/scale`, { spec: { replicas: -1 } }), { code: 422, reason: "Invalid" });
    accepted(await api.mergePatch(`${path}/scale`, { spec: { replicas: 3 } }));
    refused(await api.put(`${path}/scale`, { ...scale, spec: { replicas: 1 } }), { code: 409, reason: "Conflict" });
    refused(await api.get(`${path}x/scale`), { code: 404, reason: "NotFound" });
  });

  test("an eviction deletes a pod that no budget selects", async () => {
    const namespace = await api.namespace();
    await api.create(namespace.in("pods"), { metadata: { name: "web" }, spec: template.spec });
    const eviction = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "web", namespace: namespace.name },
    };
    partly(accepted(await api.post(namespace.in("pods", "web", "eviction"), eviction), 201), { status: "Success" });
    refused(await api.get(namespace.in("pods", "web")), { code: 404, reason: "NotFound" });
    refused(await api.post(namespace.in("pods", "web", "eviction"), eviction), { code: 404, reason: "NotFound" });
  });

  test("an eviction that a budget does not allow is refused with 429", async () => {
    const namespace = await api.namespace();
    await api.create(namespace.in("pods"), { metadata: { name: "web", labels }, spec: template.spec });
    const running = { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } };
    accepted(await api.mergePatch(namespace.in("pods", "web", "status"), running));
    const budgets = namespace.group("policy/v1", "poddisruptionbudgets");
    await api.create(budgets, {
      metadata: { name: "web" },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    });
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    };
    accepted(await api.mergePatch(`${budgets}/web/status`, { status }));
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "web" } };
    const path = namespace.in("pods", "web", "eviction");
    const reply = await api.post(path, eviction);
    refused(reply, { code: 429, reason: "TooManyRequests" });
    partly(at(reply.body, "details.causes"), [{ reason: "DisruptionBudget" }]);
    accepted(await api.mergePatch(`${budgets}/web/status`, { status: { disruptionsAllowed: 1 } }));
    accepted(await api.post(path, eviction), 201);
    partly(await api.read(`${budgets}/web`), { status: { disruptionsAllowed: 0 } });
  });

  test("a Deployment's rows", async () => {
    const path = await deployment(await api.namespace());
    const table = accepted(await api.get(path, TABLE)) as KubeObject & { rows: { cells: unknown[] }[] };
    const cells = table.rows[0]?.cells ?? [];
    assert.deepEqual(cells.slice(0, 4), ["web", "0/2", 0, 0]);
    assert.deepEqual(cells.slice(5), ["web", "web:1", "app=web"]);
  });

  test("a pod's priority is that of its class, and a class that is not there is refused", async () => {
    const namespace = await api.namespace();
    const pods = namespace.in("pods");
    const pod = { ...template.spec, priorityClassName: "system-cluster-critical" };
    partly(await api.create(pods, { metadata: { name: "web" }, spec: pod }), { spec: { priority: 2_000_000_000 } });
    const odd = { metadata: { name: "odd" }, spec: { ...template.spec, priorityClassName: "nowhere" } };
    refused(await api.post(pods, odd), { code: 403, reason: "Forbidden" });
  });
}
