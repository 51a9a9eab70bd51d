import assert from "node:assert/strict";
import { test } from "node:test";

import { Registry } from "prom-client";

import { NO_STATS } from "../kube/cache/reflector-stats.ts";
import { LoopMetrics } from "./loop-metrics.ts";

/** The samples that are not 0, as `name{labels} value`. */
async function samples(registry: Registry): Promise<string[]> {
  const lines = (await registry.metrics()).split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("#") && !line.endsWith(" 0"));
}

test("queues are read when the metrics are served, and a later one of the name takes the former's place", async () => {
  const registry = new Registry();
  const metrics = new LoopMetrics(registry);
  const stats = { queued: 2, running: 1, delayed: 3, runs: 7, failures: 4 };
  metrics.addQueue("service", { stats: () => stats });
  assert.deepEqual(await samples(registry), [
    'workqueue_depth{name="service"} 2',
    'workqueue_retries_total{name="service"} 4',
    'azlb_queue_running{name="service"} 1',
    'azlb_queue_delayed{name="service"} 3',
    'azlb_queue_syncs_total{name="service"} 7',
  ]);
  stats.runs = 8;
  assert.ok((await samples(registry)).includes('azlb_queue_syncs_total{name="service"} 8'), "not added up");
  metrics.addQueue("service", { stats: () => ({ queued: 0, running: 0, delayed: 0, runs: 1, failures: 0 }) });
  assert.deepEqual(await samples(registry), ['azlb_queue_syncs_total{name="service"} 1']);
});

test("watches: each end is counted under one reason, and silence only once something was heard", async () => {
  const registry = new Registry();
  const metrics = new LoopMetrics(registry);
  metrics.addWatch("nodes", { stats: () => ({ ...NO_STATS, cleanEnds: 5, expired: 1, silences: 2, failures: 3 }) });
  assert.deepEqual(await samples(registry), [
    'azlb_watch_restarts_total{resource="nodes",reason="ended"} 5',
    'azlb_watch_restarts_total{resource="nodes",reason="expired"} 1',
    'azlb_watch_restarts_total{resource="nodes",reason="silent"} 2',
    'azlb_watch_restarts_total{resource="nodes",reason="failed"} 1',
  ]);
  metrics.addWatch("nodes", { stats: () => ({ ...NO_STATS, objects: 3, lists: 1, heardMsAgo: 1_500 }) });
  assert.deepEqual(await samples(registry), [
    'azlb_watch_objects{resource="nodes"} 3',
    'azlb_watch_silence_seconds{resource="nodes"} 1.5',
    'azlb_watch_lists_total{resource="nodes"} 1',
  ]);
});
