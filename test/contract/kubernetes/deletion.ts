/** How objects go: at once, or held by finalizers; preconditions; what stays possible in between. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../../support/kube-connection.ts";
import { type Api, type NamespacePaths, accepted, at, names, partly, refused } from "./api.ts";

const GONE = { code: 404, reason: "NotFound" };
const FINALIZER = "azlb.io/held";

export function deletion(api: Api): void {
  test("without finalizers it is gone at once, and the reply says which uid", async () => {
    const { path, made } = await held(api, []);
    const reply = accepted(await api.delete(path));
    partly(reply, {
      kind: "Status",
      status: "Success",
      details: { name: "a", kind: "configmaps", uid: made.metadata.uid },
    });
    refused(await api.get(path), GONE);
  });

  test("a deleted Service is answered with the object itself", async () => {
    const ns = await api.namespace();
    const made = await api.create(ns.in("services"), { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
    const reply = accepted(await api.delete(ns.in("services", "a")));
    partly(reply, { kind: "Service", metadata: { name: "a", uid: made.metadata.uid } });
    refused(await api.get(ns.in("services", "a")), GONE);
  });

  test("with finalizers it stays, with deletionTimestamp, and further deletes change nothing", async () => {
    const { path } = await held(api);
    const reply = accepted(await api.delete(path, { propagationPolicy: "Background" }));
    partly(reply, { kind: "ConfigMap", metadata: { finalizers: [FINALIZER], deletionGracePeriodSeconds: 0 } });
    assert.match(String(reply.metadata.deletionTimestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const again = accepted(await api.delete(path));
    assert.deepEqual(again.metadata, reply.metadata);
    assert.deepEqual((await api.read(path)).metadata, reply.metadata);
  });

  test("while it goes, edits are taken, new finalizers are not, and deletionTimestamp stays", async () => {
    const { path } = await held(api);
    const { metadata } = accepted(await api.delete(path));
    const edited = accepted(await api.mergePatch(path, { data: { k: "w" }, metadata: { deletionTimestamp: null } }));
    assert.equal(at(edited, "data.k"), "w");
    assert.equal(edited.metadata.deletionTimestamp, metadata.deletionTimestamp);
    refused(await api.mergePatch(path, { metadata: { finalizers: [FINALIZER, "azlb.io/new"] } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueForbidden metadata.finalizers"],
    });
  });

  for (const verb of ["merge patch", "PUT", "strategic patch", "JSON patch"] as const) {
    test(`the last finalizer's removal by ${verb} answers the object and removes it`, async () => {
      const { path } = await held(api);
      const going = accepted(await api.delete(path));
      const reply = accepted(await removeFinalizer(api, verb, path, going));
      partly(reply, { metadata: { name: "a", uid: going.metadata.uid } });
      assert.equal(reply.metadata.finalizers, undefined);
      refused(await api.get(path), GONE);
    });
  }

  test("one finalizer of two removed: it stays", async () => {
    const { path } = await held(api, [FINALIZER, "azlb.io/other"]);
    accepted(await api.delete(path));
    accepted(await api.mergePatch(path, { metadata: { finalizers: ["azlb.io/other"] } }));
    assert.deepEqual((await api.read(path)).metadata.finalizers, ["azlb.io/other"]);
  });

  test("finalizers removed without a delete leave it in place", async () => {
    const { path } = await held(api);
    accepted(await api.mergePatch(path, { metadata: { finalizers: null } }));
    assert.equal((await api.read(path)).metadata.finalizers, undefined);
  });

  test("a finalizer of a built-in kind must be a qualified name", async () => {
    const ns = await api.namespace();
    refused(await api.post(ns.in("configmaps"), { metadata: { name: "a", finalizers: ["plain"] } }), {
      code: 422,
      reason: "Invalid",
    });
    refused(await api.post(ns.in("configmaps"), { metadata: { name: "a", finalizers: ["azlb.io/not a name"] } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid metadata.finalizers"],
    });
  });

  test("preconditions on uid and resourceVersion hold a delete back", async () => {
    const { path, made } = await held(api, []);
    const conflict = { code: 409, reason: "Conflict" };
    const other = "00000000-0000-4000-8000-000000000000";
    refused(await api.delete(path, { preconditions: { uid: other } }), conflict);
    accepted(await api.mergePatch(path, { data: { k: "newer" } }));
    refused(await api.delete(path, { preconditions: { resourceVersion: made.metadata.resourceVersion } }), conflict);
    assert.equal(at(await api.read(path), "data.k"), "newer");
    accepted(await api.delete(path, { preconditions: { uid: made.metadata.uid } }));
    refused(await api.get(path), GONE);
  });

  test("the same name again is another object", async () => {
    const { ns, path, made } = await held(api, []);
    accepted(await api.delete(path));
    const again = await api.create(ns.in("configmaps"), { metadata: { name: "a" } });
    assert.notEqual(again.metadata.uid, made.metadata.uid);
  });

  test("a collection can be deleted by label; what has a finalizer stays, marked", async () => {
    const ns = await api.namespace();
    const make = (name: string, metadata: object = {}): Promise<KubeObject> =>
      api.create(ns.in("configmaps"), { metadata: { name, labels: { go: "yes" }, ...metadata } });
    await make("a");
    await make("b", { finalizers: [FINALIZER] });
    await make("c", { labels: { go: "no" } });
    accepted(await api.delete(ns.in("configmaps?labelSelector=go%3Dyes")));
    assert.deepEqual(names(await api.read(ns.in("configmaps"))), ["b", "c"]);
    assert.ok((await api.read(ns.in("configmaps", "b"))).metadata.deletionTimestamp);
  });

  test("foreground and orphan deletion leave their finalizer for the garbage collector", async () => {
    const ns = await api.namespace();
    for (const [policy, finalizer] of [
      ["Foreground", "foregroundDeletion"],
      ["Orphan", "orphan"],
    ] as const) {
      const metadata = { generateName: "a-", finalizers: [FINALIZER] };
      const { metadata: made } = await api.create(ns.in("configmaps"), { metadata });
      const reply = accepted(await api.delete(ns.in("configmaps", String(made.name)), { propagationPolicy: policy }));
      assert.deepEqual(reply.metadata.finalizers?.toSorted(), [FINALIZER, finalizer].toSorted());
    }
  });

  test("a Pod on a node is given its grace; one without a node is gone at once", async () => {
    const ns = await api.namespace();
    const pod = (name: string, spec: object = {}): object => ({
      metadata: { name },
      spec: { containers: [{ name: "c", image: "i" }], ...spec },
    });
    await api.create(ns.in("pods"), pod("free"));
    partly(accepted(await api.delete(ns.in("pods", "free"))), { kind: "Pod", metadata: { name: "free" } });
    refused(await api.get(ns.in("pods", "free")), GONE);
    await api.create(ns.in("pods"), pod("bound", { nodeName: "somewhere" }));
    const going = accepted(await api.delete(ns.in("pods", "bound")));
    assert.equal(going.metadata["deletionGracePeriodSeconds"], 30);
    const inMs = Date.parse(String(going.metadata.deletionTimestamp)) - Date.now();
    assert.ok(inMs > 0 && inMs <= 31_000, `deletionTimestamp is ${inMs} ms from now`);
    accepted(await api.delete(ns.in("pods", "bound"), { gracePeriodSeconds: 0 }));
    refused(await api.get(ns.in("pods", "bound")), GONE);
  });

  test("nothing new is made in a namespace that goes", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("configmaps"), { metadata: { name: "stays", finalizers: [FINALIZER] } });
    accepted(await api.delete(`/api/v1/namespaces/${ns.name}`));
    partly(await api.read(`/api/v1/namespaces/${ns.name}`), { status: { phase: "Terminating" } });
    refused(await api.post(ns.in("configmaps"), { metadata: { name: "new" } }), {
      code: 403,
      reason: "Forbidden",
      causes: ["NamespaceTerminating metadata.namespace"],
    });
  });
}

type RemovalVerb = "merge patch" | "PUT" | "strategic patch" | "JSON patch";

function removeFinalizer(api: Api, verb: RemovalVerb, path: string, going: KubeObject): ReturnType<Api["get"]> {
  const { finalizers: _, ...metadata } = going.metadata;
  switch (verb) {
    case "merge patch":
      return api.mergePatch(path, { metadata: { finalizers: [] } });
    case "PUT":
      return api.put(path, { ...going, metadata });
    case "strategic patch":
      return api.strategicPatch(path, { metadata: { "$deleteFromPrimitiveList/finalizers": [FINALIZER] } });
    case "JSON patch":
      return api.jsonPatch(path, [{ op: "remove", path: "/metadata/finalizers" }]);
  }
}

async function held(
  api: Api,
  finalizers: readonly string[] = [FINALIZER],
): Promise<{ ns: NamespacePaths; path: string; made: KubeObject }> {
  const ns = await api.namespace();
  const made = await api.create(ns.in("configmaps"), { metadata: { name: "a", finalizers } });
  return { ns, path: ns.in("configmaps", "a"), made };
}
