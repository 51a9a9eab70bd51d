/** What the laws are told that a process knows of the cluster: nothing that its reader has not taken. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Random } from "../environment/random.ts";
import { SimulatedKubernetes } from "../environment/simulated-kubernetes.ts";
import { Process, Timeline } from "../environment/timeline.ts";
import { WatchStream } from "./watch-stream.ts";

function watchNodes(count: number) {
  const timeline = new Timeline();
  const cluster = new SimulatedKubernetes(timeline, Random.of(1, "cluster"), []);
  const before = String(cluster.api.state.revision);
  for (let at = 0; at < count; at++) cluster.send("POST", "/api/v1/nodes", { metadata: { name: `node-${at}` } });
  const query = { watch: "true", resourceVersion: before, allowWatchBookmarks: "true", timeoutSeconds: "300" };
  const request = { method: "GET", path: "/api/v1/nodes", query, accept: "application/json", contentType: "" };
  const watch = cluster.request({ ...request, body: undefined });
  if (watch.kind !== "watch") throw new Error("nodes cannot be watched");
  const told: number[] = [];
  const stream = new WatchStream({
    api: cluster.api,
    timeline,
    random: Random.of(7, "net"),
    process: new Process("one"),
    watch,
    first: watch.first,
    signal: new AbortController().signal,
    onDelivered: (_, revision) => told.push(revision),
  });
  return { stream, timeline, told, newest: cluster.api.state.revision };
}

test("frames that arrived before the reader reads are not known to it", async () => {
  const { stream, timeline, told, newest } = watchNodes(2);
  await timeline.advance(10_000);
  assert.deepEqual(told, []);
  const reader = stream[Symbol.asyncIterator]();
  for (let read = 0; read < 2 && told.length === 0; read++) await reader.next();
  assert.deepEqual(told, [newest]);
});

test("the first of several frames alone tells nothing of the others", async () => {
  const { stream, timeline, told, newest } = watchNodes(40);
  const reader = stream[Symbol.asyncIterator]();
  let names = 0;
  while (names < 40) {
    const next = reader.next();
    await timeline.advance(5_000);
    const { value } = await next;
    names +=
      Buffer.from(value as Uint8Array)
        .toString()
        .split('"ADDED"').length - 1;
    assert.deepEqual(told, names < 40 ? [] : [newest]);
  }
});
