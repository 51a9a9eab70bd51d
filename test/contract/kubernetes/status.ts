/** Spec and status are written by different requests: which of them writes what. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { type Api, accepted, at, partly, refused } from "./api.ts";
import { defineWidgets, widget, widgetsIn } from "./widgets.ts";

const INGRESS = { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } };

export function status(api: Api): void {
  test("status is ignored in POST, PUT and PATCH of the object itself", async () => {
    const ns = await api.namespace();
    const path = ns.in("services", "a");
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
    const made = await api.create(ns.in("services"), { metadata: { name: "a" }, spec, status: INGRESS });
    assert.deepEqual(made["status"], { loadBalancer: {} });
    assert.deepEqual(accepted(await api.put(path, { ...made, status: INGRESS }))["status"], { loadBalancer: {} });
    const patched = accepted(await api.mergePatch(path, { status: INGRESS }));
    assert.deepEqual(patched["status"], { loadBalancer: {} });
    assert.equal(patched.metadata.resourceVersion, made.metadata.resourceVersion);
  });

  test("a Service's status takes status and metadata, but no spec", async () => {
    const ns = await api.namespace();
    const path = ns.in("services", "a");
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
    const made = await api.create(ns.in("services"), { metadata: { name: "a" }, spec });
    const body = { metadata: { annotations: { x: "1" } }, spec: { sessionAffinity: "ClientIP" }, status: INGRESS };
    const patched = accepted(await api.mergePatch(`${path}/status`, body));
    assert.deepEqual(patched["spec"], made["spec"]);
    assert.deepEqual(patched.metadata["annotations"], { x: "1" });
    assert.deepEqual(at(patched, "status.loadBalancer.ingress"), [{ ip: "1.2.3.4", ipMode: "VIP" }]);
    assert.deepEqual(await api.read(`${path}/status`), patched);
    assert.deepEqual(await api.read(path), patched);
  });

  test("PUT of a status takes a whole object and guards with its resourceVersion", async () => {
    const ns = await api.namespace();
    const path = ns.in("services", "a");
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
    const made = await api.create(ns.in("services"), { metadata: { name: "a" }, spec });
    accepted(await api.put(`${path}/status`, { ...made, status: INGRESS }));
    refused(await api.put(`${path}/status`, { ...made, status: {} }), { code: 409, reason: "Conflict" });
    partly(await api.read(path), { status: INGRESS });
  });

  test("a Node's status takes conditions; its spec stays through that executor", async () => {
    const { metadata } = await api.create("/api/v1/nodes", {
      metadata: { generateName: "status-" },
      spec: { unschedulable: true },
      status: { nodeInfo: { kubeletVersion: "v1" } },
    });
    const path = `/api/v1/nodes/${metadata.name}`;
    const body = { spec: { unschedulable: null }, status: { conditions: [{ type: "Ready", status: "True" }] } };
    const patched = accepted(await api.strategicPatch(`${path}/status`, body));
    partly(patched, { spec: { unschedulable: true }, status: { conditions: [{ type: "Ready", status: "True" }] } });
    accepted(await api.strategicPatch(path, { status: { conditions: [{ type: "Ready", status: "False" }] } }));
    partly(await api.read(path), { status: { conditions: [{ type: "Ready", status: "True" }] } });
  });

  test("a custom resource's status takes nothing but status, and leaves the generation", async () => {
    await defineWidgets(api);
    const ns = await api.namespace();
    const { collection, path } = widgetsIn(ns, "a");
    await api.create(collection, { ...widget("a", { size: 3 }), status: { phase: "Sneaked" } });
    assert.equal((await api.read(path))["status"], undefined);
    const body = {
      metadata: { labels: { x: "1" }, finalizers: ["azlb.io/sneaked"] },
      spec: { size: 9 },
      status: { phase: "Ready" },
    };
    const patched = accepted(await api.mergePatch(`${path}/status`, body));
    partly(patched, { spec: { size: 3 }, status: { phase: "Ready" }, metadata: { generation: 1 } });
    assert.equal(patched.metadata["labels"], undefined);
    assert.equal(patched.metadata.finalizers, undefined);
    const put = await api.read(path);
    accepted(await api.put(path, { ...put, status: { phase: "Other" } }));
    partly(await api.read(path), { status: { phase: "Ready" } });
  });
}
