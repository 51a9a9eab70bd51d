/** The way in: credentials, health, version, and what resources there are. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../../support/kube-connection.ts";
import { type Api, accepted, partly, refused } from "./api.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

export function discovery(api: Api): void {
  test("without credentials, or with wrong ones: Unauthorized", async () => {
    const stranger = api.stranger();
    const unauthorized = { code: 401, reason: "Unauthorized" };
    refused(await stranger.request("GET", "/api/v1/namespaces"), unauthorized);
    const headers = { authorization: "Bearer nobody" };
    refused(await stranger.request("GET", "/api/v1/namespaces", { headers }), unauthorized);
    await stranger.close();
  });

  test("health is a plain ok, the version has its parts", async () => {
    for (const path of ["/healthz", "/readyz", "/livez"]) assert.equal((await api.get(path)).text, "ok", path);
    const { major, minor, gitVersion } = await api.read("/version");
    assert.equal(major, "1");
    assert.match(String(minor), /^\d+\+?$/);
    assert.ok(String(gitVersion).startsWith(`v1.${Number.parseInt(String(minor), 10)}.`));
  });

  test("resources of core/v1, with their verbs, short names and subresources", async () => {
    const list = await api.read("/api/v1");
    partly(list, { kind: "APIResourceList", groupVersion: "v1" });
    const find = (name: string): KubeObject | undefined =>
      (list["resources"] as KubeObject[]).find((resource) => resource["name"] === name);
    const verbsOf = (name: string): unknown => ((find(name)?.["verbs"] ?? []) as string[]).toSorted();
    partly(find("services"), { singularName: "service", namespaced: true, kind: "Service", shortNames: ["svc"] });
    const all = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    assert.deepEqual(verbsOf("services"), all);
    assert.deepEqual(verbsOf("services/status"), ["get", "patch", "update"]);
    partly(find("nodes"), { namespaced: false, kind: "Node", shortNames: ["no"] });
  });

  test("groups and their versions", async () => {
    partly(await api.read("/api"), { kind: "APIVersions", versions: ["v1"] });
    const { groups } = await api.read("/apis");
    const byName = new Map((groups as KubeObject[]).map((group) => [group["name"], group]));
    const wanted = ["apiextensions.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io"];
    for (const name of wanted) {
      partly(byName.get(name), { preferredVersion: { groupVersion: `${name}/v1`, version: "v1" } });
      partly(await api.read(`/apis/${name}/v1`), { kind: "APIResourceList", groupVersion: `${name}/v1` });
    }
  });

  test("aggregated discovery is told by its media type", async () => {
    for (const path of ["/api", "/apis"]) {
      const reply = await api.get(path, { accept: `${AGGREGATED},application/json` });
      partly(accepted(reply), { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
      assert.equal(reply.headers["content-type"], AGGREGATED);
    }
  });

  test("OpenAPI v3 lists a document for each group and version that kubectl validates with", async () => {
    const root = await api.read("/openapi/v3");
    const paths = root["paths"] as Record<string, { serverRelativeURL: string }>;
    for (const path of ["api/v1", "apis/discovery.k8s.io/v1", "apis/coordination.k8s.io/v1"]) {
      const url = paths[path]?.serverRelativeURL ?? "";
      assert.ok(url.startsWith(`/openapi/v3/${path}`), `${path}: ${url}`);
      assert.match(String((await api.read(url))["openapi"]), /^3\./);
    }
  });
}
