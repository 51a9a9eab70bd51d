/** Watches: where they start, what they say, how they end. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { WatchEvent, WatchStream } from "../../support/watch-stream.ts";
import { type Api, type NamespacePaths, accepted, at, partly, refused } from "./api.ts";

export function watches(api: Api): void {
  starts(api);
  changes(api);
  bookmarks(api);
  ends(api);
}

function starts(api: Api): void {
  test("from a version: what came after it, in order", async () => {
    const ns = await api.namespace();
    const path = ns.in("configmaps", "a");
    await make(api, ns, "before");
    const { metadata } = await api.read(ns.in("configmaps"));
    const made = await make(api, ns, "a");
    const changed = accepted(await api.mergePatch(path, { data: { k: "v" } }));
    accepted(await api.delete(path));
    await watching(api, ns.in(`configmaps?watch=true&resourceVersion=${metadata.resourceVersion}`), async (watch) => {
      assert.equal(watch.code, 200);
      assert.match(String(watch.headers["content-type"]), /^application\/json/);
      const [added, modified, deleted] = [await watch.next(), await watch.next(), await watch.next()];
      assert.deepEqual(added, { type: "ADDED", object: made });
      assert.deepEqual(modified, { type: "MODIFIED", object: changed });
      partly(deleted, { type: "DELETED", object: { kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } } });
      const versions = [changed.metadata.resourceVersion, deleted.object.metadata.resourceVersion].map(Number);
      assert.ok((versions[1] ?? 0) > (versions[0] ?? 0), "DELETED carries the deletion's own version");
    });
  });

  for (const version of ["", "&resourceVersion=0"]) {
    test(`from ${version || "no version"}: all there is first, as ADDED`, async () => {
      const ns = await api.namespace();
      await make(api, ns, "a");
      await make(api, ns, "b");
      await watching(api, ns.in(`configmaps?watch=true${version}`), async (watch) => {
        assert.deepEqual([await said(watch), await said(watch)].toSorted(), ["ADDED a", "ADDED b"]);
        await make(api, ns, "c");
        assert.equal(await said(watch), "ADDED c");
      });
    });
  }

  test("headers come at once, before any event", async () => {
    const ns = await api.namespace();
    const { metadata } = await api.read(ns.in("configmaps"));
    await watching(api, ns.in(`configmaps?watch=true&resourceVersion=${metadata.resourceVersion}`), async (watch) => {
      assert.equal(watch.code, 200); // resolved although nothing has happened yet
    });
  });

  test("one object by name", async () => {
    const ns = await api.namespace();
    await make(api, ns, "a");
    await make(api, ns, "b");
    const path = ns.in("configmaps?watch=true&fieldSelector=metadata.name%3Db");
    await watching(api, path, async (watch) => {
      assert.equal(await said(watch), "ADDED b");
      accepted(await api.mergePatch(ns.in("configmaps", "a"), { data: { k: "v" } }));
      accepted(await api.mergePatch(ns.in("configmaps", "b"), { data: { k: "v" } }));
      assert.equal(await said(watch), "MODIFIED b");
    });
  });

  test("all namespaces at once", async () => {
    const ns = await api.namespace();
    const { metadata } = await api.read("/api/v1/configmaps?limit=1");
    await make(api, ns, "a");
    await watching(api, `/api/v1/configmaps?watch=true&resourceVersion=${metadata.resourceVersion}`, async (watch) => {
      const seen = await watch.until((event) => event.object.metadata.namespace === ns.name);
      assert.equal(seen.at(-1)?.object.metadata.name, "a");
    });
  });
}

function changes(api: Api): void {
  test("entering a label selector is ADDED, leaving it DELETED", async () => {
    const ns = await api.namespace();
    await make(api, ns, "a", { labels: { tier: "web" } });
    const { metadata } = await api.read(ns.in("configmaps"));
    const selected = `watch=true&labelSelector=tier%3Dweb&resourceVersion=${metadata.resourceVersion}`;
    await watching(api, ns.in(`configmaps?${selected}`), async (watch) => {
      const tier = (name: string, value: string | null): Promise<unknown> =>
        api.mergePatch(ns.in("configmaps", name), { metadata: { labels: { tier: value } } }).then(accepted);
      await tier("a", "db");
      const left = await watch.next();
      partly(left, { type: "DELETED", object: { metadata: { name: "a", labels: { tier: "web" } } } });
      await make(api, ns, "unseen");
      await tier("a", "web");
      const back = await watch.next();
      partly(back, { type: "ADDED", object: { metadata: { name: "a", labels: { tier: "web" } } } });
      accepted(await api.delete(ns.in("configmaps", "a")));
      assert.equal(await said(watch), "DELETED a");
    });
  });

  test("a Service that leaves a field selector is DELETED", async () => {
    const ns = await api.namespace();
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
    await api.create(ns.in("services"), { metadata: { name: "a" }, spec });
    const path = ns.in("services?watch=true&fieldSelector=spec.type%3DLoadBalancer");
    await watching(api, path, async (watch) => {
      assert.equal(await said(watch), "ADDED a");
      accepted(await api.mergePatch(ns.in("services", "a"), { spec: { type: "ClusterIP" } }));
      assert.equal(await said(watch), "DELETED a");
    });
  });

  test("a delete that finalizers hold back is MODIFIED, their removal DELETED", async () => {
    const ns = await api.namespace();
    await make(api, ns, "a", { finalizers: ["azlb.io/held"] });
    await watching(api, ns.in("configmaps?watch=true"), async (watch) => {
      assert.equal(await said(watch), "ADDED a");
      accepted(await api.delete(ns.in("configmaps", "a")));
      const going = await watch.next();
      assert.equal(going.type, "MODIFIED");
      assert.ok(going.object.metadata.deletionTimestamp);
      accepted(await api.mergePatch(ns.in("configmaps", "a"), { metadata: { finalizers: null } }));
      const gone = await watch.next();
      assert.equal(gone.type, "DELETED");
      assert.equal(gone.object.metadata.deletionTimestamp, going.object.metadata.deletionTimestamp);
    });
  });

  test("writes that change nothing are not told", async () => {
    const ns = await api.namespace();
    const made = await make(api, ns, "a");
    await watching(
      api,
      ns.in(`configmaps?watch=true&resourceVersion=${made.metadata.resourceVersion}`),
      async (watch) => {
        accepted(await api.mergePatch(ns.in("configmaps", "a"), { metadata: { labels: null } }));
        accepted(await api.put(ns.in("configmaps", "a"), made));
        accepted(await api.mergePatch(ns.in("configmaps", "a"), { data: { k: "v" } }));
        partly(await watch.next(), { type: "MODIFIED", object: { data: { k: "v" } } });
      },
    );
  });

  test("the same name deleted and made again is DELETED and ADDED with another uid", async () => {
    const ns = await api.namespace();
    const first = await make(api, ns, "a");
    const { resourceVersion } = first.metadata;
    accepted(await api.delete(ns.in("configmaps", "a")));
    const second = await make(api, ns, "a");
    await watching(api, ns.in(`configmaps?watch=true&resourceVersion=${resourceVersion}`), async (watch) => {
      partly(await watch.next(), { type: "DELETED", object: { metadata: { uid: first.metadata.uid } } });
      partly(await watch.next(), { type: "ADDED", object: { metadata: { uid: second.metadata.uid } } });
    });
  });
}

function bookmarks(api: Api): void {
  const STREAM = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";

  test("a streaming list: all as ADDED, then a bookmark that says so, then what happens", async () => {
    const ns = await api.namespace();
    await make(api, ns, "a");
    await make(api, ns, "b");
    await watching(api, ns.in(`configmaps?${STREAM}`), async (watch) => {
      const initial = await watch.until((event) => event.type === "BOOKMARK");
      assert.deepEqual(initial.slice(0, -1).map(say).toSorted(), ["ADDED a", "ADDED b"]);
      const { object } = initial.at(-1) as WatchEvent;
      partly(object, { kind: "ConfigMap", apiVersion: "v1" });
      assert.equal(at(object, "metadata.annotations")?.["k8s.io/initial-events-end" as never], "true");
      assert.match(String(object.metadata.resourceVersion), /^\d+$/);
      await make(api, ns, "c");
      assert.equal(await said(watch), "ADDED c");
    });
  });

  test("a streaming list of nothing is a bookmark", async () => {
    const ns = await api.namespace();
    await watching(api, ns.in(`configmaps?${STREAM}`), async (watch) => {
      assert.equal((await watch.next()).type, "BOOKMARK");
    });
  });

  test("sendInitialEvents without resourceVersionMatch is Invalid", async () => {
    const ns = await api.namespace();
    refused(await api.get(ns.in("configmaps?watch=true&sendInitialEvents=true&allowWatchBookmarks=true")), {
      code: 422,
      reason: "Invalid",
    });
  });

  test("a bookmark before a quiet watch's own end tells how far others have come", async () => {
    const [ns, elsewhere] = [await api.namespace(), await api.namespace()];
    const { resourceVersion } = (await make(api, ns, "a")).metadata;
    // the last bookmark comes two seconds before the end, and must find what is made here
    const options = `allowWatchBookmarks=true&timeoutSeconds=10&resourceVersion=${resourceVersion}`;
    await watching(api, ns.in(`configmaps?watch=true&${options}`), async (watch) => {
      const other = await make(api, elsewhere, "b");
      const last = (await watch.rest()).at(-1);
      assert.equal(last?.type, "BOOKMARK");
      partly(last?.object, { kind: "ConfigMap", apiVersion: "v1" });
      assert.ok(Number(last?.object.metadata.resourceVersion) >= Number(other.metadata.resourceVersion));
      assert.equal(last?.object.metadata.name || undefined, undefined);
    });
  });
}

function ends(api: Api): void {
  test("timeoutSeconds ends a watch cleanly", async () => {
    const ns = await api.namespace();
    const startedMs = Date.now();
    await watching(api, ns.in("configmaps?watch=true&timeoutSeconds=1"), async (watch) => {
      assert.deepEqual(await watch.rest(), []);
      assert.ok(Date.now() - startedMs > 900, "it waited");
    });
  });
}

async function watching(api: Api, path: string, look: (watch: WatchStream) => Promise<void>): Promise<void> {
  const watch = await api.watch(path);
  try {
    await look(watch);
  } finally {
    watch.close();
  }
}

function say(event: WatchEvent): string {
  return `${event.type} ${event.object.metadata.name}`;
}

async function said(watch: WatchStream): Promise<string> {
  return say(await watch.next());
}

function make(api: Api, ns: NamespacePaths, name: string, metadata: object = {}): ReturnType<Api["create"]> {
  return api.create(ns.in("configmaps"), { metadata: { name, ...metadata } });
}
