/** The three patch types, above all strategic merge: which lists merge by which key, and which are replaced. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../../support/kube-connection.ts";
import { type Api, type NamespacePaths, accepted, at, partly, refused } from "./api.ts";

export function patches(api: Api): void {
  strategicLists(api);
  strategicDirectives(api);
  otherTypes(api);
}

function strategicLists(api: Api): void {
  test("strategic: a Service's ports merge by port number alone, new ones before those that only the server has", async () => {
    const { path } = await twoPorts(api);
    const ports = [
      { port: 80, targetPort: 8080 },
      { name: "alt", port: 8443 },
    ];
    const patched = accepted(await api.strategicPatch(path, { spec: { ports } }));
    partly(at(patched, "spec.ports"), [
      { name: "http", port: 80, targetPort: 8080 },
      { name: "alt", port: 8443, protocol: "TCP", targetPort: 8443 },
      { name: "https", port: 443, targetPort: 443 },
    ]);
    const udp = { spec: { ports: [{ port: 443, protocol: "UDP" }] } };
    partly(at(accepted(await api.strategicPatch(path, udp)), "spec.ports.2"), { name: "https", protocol: "UDP" });
  });

  test("strategic: $setElementOrder says the order, $patch: delete removes an element", async () => {
    const { path } = await twoPorts(api);
    const patched = await api.strategicPatch(path, {
      spec: {
        "$setElementOrder/ports": [{ port: 80 }, { port: 8443 }],
        ports: [
          { name: "alt", port: 8443 },
          { $patch: "delete", port: 443 },
        ],
      },
    });
    partly(at(accepted(patched), "spec.ports"), [{ port: 80 }, { port: 8443, name: "alt" }]);
  });

  test("strategic: $setElementOrder must name every element of the patch", async () => {
    const { path } = await twoPorts(api);
    const ports = [{ name: "alt", port: 8443 }];
    const reply = await api.strategicPatch(path, { spec: { "$setElementOrder/ports": [{ port: 80 }], ports } });
    assert.equal(reply.code, 500, reply.text);
  });

  test("strategic: an element without its merge key, and an unknown $patch, are refused", async () => {
    const { path } = await twoPorts(api);
    assert.equal((await api.strategicPatch(path, { spec: { ports: [{ name: "x" }] } })).code, 500);
    assert.equal((await api.strategicPatch(path, { spec: { $patch: "explode" } })).code, 500);
  });

  test("strategic: a Node's taints are replaced whole, its conditions and addresses merge by type", async () => {
    const path = await node(api);
    const first = { key: "one", effect: "NoSchedule" };
    const second = { key: "two", value: "x", effect: "NoExecute" };
    accepted(await api.strategicPatch(path, { spec: { taints: [first] } }));
    const patched = accepted(await api.strategicPatch(path, { spec: { taints: [second] } }));
    partly(at(patched, "spec.taints"), [second]);
    const status = (part: object): Promise<unknown> =>
      api.strategicPatch(`${path}/status`, { status: part }).then(accepted);
    await status({
      conditions: [{ type: "Ready", status: "False" }],
      addresses: [{ type: "InternalIP", address: "10.0.0.4" }],
    });
    await status({
      conditions: [{ type: "Pressure", status: "False" }],
      addresses: [{ type: "Hostname", address: "n" }],
    });
    await status({ conditions: [{ type: "Ready", status: "True" }] });
    partly(at(await api.read(path), "status"), {
      conditions: [
        { type: "Pressure", status: "False" },
        { type: "Ready", status: "True" },
      ],
      addresses: [
        { type: "Hostname", address: "n" },
        { type: "InternalIP", address: "10.0.0.4" },
      ],
    });
  });

  test("strategic: source ranges and status.loadBalancer.ingress are replaced whole", async () => {
    const { path } = await twoPorts(api, { type: "LoadBalancer", loadBalancerSourceRanges: ["10.0.0.0/8"] });
    const ranges = { spec: { loadBalancerSourceRanges: ["192.168.0.0/16"] } };
    const patched = accepted(await api.strategicPatch(path, ranges));
    assert.deepEqual(at(patched, "spec.loadBalancerSourceRanges"), ["192.168.0.0/16"]);
    const ingress = (ip: string): unknown => ({ status: { loadBalancer: { ingress: [{ ip }] } } });
    accepted(await api.strategicPatch(`${path}/status`, ingress("1.2.3.4")));
    const second = accepted(await api.strategicPatch(`${path}/status`, ingress("5.6.7.8")));
    assert.deepEqual(at(second, "status.loadBalancer.ingress"), [{ ip: "5.6.7.8", ipMode: "VIP" }]);
  });

  test("strategic: a Service's status conditions merge by type", async () => {
    const { path } = await twoPorts(api);
    const condition = (type: string): object => ({
      type,
      status: "True",
      reason: "R",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    });
    accepted(await api.strategicPatch(`${path}/status`, { status: { conditions: [condition("A")] } }));
    const both = accepted(await api.strategicPatch(`${path}/status`, { status: { conditions: [condition("B")] } }));
    partly(at(both, "status.conditions"), [{ type: "B" }, { type: "A" }]);
  });

  test("strategic: ownerReferences merge by uid", async () => {
    const ns = await api.namespace();
    const owner = (name: string): object => ({ apiVersion: "v1", kind: "ConfigMap", name, uid: `uid-${name}` });
    await api.create(ns.in("configmaps"), { metadata: { name: "a", ownerReferences: [owner("one")] } });
    const body = { metadata: { ownerReferences: [owner("two"), { uid: "uid-one", controller: true }] } };
    const patched = accepted(await api.strategicPatch(ns.in("configmaps", "a"), body));
    partly(patched.metadata["ownerReferences"], [owner("two"), { ...owner("one"), controller: true }]);
  });
}

function strategicDirectives(api: Api): void {
  test("strategic: finalizers are only ever added; $deleteFromPrimitiveList takes one away, null all", async () => {
    const { path } = await withFinalizers(api, ["azlb.io/one", "azlb.io/two"]);
    const patch = async (metadata: object): Promise<unknown> =>
      accepted(await api.strategicPatch(path, { metadata })).metadata.finalizers;
    assert.deepEqual(await patch({ finalizers: ["azlb.io/three"] }), ["azlb.io/three", "azlb.io/one", "azlb.io/two"]);
    assert.deepEqual(await patch({ "$deleteFromPrimitiveList/finalizers": ["azlb.io/one"] }), [
      "azlb.io/three",
      "azlb.io/two",
    ]);
    const both = {
      "$deleteFromPrimitiveList/finalizers": ["azlb.io/two"],
      "$setElementOrder/finalizers": ["azlb.io/four", "azlb.io/three"],
      finalizers: ["azlb.io/four"],
    };
    assert.deepEqual(await patch(both), ["azlb.io/four", "azlb.io/three"]);
    assert.equal(await patch({ finalizers: null }), undefined);
  });

  test("strategic: maps merge, null deletes a key, absent keys stay", async () => {
    const ns = await api.namespace();
    const labels = { a: "1", b: "2" };
    await api.create(ns.in("configmaps"), { metadata: { name: "a", labels }, data: { k: "v", l: "w" } });
    const body = { metadata: { labels: { a: null, c: "3" } }, data: { k: null, absent: null } };
    const patched = accepted(await api.strategicPatch(ns.in("configmaps", "a"), body));
    assert.deepEqual([patched.metadata["labels"], patched["data"]], [{ b: "2", c: "3" }, { l: "w" }]);
  });

  test("strategic: $patch: replace exchanges a map or a list", async () => {
    const { path, ns } = await twoPorts(api);
    const list = { spec: { ports: [{ $patch: "replace" }, { name: "only", port: 90 }] } };
    partly(at(accepted(await api.strategicPatch(path, list)), "spec.ports"), [{ name: "only", port: 90 }]);
    await api.create(ns.in("configmaps"), { metadata: { name: "a" }, data: { k: "v" } });
    const map = { data: { $patch: "replace", l: "w" } };
    assert.deepEqual(accepted(await api.strategicPatch(ns.in("configmaps", "a"), map))["data"], { l: "w" });
  });

  test("strategic: $retainKeys keeps those named", async () => {
    const { path } = await twoPorts(api, { selector: { app: "a", tier: "b" } });
    const body = { spec: { selector: { $retainKeys: ["app", "zone"], zone: "1" } } };
    const patched = accepted(await api.strategicPatch(path, body));
    assert.deepEqual(at(patched, "spec.selector"), { app: "a", zone: "1" });
  });

  test("strategic: spec.unschedulable goes with null", async () => {
    const path = await node(api);
    const set = async (unschedulable: boolean | null): Promise<unknown> =>
      at(accepted(await api.strategicPatch(path, { spec: { unschedulable } })), "spec.unschedulable");
    assert.equal(await set(true), true);
    assert.equal(await set(null), undefined);
  });
}

function otherTypes(api: Api): void {
  test("merge: lists are replaced, maps merged, null deletes", async () => {
    const { path } = await withFinalizers(api, ["azlb.io/one", "azlb.io/two"]);
    const body = { metadata: { finalizers: ["azlb.io/three"], labels: { x: "1" } }, data: { k: null, l: "w" } };
    const patched = accepted(await api.mergePatch(path, body));
    partly(patched, { metadata: { finalizers: ["azlb.io/three"], labels: { x: "1" } } });
    assert.deepEqual(patched["data"], { l: "w" });
    const ports = [{ name: "http", port: 81 }];
    const service = await twoPorts(api);
    const replaced = accepted(await api.mergePatch(service.path, { spec: { ports } }));
    partly(at(replaced, "spec.ports"), [{ name: "http", port: 81, protocol: "TCP", targetPort: 81 }]);
  });

  test("JSON: add, replace, remove, move, copy, test; ~1 is a slash, /- appends", async () => {
    const { path } = await withFinalizers(api, ["azlb.io/one"]);
    const operations = [
      { op: "test", path: "/data/k", value: "v" },
      { op: "add", path: "/metadata/annotations", value: { "a/b": "1" } },
      { op: "replace", path: "/metadata/annotations/a~1b", value: "2" },
      { op: "add", path: "/metadata/finalizers/-", value: "azlb.io/two" },
      { op: "copy", from: "/data/k", path: "/data/copied" },
      { op: "move", from: "/data/k", path: "/data/moved" },
    ];
    const patched = accepted(await api.jsonPatch(path, operations));
    partly(patched, { metadata: { finalizers: ["azlb.io/one", "azlb.io/two"], annotations: { "a/b": "2" } } });
    assert.deepEqual(patched["data"], { copied: "v", moved: "v" });
    const removed = accepted(await api.jsonPatch(path, [{ op: "remove", path: "/metadata/finalizers/0" }]));
    assert.deepEqual(removed.metadata.finalizers, ["azlb.io/two"]);
  });

  test("JSON: a failed test or a missing path is Invalid, and nothing of the patch is kept", async () => {
    const { path } = await withFinalizers(api, []);
    const invalid = { code: 422, reason: "Invalid" };
    const add = { op: "add", path: "/data/new", value: "1" };
    refused(await api.jsonPatch(path, [add, { op: "test", path: "/data/k", value: "other" }]), invalid);
    refused(await api.jsonPatch(path, [add, { op: "remove", path: "/data/absent" }]), invalid);
    refused(await api.jsonPatch(path, [add, { op: "add", path: "/metadata/annotations/a", value: "1" }]), invalid);
    assert.deepEqual((await api.read(path))["data"], { k: "v" });
  });

  test("a malformed patch is BadRequest, an unknown patch type UnsupportedMediaType", async () => {
    const { path } = await withFinalizers(api, []);
    refused(await api.jsonPatch(path, { not: "a list" }), { code: 400, reason: "BadRequest" });
    refused(await api.mergePatch(path, "{"), { code: 400, reason: "BadRequest" });
    const headers = { "content-type": "application/json" };
    const reply = await api.request("PATCH", path, { body: {}, headers });
    refused(reply, { code: 415, reason: "UnsupportedMediaType" });
  });

  test("a patch cannot rename or move an object", async () => {
    const { path } = await withFinalizers(api, []);
    refused(await api.mergePatch(path, { metadata: { name: "b" } }), { code: 400, reason: "BadRequest" });
    refused(await api.mergePatch(path, { metadata: { namespace: "default" } }), { code: 400, reason: "BadRequest" });
  });
}

async function twoPorts(api: Api, spec: object = {}): Promise<{ ns: NamespacePaths; path: string; made: KubeObject }> {
  const ns = await api.namespace();
  const ports = [
    { name: "http", port: 80 },
    { name: "https", port: 443 },
  ];
  const made = await api.create(ns.in("services"), { metadata: { name: "a" }, spec: { ports, ...spec } });
  return { ns, path: ns.in("services", "a"), made };
}

async function withFinalizers(api: Api, finalizers: readonly string[]): Promise<{ path: string }> {
  const ns = await api.namespace();
  await api.create(ns.in("configmaps"), { metadata: { name: "a", finalizers }, data: { k: "v" } });
  return { path: ns.in("configmaps", "a") };
}

async function node(api: Api): Promise<string> {
  const { metadata } = await api.create("/api/v1/nodes", { metadata: { generateName: "patched-" } });
  return `/api/v1/nodes/${metadata.name}`;
}
