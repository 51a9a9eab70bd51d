/** Server-side apply: who owns which field, who is told of a conflict, and what goes when no manager lists it. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject, Reply } from "../../support/kube-connection.ts";
import { type Api, accepted, at, partly, refused } from "./api.ts";

const MAP = { apiVersion: "v1", kind: "ConfigMap" };

export function apply(api: Api): void {
  const send = (path: string, manager: string, body: unknown, more = ""): Promise<Reply> =>
    api.request("PATCH", `${path}?fieldManager=${manager}${more}`, {
      body,
      headers: { "content-type": "application/apply-patch+yaml" },
    });
  const map = async (): Promise<{ path: string; listing: (data: object) => object }> => {
    const namespace = await api.namespace();
    return {
      path: namespace.in("configmaps", "m"),
      listing: (data) => ({ ...MAP, metadata: { name: "m" }, data }),
    };
  };

  test("an applier owns what it lists, and takes it away by no longer listing it", async () => {
    const { path, listing } = await map();
    const made = accepted(await send(path, "one", listing({ a: "1", b: "1" })), 201);
    assert.deepEqual(owners(made), { "one Apply": { "f:data": { "f:a": {}, "f:b": {} } } });
    accepted(await send(path, "two", listing({ b: "1", c: "1" })));
    const left = accepted(await send(path, "one", listing({})));
    assert.deepEqual(left["data"], { b: "1", c: "1" });
    partly(owners(left), { "two Apply": { "f:data": { "f:b": {}, "f:c": {} } } });
  });

  test("a field of another manager is a conflict unless it is forced", async () => {
    const { path, listing } = await map();
    accepted(await send(path, "one", listing({ a: "1" })), 201);
    refused(await send(path, "two", listing({ a: "2" })), {
      code: 409,
      reason: "Conflict",
      causes: ["FieldManagerConflict .data.a"],
    });
    assert.equal(at(await api.read(path), "data.a"), "1");
    const forced = accepted(await send(path, "two", listing({ a: "2" }), "&force=true"));
    assert.deepEqual(Object.keys(owners(forced)), ["two Apply"]);
  });

  test("an update owns what it changes", async () => {
    const { path, listing } = await map();
    accepted(await send(path, "one", listing({ a: "1", b: "1" })), 201);
    const updated = accepted(await api.mergePatch(`${path}?fieldManager=editor`, { data: { a: "2" } }));
    assert.deepEqual(owners(updated), {
      "one Apply": { "f:data": { "f:b": {} } },
      "editor Update": { "f:data": { "f:a": {} } },
    });
  });

  test("an apply that changes nothing keeps the version", async () => {
    const { path, listing } = await map();
    const made = accepted(await send(path, "one", listing({ a: "1" })), 201);
    const again = accepted(await send(path, "one", listing({ a: "1" })));
    assert.equal(again.metadata.resourceVersion, made.metadata.resourceVersion);
  });

  test("a dry run stores nothing, and a manager must be named", async () => {
    const { path, listing } = await map();
    accepted(await send(path, "one", listing({ a: "1" }), "&dryRun=All"), 201);
    assert.equal((await api.get(path)).code, 404);
    refused(await send(path, "", listing({})), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueRequired fieldManager"],
    });
  });

  test("ports of two appliers stand side by side", async () => {
    const namespace = await api.namespace();
    const path = namespace.in("services", "s");
    const listing = (port: object): object => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s" },
      spec: { ports: [port] },
    });
    accepted(await send(path, "one", listing({ name: "http", port: 80 })), 201);
    const both = accepted(await send(path, "two", listing({ name: "https", port: 443 })));
    partly(both["spec"], { ports: [{ name: "http" }, { name: "https" }] });
    const key = 'k:{"port":443,"protocol":"TCP"}';
    assert.deepEqual(owners(both)["two Apply"], {
      "f:spec": { "f:ports": { [key]: { ".": {}, "f:name": {}, "f:port": {} } } },
    });
  });
}

/** The fields of each manager, by its name and operation. */
function owners(object: KubeObject): Record<string, unknown> {
  const entries = (object.metadata as { managedFields?: Record<string, unknown>[] }).managedFields ?? [];
  return Object.fromEntries(entries.map((each) => [[each["manager"], each["operation"]].join(" "), each["fieldsV1"]]));
}
