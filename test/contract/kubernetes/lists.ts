/** Lists: selectors, pages of one snapshot, versions. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../../support/kube-connection.ts";
import { type Api, type NamespacePaths, accepted, names, partly, refused } from "./api.ts";

export function lists(api: Api): void {
  selectors(api);
  pages(api);
  versions(api);
}

function selectors(api: Api): void {
  test("a list is a kind of its own, with a version; its items carry neither kind nor apiVersion", async () => {
    const ns = await fiveConfigMaps(api);
    const list = await api.read(ns.in("configmaps"));
    partly(list, { kind: "ConfigMapList", apiVersion: "v1" });
    assert.match(String(list.metadata.resourceVersion), /^\d+$/);
    for (const item of list["items"] as KubeObject[])
      assert.deepEqual([item.kind, item.apiVersion], [undefined, undefined]);
    assert.deepEqual(names(list), ["a", "b", "c", "d", "e"]);
  });

  test("an empty list has an empty items", async () => {
    const ns = await api.namespace();
    assert.deepEqual((await api.read(ns.in("services")))["items"], []);
  });

  test("label selectors", async () => {
    const ns = await fiveConfigMaps(api);
    const expected: Record<string, string[]> = {
      "tier=web": ["a", "b"],
      "tier==web": ["a", "b"],
      "tier!=web": ["c", "d", "e"],
      "tier in (web, db)": ["a", "b", "c"],
      "tier notin (web, db)": ["d", "e"],
      tier: ["a", "b", "c", "d"],
      "!tier": ["e"],
      "tier=web,size": ["b"],
      "size>1": ["c"],
      "size<2": ["b"],
      "tier=": ["d"],
    };
    for (const [selector, wanted] of Object.entries(expected)) {
      const list = await api.read(ns.in(`configmaps?labelSelector=${encodeURIComponent(selector)}`));
      assert.deepEqual(names(list), wanted, selector);
    }
  });

  test("field selectors", async () => {
    const ns = await fiveConfigMaps(api);
    await api.create(ns.in("services"), { metadata: { name: "plain" }, spec: { ports: [{ port: 80 }] } });
    await api.create(ns.in("services"), {
      metadata: { name: "lb" },
      spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
    });
    await api.create(ns.in("secrets"), { metadata: { name: "s" }, type: "example.com/own" });
    const expected: [string, string, string[]][] = [
      ["configmaps", "metadata.name=b", ["b"]],
      ["configmaps", "metadata.name!=b", ["a", "c", "d", "e"]],
      ["configmaps", `metadata.namespace=${ns.name},metadata.name=c`, ["c"]],
      ["services", "spec.type=LoadBalancer", ["lb"]],
      ["secrets", "type=example.com/own", ["s"]],
    ];
    for (const [plural, selector, wanted] of expected) {
      const list = await api.read(ns.in(`${plural}?fieldSelector=${encodeURIComponent(selector)}`));
      assert.deepEqual(names(list), wanted, selector);
    }
  });

  test("Pods are found by node and phase", async () => {
    const ns = await api.namespace();
    const containers = [{ name: "c", image: "i" }];
    await api.create(ns.in("pods"), { metadata: { name: "a" }, spec: { nodeName: "n1", containers } });
    await api.create(ns.in("pods"), { metadata: { name: "b" }, spec: { containers } });
    accepted(await api.mergePatch(ns.in("pods", "b", "status"), { status: { phase: "Succeeded" } }));
    const found = async (selector: string): Promise<string[]> =>
      names(await api.read(ns.in(`pods?fieldSelector=${encodeURIComponent(selector)}`)));
    assert.deepEqual(await found("spec.nodeName=n1,status.phase!=Succeeded,status.phase!=Failed"), ["a"]);
    assert.deepEqual(await found("spec.nodeName="), ["b"]);
    assert.deepEqual(await found("status.phase=Succeeded"), ["b"]);
  });

  test("a selector that cannot be read, or an unknown field, is BadRequest", async () => {
    const ns = await api.namespace();
    const bad = { code: 400, reason: "BadRequest" };
    refused(await api.get(ns.in("configmaps?labelSelector=a%20in%20b")), bad);
    refused(await api.get(ns.in("configmaps?fieldSelector=data.k%3Dv")), bad);
    refused(await api.get(ns.in("services?fieldSelector=spec.sessionAffinity%3DNone")), bad);
    refused(await api.get(ns.in("configmaps?limit=many")), bad);
  });

  test("metadata alone can be asked for", async () => {
    const ns = await fiveConfigMaps(api);
    const accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
    const list = accepted(await api.get(ns.in("configmaps?limit=1"), { accept }));
    partly(list, { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" });
    const [item] = list["items"] as KubeObject[];
    partly(item, { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "a" } });
    assert.equal(item?.["data"], undefined);
  });
}

function pages(api: Api): void {
  test("pages show the first page's snapshot and repeat its version", async () => {
    const ns = await fiveConfigMaps(api);
    const first = await api.read(ns.in("configmaps?limit=2"));
    assert.deepEqual(names(first), ["a", "b"]);
    assert.equal(first.metadata["remainingItemCount"], 3);
    await api.create(ns.in("configmaps"), { metadata: { name: "bb" } });
    accepted(await api.delete(ns.in("configmaps", "e")));
    const second = await nextPage(api, ns, first);
    assert.deepEqual(names(second), ["c", "d"]);
    assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
    const third = await nextPage(api, ns, second);
    assert.deepEqual(names(third), ["e"]);
    assert.equal(third.metadata["continue"] || undefined, undefined);
    assert.equal(third.metadata["remainingItemCount"], undefined);
  });

  test("with a selector a page does not say how many remain", async () => {
    const ns = await fiveConfigMaps(api);
    const first = await api.read(ns.in("configmaps?limit=1&labelSelector=tier"));
    assert.equal(first.metadata["remainingItemCount"], undefined);
    assert.ok(first.metadata["continue"]);
  });

  test("a continue token goes with no resourceVersion, and one that is none is refused", async () => {
    const ns = await fiveConfigMaps(api);
    const first = await api.read(ns.in("configmaps?limit=2"));
    const token = encodeURIComponent(String(first.metadata["continue"]));
    const both = ns.in(`configmaps?limit=2&continue=${token}&resourceVersion=${first.metadata.resourceVersion}`);
    refused(await api.get(both), { code: 400, reason: "BadRequest" });
    refused(await api.get(ns.in("configmaps?limit=2&continue=nonsense")), { code: 400, reason: "BadRequest" });
  });
}

function versions(api: Api): void {
  test("resourceVersion 0 and one from the past are answered", async () => {
    const ns = await fiveConfigMaps(api);
    const list = await api.read(ns.in("configmaps"));
    const past = list.metadata.resourceVersion;
    assert.deepEqual(names(await api.read(ns.in(`configmaps?resourceVersion=${past}`))), names(list));
    accepted(await api.get(ns.in("configmaps?resourceVersion=0")));
    const match = `resourceVersion=${past}&resourceVersionMatch=NotOlderThan`;
    assert.deepEqual(names(await api.read(ns.in(`configmaps?${match}`))), names(list));
  });

  test("resourceVersionMatch Exact shows the past", async () => {
    const ns = await fiveConfigMaps(api);
    const { metadata } = await api.read(ns.in("configmaps"));
    accepted(await api.delete(ns.in("configmaps", "a")));
    const past = await api.read(
      ns.in(`configmaps?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`),
    );
    assert.deepEqual(names(past), ["a", "b", "c", "d", "e"]);
  });

  test("resourceVersionMatch without a version is Invalid", async () => {
    const ns = await api.namespace();
    refused(await api.get(ns.in("configmaps?resourceVersionMatch=NotOlderThan")), { code: 422, reason: "Invalid" });
  });

  test("a version from the future is a Timeout that says when to try again", async () => {
    const ns = await api.namespace();
    const future = 1_000_000_000;
    const reply = await api.get(ns.in(`configmaps?resourceVersion=${future}`));
    refused(reply, {
      code: 504,
      reason: "Timeout",
      causes: ["ResourceVersionTooLarge undefined"],
      details: { retryAfterSeconds: 1 },
    });
  });
}

function nextPage(api: Api, ns: NamespacePaths, page: KubeObject): Promise<KubeObject> {
  return api.read(ns.in(`configmaps?limit=2&continue=${encodeURIComponent(String(page.metadata["continue"]))}`));
}

/** a, b: tier web (b of size 1); c: tier db, size 2; d: tier empty; e: no labels. */
async function fiveConfigMaps(api: Api): Promise<NamespacePaths> {
  const ns = await api.namespace();
  const labels: Record<string, Record<string, string>> = {
    a: { tier: "web" },
    b: { tier: "web", size: "1" },
    c: { tier: "db", size: "2" },
    d: { tier: "" },
    e: {},
  };
  for (const [name, own] of Object.entries(labels)) {
    await api.create(ns.in("configmaps"), { metadata: { name, labels: own }, data: { k: name } });
  }
  return ns;
}
