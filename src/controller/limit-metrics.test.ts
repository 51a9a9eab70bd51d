/** What `/metrics` says of Azure's limits. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Registry } from "prom-client";

import { LimitMetrics, type LimitSource } from "./limit-metrics.ts";

const GATE = { subscription: "s", calls: "writes", tokens: 12, size: 200, waiting: 3, closedForMs: 4_500 };

test("tokens and quotas are told as they are when they are asked for", async () => {
  const registry = new Registry();
  const metrics = new LimitMetrics(registry);
  let quotas: ReturnType<LimitSource["quotas"]> = [{ in: "kubernetes", of: "rules", used: 20, most: 1_500 }];
  metrics.watch({ gates: () => [GATE], quotas: () => quotas });
  const text = await registry.metrics();
  for (const line of [
    'azlb_arm_tokens{subscription="s",calls="writes"} 12',
    'azlb_arm_tokens_limit{subscription="s",calls="writes"} 200',
    'azlb_arm_waiting_requests{subscription="s",calls="writes"} 3',
    'azlb_arm_closed_seconds{subscription="s",calls="writes"} 4.5',
    'azlb_quota_used{resource="kubernetes",quota="rules"} 20',
    'azlb_quota_limit{resource="kubernetes",quota="rules"} 1500',
  ])
    assert.ok(text.includes(`\n${line}\n`), line);
  quotas = [];
  assert.doesNotMatch(await registry.metrics(), /kubernetes/, "a load balancer that is gone is told no more");
});
