/** What the benchmark of drains counts as the controller's own share. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { AuditEntry } from "../../../bench/support/azure-control.ts";
import { drainSamples } from "../../../bench/drain/drain-samples.ts";

const LB = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/kubernetes";
const START_MS = Date.UTC(2026, 0, 1);

function call(
  verb: "PUT" | "GET",
  path: string,
  atMs: number,
  more: { durationMs?: number; down?: string } = {},
): AuditEntry {
  const path0 = `properties.backendAddressPools[kubernetes].properties.loadBalancerBackendAddresses[${more.down}].properties.adminState`;
  return {
    sequence: 0,
    time: new Date(START_MS + atMs).toISOString(),
    method: verb,
    path,
    type: null,
    verb,
    poll: false,
    status: 200,
    durationMs: more.durationMs ?? 10,
    operationMs: null,
    diff: more.down === undefined ? [] : [{ changes: [{ path: path0, after: "Down" }] }],
  };
}

const TAINTS = new Map([["n1", { writtenMs: START_MS + 400, heardMs: START_MS + 400 }]]);
const POOL = `${LB}/backendAddressPools/kubernetes`;

function sample(...before: AuditEntry[]) {
  const entries = [...before, call("PUT", POOL, 1_000, { down: "n1" })];
  const [only] = drainSamples(entries, [], TAINTS);
  return only && { totalMs: only.totalMs, waitedMs: only.waitedMs, ownMs: only.ownMs };
}

test("with nothing in flight all of it is the controller's own", () => {
  assert.deepEqual(sample(), { totalMs: 600, waitedMs: 0, ownMs: 600 });
});

test("what the API server takes to tell a watcher is not the controller's, unless it waited for a write anyway", () => {
  const put = call("PUT", POOL, 1_000, { down: "n1" });
  const sampleOf = (heardMs: number, ...before: AuditEntry[]) => {
    const taint = { writtenMs: START_MS + 400, heardMs: START_MS + heardMs };
    const [only] = drainSamples([...before, put], [], new Map([["n1", taint]]));
    return [only?.newsMs, only?.waitedMs, only?.ownMs];
  };
  assert.deepEqual(sampleOf(450), [50, 0, 550]);
  assert.deepEqual(sampleOf(450, call("PUT", LB, 100), call("GET", LB, 950, { durationMs: 20 })), [50, 570, 30]);
  assert.deepEqual(sampleOf(1_010), [600, 0, 0], "heard of by ours after it had come");
});

test("a write in flight ends when its result was read, and only the wait after the taint counts", () => {
  const flight = [call("PUT", LB, 100, { durationMs: 200 }), call("GET", LB, 950, { durationMs: 20 })];
  assert.deepEqual(sample(...flight), { totalMs: 600, waitedMs: 570, ownMs: 30 });
});

test("the result was read when it had come", () => {
  const entries = [call("PUT", LB, 100), call("GET", LB, 950), call("PUT", POOL, 1_000, { down: "n1" })];
  const came = (path: string, ms: number) => ({ kind: "GET answered" as const, path, atMs: START_MS + ms });
  const traffic = [came(LB, 700), came(POOL, 970), came(LB, 985)];
  const [only] = drainSamples(entries, traffic, TAINTS);
  assert.deepEqual([only?.waitedMs, only?.ownMs], [585, 15]);
});

test("a write that was over before the taint, or that left after it, excuses nothing", () => {
  const over = [call("PUT", LB, 100), call("GET", LB, 200)];
  const after = [call("PUT", LB, 500), call("GET", LB, 900)];
  assert.deepEqual(sample(...over, ...after), { totalMs: 600, waitedMs: 0, ownMs: 600 });
});

test("nor does one of another load balancer", () => {
  const other = [call("PUT", `${LB}-internal`, 100), call("GET", `${LB}-internal`, 990)];
  assert.equal(sample(...other)?.waitedMs, 0);
});

test("what it took after the write had left is not the controller's", () => {
  const entries = [call("PUT", POOL, 1_000, { down: "n1" })];
  const sampleOf = (...leftMs: number[]) => {
    const traffic = leftMs.map((ms) => ({ kind: "PUT left" as const, path: POOL, atMs: START_MS + ms }));
    const [only] = drainSamples(entries, traffic, TAINTS);
    return [only?.underWayMs, only?.ownMs];
  };
  assert.deepEqual(sampleOf(700, 980, 2_001), [20, 580]);
  assert.deepEqual(sampleOf(700, 1_001), [0, 600], "noted after it was received");
});
