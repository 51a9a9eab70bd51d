import assert from "node:assert/strict";
import { test } from "node:test";

import type { OperationKind } from "../model/contract.ts";
import { latencyDraws, parseLatencyFactor } from "./latency.ts";

const LB_PUT: OperationKind = { type: "Microsoft.Network/loadBalancers", verb: "PUT", weight: 0, bare: false };
const PIP_PUT: OperationKind = { ...LB_PUT, type: "Microsoft.Network/publicIPAddresses" };
const POOL_PUT: OperationKind = { ...LB_PUT, type: "Microsoft.Network/loadBalancers/backendAddressPools" };

function replies(factor: number, seed: number, count: number): number[] {
  const latency = latencyDraws(() => factor, seed);
  return Array.from({ length: count }, () => latency.replyMs(LB_PUT));
}

function quantile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN;
}

test("realistic load balancer replies have the recorded median, 90th percentile and maximum", () => {
  const seen = replies(1, 7, 4000);
  assert.ok(Math.abs(quantile(seen, 0.5) - 3000) < 150, `median ${quantile(seen, 0.5)}`);
  assert.ok(Math.abs(quantile(seen, 0.9) - 6000) < 400, `p90 ${quantile(seen, 0.9)}`);
  assert.ok(Math.max(...seen) <= 7000);
});

test("the same seed repeats, another differs, and kinds do not disturb each other", () => {
  assert.deepEqual(replies(1, 7, 50), replies(1, 7, 50));
  assert.notDeepEqual(replies(1, 7, 50), replies(1, 8, 50));
  const disturbed = latencyDraws(() => 1, 7);
  const seen = Array.from({ length: 50 }, () => {
    disturbed.replyMs(PIP_PUT);
    return disturbed.replyMs(LB_PUT);
  });
  assert.deepEqual(seen, replies(1, 7, 50));
});

test("one factor scales replies, tails and Retry-After; a wait below a second is left out", () => {
  const full = latencyDraws(() => 1, 3);
  const tenth = latencyDraws(() => 0.1, 3);
  assert.equal(tenth.replyMs(LB_PUT), Math.round(full.replyMs(LB_PUT) / 10));
  assert.equal(tenth.tailMs(LB_PUT), Math.round(full.tailMs(LB_PUT) / 10));
  assert.equal(full.retryAfterSeconds(LB_PUT), 10);
  assert.equal(tenth.retryAfterSeconds(LB_PUT), 1);
  assert.equal(full.retryAfterSeconds(PIP_PUT), 3);
  assert.equal(tenth.retryAfterSeconds(PIP_PUT), undefined);
});

test("no latency means no reply time, no tail, no Retry-After", () => {
  const none = latencyDraws(() => 0, 3);
  assert.equal(none.replyMs(LB_PUT), 0);
  assert.equal(none.tailMs(LB_PUT), 0);
  assert.equal(none.pollReplyMs(), 0);
  assert.equal(none.retryAfterSeconds(LB_PUT), undefined);
});

test("a bare resource has no tail; members of a pool lengthen it by a second per hundred", () => {
  const latency = latencyDraws(() => 1, 3);
  assert.equal(latency.tailMs({ ...LB_PUT, bare: true }), 0);
  const few = latencyDraws(() => 1, 3).tailMs(POOL_PUT);
  const many = latencyDraws(() => 1, 3).tailMs({ ...POOL_PUT, weight: 500 });
  assert.equal(many - few, 5000);
});

test("about one operation in twenty has a tail of ten to thirty seconds", () => {
  const latency = latencyDraws(() => 1, 11);
  const tails = Array.from({ length: 4000 }, () => latency.tailMs(LB_PUT));
  const slow = tails.filter((tail) => tail >= 10_000);
  assert.ok(slow.length > 120 && slow.length < 280, `${slow.length} of 4000`);
  assert.ok(Math.max(...tails) <= 30_000);
});

test("the option is none, realistic or a factor", () => {
  assert.equal(parseLatencyFactor("none"), 0);
  assert.equal(parseLatencyFactor("realistic"), 1);
  assert.equal(parseLatencyFactor("0.1"), 0.1);
  for (const wrong of ["", "fast", "-1", "1e3", "0.1x"]) assert.equal(parseLatencyFactor(wrong), undefined, wrong);
});
