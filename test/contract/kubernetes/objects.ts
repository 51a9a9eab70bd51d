/** What every object gets from the server: identity, versions, names, and what a write may and may not do. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { type Api, accepted, at, partly, refused } from "./api.ts";

const CONFLICT = { code: 409, reason: "Conflict" };

export function objects(api: Api): void {
  test("a new object gets uid, creationTimestamp, resourceVersion and managedFields", async () => {
    const ns = await api.namespace();
    const made = await api.create(ns.in("configmaps"), configMap("a", { k: "v" }));
    partly(made, {
      kind: "ConfigMap",
      apiVersion: "v1",
      data: { k: "v" },
      metadata: { name: "a", namespace: ns.name },
    });
    assert.match(String(made.metadata.uid), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(String(made.metadata.resourceVersion), /^[1-9][0-9]*$/);
    assert.match(String(made.metadata["creationTimestamp"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(await api.read(ns.in("configmaps", "a")), made);
  });

  test("what a client says of uid and creationTimestamp is not taken", async () => {
    const ns = await api.namespace();
    const claimed = { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z" };
    const { metadata } = await api.create(ns.in("configmaps"), { metadata: { name: "a", ...claimed } });
    assert.notEqual(metadata.uid, claimed.uid);
    assert.notEqual(metadata["creationTimestamp"], claimed.creationTimestamp);
  });

  test("resourceVersion is one rising counter for all kinds", async () => {
    const ns = await api.namespace();
    const first = await api.create(ns.in("configmaps"), configMap("a"));
    const second = await api.create(ns.in("secrets"), { metadata: { name: "a" } });
    const third = accepted(await api.mergePatch(ns.in("configmaps", "a"), { data: { k: "v" } }));
    const versions = [first, second, third].map((object) => Number(object.metadata.resourceVersion));
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(versions).size, 3);
  });

  test("generateName adds five characters and leaves the prefix in place", async () => {
    const ns = await api.namespace();
    const made = await api.create(ns.in("configmaps"), { metadata: { generateName: "set-" } });
    assert.match(String(made.metadata.name), /^set-[a-z0-9]{5}$/);
    assert.equal(made.metadata["generateName"], "set-");
  });

  test("neither name nor generateName is refused", async () => {
    const ns = await api.namespace();
    refused(await api.post(ns.in("configmaps"), { metadata: {} }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueRequired metadata.name"],
      details: { kind: "ConfigMap" },
    });
  });

  test("a name that is no DNS subdomain is refused", async () => {
    const ns = await api.namespace();
    refused(await api.post(ns.in("configmaps"), configMap("Not_A_Name")), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid metadata.name"],
      details: { kind: "ConfigMap", name: "Not_A_Name" },
    });
  });

  test("a label value that is no label value is refused", async () => {
    const ns = await api.namespace();
    const labels = { "a/b/c": "x", ok: "not ok" };
    refused(await api.post(ns.in("configmaps"), { metadata: { name: "a", labels } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid metadata.labels"],
    });
  });

  test("the same name twice is AlreadyExists", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("configmaps"), configMap("a"));
    refused(await api.post(ns.in("configmaps"), configMap("a")), {
      code: 409,
      reason: "AlreadyExists",
      details: { name: "a", kind: "configmaps" },
    });
  });

  test("what is not there is NotFound, in every verb", async () => {
    const ns = await api.namespace();
    const missing = { code: 404, reason: "NotFound", details: { name: "a", kind: "configmaps" } };
    const path = ns.in("configmaps", "a");
    refused(await api.get(path), missing);
    refused(await api.put(path, configMap("a", {}, { resourceVersion: "1" })), missing);
    refused(await api.mergePatch(path, {}), missing);
    refused(await api.strategicPatch(path, {}), missing);
    refused(await api.delete(path), missing);
  });

  test("a namespace that is not there is NotFound", async () => {
    refused(await api.post("/api/v1/namespaces/nowhere/configmaps", configMap("a")), {
      code: 404,
      reason: "NotFound",
      details: { name: "nowhere", kind: "namespaces" },
    });
    assert.deepEqual((await api.read("/api/v1/namespaces/nowhere/configmaps"))["items"], []);
  });

  test("a body of another name, namespace or kind than the path is BadRequest", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("configmaps"), configMap("a"));
    const bad = { code: 400, reason: "BadRequest" };
    refused(await api.put(ns.in("configmaps", "a"), configMap("b")), bad);
    refused(await api.put(ns.in("configmaps", "a"), configMap("a", {}, { namespace: "default" })), bad);
    refused(await api.post(ns.in("configmaps"), { apiVersion: "v1", kind: "Secret", metadata: { name: "c" } }), bad);
    refused(await api.post(ns.in("configmaps"), "{"), bad);
  });

  test("POST must not carry a resourceVersion", async () => {
    const ns = await api.namespace();
    const reply = await api.post(ns.in("configmaps"), configMap("a", {}, { resourceVersion: "1" }));
    assert.equal(reply.code, 500, reply.text);
  });

  test("PUT replaces: labels and fields that it leaves out are gone", async () => {
    const ns = await api.namespace();
    const path = ns.in("configmaps", "a");
    const made = await api.create(ns.in("configmaps"), configMap("a", { k: "v" }, { labels: { x: "1" } }));
    const put = accepted(
      await api.put(path, configMap("a", { l: "w" }, { resourceVersion: made.metadata.resourceVersion })),
    );
    assert.deepEqual(put["data"], { l: "w" });
    assert.equal(put.metadata["labels"], undefined);
    assert.equal(put.metadata.uid, made.metadata.uid);
    assert.equal(put.metadata["creationTimestamp"], made.metadata["creationTimestamp"]);
  });

  test("PUT with a stale resourceVersion is a Conflict and changes nothing", async () => {
    const ns = await api.namespace();
    const path = ns.in("configmaps", "a");
    const made = await api.create(ns.in("configmaps"), configMap("a", { k: "1" }));
    const newer = accepted(await api.mergePatch(path, { data: { k: "2" } }));
    const stale = configMap("a", { k: "3" }, { resourceVersion: made.metadata.resourceVersion });
    refused(await api.put(path, stale), { ...CONFLICT, details: { name: "a", kind: "configmaps" } });
    assert.deepEqual(await api.read(path), newer);
  });

  test("PUT without resourceVersion overwrites ConfigMap, Secret, Service and Node", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("configmaps"), configMap("a", { k: "1" }));
    accepted(await api.mergePatch(ns.in("configmaps", "a"), { data: { k: "2" } }));
    assert.deepEqual(accepted(await api.put(ns.in("configmaps", "a"), configMap("a", { k: "3" })))["data"], { k: "3" });
    await api.create(ns.in("secrets"), { metadata: { name: "a" }, stringData: { k: "1" } });
    accepted(await api.put(ns.in("secrets", "a"), { metadata: { name: "a" }, stringData: { k: "2" } }));
    await api.create(ns.in("services"), { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
    accepted(await api.put(ns.in("services", "a"), { metadata: { name: "a" }, spec: { ports: [{ port: 81 }] } }));
    const node = `${ns.name}-node`;
    await api.create("/api/v1/nodes", { metadata: { name: node } });
    accepted(await api.put(`/api/v1/nodes/${node}`, { metadata: { name: node, labels: { x: "1" } } }));
  });

  test("a uid in PUT or PATCH must be the object's own", async () => {
    const ns = await api.namespace();
    const path = ns.in("configmaps", "a");
    const { metadata } = await api.create(ns.in("configmaps"), configMap("a"));
    accepted(await api.mergePatch(path, { metadata: { uid: metadata.uid }, data: { k: "1" } }));
    const other = { metadata: { name: "a", uid: "00000000-0000-4000-8000-000000000000" }, data: { k: "2" } };
    const immutable = { code: 422, reason: "Invalid", causes: ["FieldValueInvalid metadata.uid"] };
    refused(await api.put(path, other), CONFLICT);
    refused(await api.mergePatch(path, other), immutable);
    refused(await api.strategicPatch(path, other), immutable);
    assert.equal(at(await api.read(path), "data.k"), "1");
  });

  test("a stale resourceVersion in a PATCH is a Conflict, in all three types", async () => {
    const ns = await api.namespace();
    const path = ns.in("configmaps", "a");
    const { metadata } = await api.create(ns.in("configmaps"), configMap("a", { k: "1" }));
    accepted(await api.mergePatch(path, { data: { k: "2" } }));
    const stale = { metadata: { resourceVersion: metadata.resourceVersion }, data: { k: "3" } };
    refused(await api.mergePatch(path, stale), CONFLICT);
    refused(await api.strategicPatch(path, stale), CONFLICT);
    const operations = [
      { op: "replace", path: "/metadata/resourceVersion", value: metadata.resourceVersion },
      { op: "replace", path: "/data/k", value: "3" },
    ];
    refused(await api.jsonPatch(path, operations), CONFLICT);
    assert.equal(at(await api.read(path), "data.k"), "2");
  });

  test("a current resourceVersion in a PATCH lets it through", async () => {
    const ns = await api.namespace();
    const { metadata } = await api.create(ns.in("configmaps"), configMap("a"));
    const body = { metadata: { resourceVersion: metadata.resourceVersion }, data: { k: "v" } };
    assert.deepEqual(accepted(await api.mergePatch(ns.in("configmaps", "a"), body))["data"], { k: "v" });
  });

  test("a write that changes nothing keeps the resourceVersion", async () => {
    const ns = await api.namespace();
    const path = ns.in("configmaps", "a");
    const made = await api.create(ns.in("configmaps"), configMap("a", { k: "v" }));
    const version = made.metadata.resourceVersion;
    assert.equal(accepted(await api.mergePatch(path, { data: { k: "v" } })).metadata.resourceVersion, version);
    assert.equal(accepted(await api.strategicPatch(path, {})).metadata.resourceVersion, version);
    assert.equal(accepted(await api.jsonPatch(path, [])).metadata.resourceVersion, version);
    assert.equal(accepted(await api.put(path, made)).metadata.resourceVersion, version);
  });

  test("an immutable ConfigMap refuses other data and stays immutable", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("configmaps"), { ...configMap("a", { k: "v" }), immutable: true });
    refused(await api.mergePatch(ns.in("configmaps", "a"), { data: { k: "w" } }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueForbidden data"],
    });
  });

  test("a Secret's stringData becomes data, its type Opaque", async () => {
    const ns = await api.namespace();
    const made = await api.create(ns.in("secrets"), { metadata: { name: "a" }, stringData: { k: "v" } });
    partly(made, { type: "Opaque", data: { k: Buffer.from("v").toString("base64") } });
    assert.equal(made["stringData"], undefined);
    refused(await api.mergePatch(ns.in("secrets", "a"), { type: "other/type" }), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid type"],
    });
  });

  test("fieldValidation says what becomes of an unknown field", async () => {
    const ns = await api.namespace();
    const typo = { ...configMap("a"), datum: {} };
    refused(await api.post(ns.in("configmaps?fieldValidation=Strict"), typo), { code: 400, reason: "BadRequest" });
    const warned = await api.post(ns.in("configmaps?fieldValidation=Warn"), typo);
    assert.equal(accepted(warned, 201)["datum"], undefined);
    assert.match(String(warned.headers["warning"]), /^299 - ".*unknown field \\"datum\\""/);
    const silent = await api.post(ns.in("configmaps?fieldValidation=Ignore"), { ...configMap("b"), datum: {} });
    accepted(silent, 201);
    assert.equal(silent.headers["warning"], undefined);
    const patched = await api.mergePatch(ns.in("configmaps", "a?fieldValidation=Strict"), { datum: {} });
    refused(patched, { code: 422, reason: "Invalid" });
  });

  test("dryRun=All answers as if, and stores nothing", async () => {
    const ns = await api.namespace();
    const would = await api.create(ns.in("configmaps?dryRun=All"), configMap("a", { k: "v" }));
    partly(would, { metadata: { name: "a" }, data: { k: "v" } });
    refused(await api.get(ns.in("configmaps", "a")), { code: 404, reason: "NotFound" });
    await api.create(ns.in("configmaps"), configMap("b", { k: "v" }));
    accepted(await api.mergePatch(ns.in("configmaps", "b?dryRun=All"), { data: { k: "w" } }));
    accepted(await api.delete(ns.in("configmaps", "b?dryRun=All")));
    assert.equal(at(await api.read(ns.in("configmaps", "b")), "data.k"), "v");
  });

  test("an unknown group, resource or method is refused as clients expect", async () => {
    assert.equal((await api.get("/apis/nobody.example.com/v1/things")).code, 404);
    refused(await api.get("/api/v1/things"), { code: 404, reason: "NotFound" });
    refused(await api.post("/api/v1/namespaces/default/configmaps/a", configMap("a")), {
      code: 405,
      reason: "MethodNotAllowed",
    });
  });

  test("generation: counted on EndpointSlices and Pods, absent on Services, Nodes, Secrets and Leases", async () => {
    const ns = await api.namespace();
    const metadata = { name: "a" };
    const slices = ns.group("discovery.k8s.io/v1", "endpointslices");
    const slice = await api.create(slices, { metadata, addressType: "IPv4", endpoints: [] });
    const endpoints = [{ addresses: ["10.1.0.1"] }];
    const changed = accepted(await api.mergePatch(`${slices}/a`, { endpoints }));
    assert.deepEqual([slice.metadata.generation, changed.metadata.generation], [1, 2]);
    const pod = await api.create(ns.in("pods"), { metadata, spec: { containers: [{ name: "c", image: "i" }] } });
    assert.equal(pod.metadata.generation, 1);
    const without = [
      await api.create(ns.in("services"), { metadata, spec: { ports: [{ port: 80 }] } }),
      await api.create(ns.in("secrets"), { metadata }),
      await api.create("/api/v1/nodes", { metadata: { generateName: "generation-" } }),
      await api.create(ns.group("coordination.k8s.io/v1", "leases"), { metadata, spec: {} }),
    ];
    for (const object of without) assert.equal(object.metadata.generation, undefined, object.kind);
  });

  test("a new namespace is Active and labelled with its name", async () => {
    const ns = await api.namespace();
    partly(await api.read(`/api/v1/namespaces/${ns.name}`), {
      metadata: { labels: { "kubernetes.io/metadata.name": ns.name } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });
}

function configMap(name: string, data?: Record<string, string>, metadata: object = {}): Record<string, unknown> {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, ...(data && { data }) };
}
