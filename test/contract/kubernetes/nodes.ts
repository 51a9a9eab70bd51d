/** Nodes: the taint they start with, what may change and what may not. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../../support/kube-connection.ts";
import { type Api, accepted, at, names, partly, refused } from "./api.ts";

const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

export function nodes(api: Api): void {
  test("a new Node gets the not-ready taint, besides its own", async () => {
    const own = { key: "azlb.io/own", effect: "NoExecute" };
    const { made } = await node(api, { taints: [own] });
    partly(at(made, "spec.taints"), [own, NOT_READY]);
    assert.equal(made.metadata.generation, undefined);
  });

  test("providerID is set once", async () => {
    const { path } = await node(api);
    accepted(await api.mergePatch(path, { spec: { providerID: "azure:///one" } }));
    refused(await api.mergePatch(path, { spec: { providerID: "azure:///two" } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueForbidden spec.providerID"],
    });
  });

  test("taints are unique by key and effect, and their effect is known", async () => {
    const { path } = await node(api);
    const taint = { key: "a", value: "1", effect: "NoSchedule" };
    refused(await api.mergePatch(path, { spec: { taints: [taint, { ...taint, value: "2" }] } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueDuplicate metadata.taints[1]"],
    });
    refused(await api.mergePatch(path, { spec: { taints: [{ ...taint, effect: "NoLunch" }] } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueNotSupported metadata.taints[0].effect"],
    });
    accepted(await api.mergePatch(path, { spec: { taints: [taint, { ...taint, effect: "NoExecute" }] } }));
    assert.equal(at(accepted(await api.mergePatch(path, { spec: { taints: [] } })), "spec.taints"), undefined);
  });

  test("a NoExecute taint is stored with the moment that it was added", async () => {
    const { path } = await node(api);
    const taints = [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }];
    const patched = accepted(await api.mergePatch(path, { spec: { taints } }));
    partly(at(patched, "spec.taints"), taints);
    const added = "2026-01-01T00:00:00Z";
    const dated = [{ ...taints[0], timeAdded: added }];
    assert.deepEqual(at(accepted(await api.mergePatch(path, { spec: { taints: dated } })), "spec.taints"), dated);
  });

  test("cordoned Nodes are found by field", async () => {
    const { made } = await node(api, { unschedulable: true });
    const cordoned = names(await api.read("/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue"));
    assert.ok(cordoned.includes(String(made.metadata.name)));
    const open = names(await api.read("/api/v1/nodes?fieldSelector=spec.unschedulable%3Dfalse"));
    assert.ok(!open.includes(String(made.metadata.name)));
  });

  test("addresses of one type are kept in order", async () => {
    const { path } = await node(api);
    const addresses = [
      { type: "InternalIP", address: "10.0.0.4" },
      { type: "InternalIP", address: "fd00::4" },
      { type: "Hostname", address: "n" },
    ];
    const patched = accepted(await api.mergePatch(`${path}/status`, { status: { addresses } }));
    assert.deepEqual(at(patched, "status.addresses"), addresses);
  });
}

async function node(api: Api, spec: object = {}): Promise<{ path: string; made: KubeObject }> {
  const made = await api.create("/api/v1/nodes", { metadata: { generateName: "node-" }, spec });
  return { path: `/api/v1/nodes/${made.metadata.name}`, made };
}
