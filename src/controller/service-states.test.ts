/** What `/metrics` says of Services that wait. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Registry } from "prom-client";

import { ServiceStates } from "./service-states.ts";

test("states are counted, and the longest wait is told until it is over", async () => {
  const registry = new Registry();
  const states = new ServiceStates(registry);
  let nowMs = 0;
  states.begin({ monotonicMs: () => nowMs, nowMs: () => 1_000_000 + nowMs });
  const figure = async (line: string): Promise<void> =>
    assert.ok((await registry.metrics()).includes(`\n${line}\n`), line);
  states.add("a/1", false);
  nowMs = 60_000;
  states.add("a/2", false);
  states.add("a/1", true);
  states.note("a/1", "failing");
  nowMs = 300_000;
  await figure('azlb_services{state="failing"} 1');
  await figure('azlb_services{state="pending"} 1');
  await figure("azlb_oldest_unserved_service_seconds 300");
  states.note("a/1", "served");
  states.note("a/2", "refused");
  await figure("azlb_oldest_unserved_service_seconds 0");
  await figure('azlb_services{state="refused"} 1');
  states.forget("a/2");
  await figure('azlb_services{state="refused"} 0');
  states.begin({ monotonicMs: () => nowMs, nowMs: () => 1_000_000 + nowMs });
  await figure('azlb_services{state="served"} 0');
});

test("the time to an address is that of Services which had none, once each", async () => {
  const registry = new Registry();
  const states = new ServiceStates(registry);
  let nowMs = 0;
  states.begin({ monotonicMs: () => nowMs, nowMs: () => nowMs });
  const told = async (count: number, sum: number): Promise<void> => {
    const text = await registry.metrics();
    assert.match(text, new RegExp(`azlb_service_time_to_address_seconds_count ${count}\n`));
    assert.match(text, new RegExp(`azlb_service_time_to_address_seconds_sum ${sum}\n`));
  };
  states.add("a/new", false);
  states.add("a/served-before", true);
  nowMs = 4_000;
  states.held("a/new", {}, 1_000);
  states.note("a/new", "failing");
  states.note("a/served-before", "served");
  await told(0, 0);
  nowMs = 7_000;
  states.note("a/new", "served");
  await told(1, 7);
  states.note("a/new", "pending");
  nowMs = 9_000;
  states.note("a/new", "served");
  await told(1, 7);
});
