import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Registry } from "prom-client";

import { meta, record, registered } from "../../../../test/support/lbcf-objects.ts";
import { seededRandom, settled, VirtualClock } from "../../../../test/support/virtual-clock.ts";
import { LbcfMetrics } from "../lbcf-metrics.ts";
import { CallSlots } from "./call-slots.ts";
import { randomUuid } from "./uuid.ts";
import type { WebhookCall } from "./webhook-client.ts";
import { WebhookDriver } from "./webhook-driver.ts";

describe("a webhook driver", () => {
  const setUp = (answer: (call: WebhookCall) => Promise<{ status: number; body: string }>) => {
    const calls: WebhookCall[] = [];
    const driver = new WebhookDriver({
      driver: {
        metadata: meta("driver"),
        spec: { url: "http://driver/prefix/", timeoutsMs: { ensureBackend: 1_500 }, caBundle: btoa("PEM") },
        status: { conditions: [] },
      },
      transport: (call) => {
        calls.push(call);
        return answer(call);
      },
      slots: new CallSlots(),
      metrics: new LbcfMetrics(new Registry()),
      clock: new VirtualClock(),
      random: seededRandom(1),
      backendObjectOf: () => Promise.resolve(undefined),
      fullPods: () => Promise.resolve([]),
    });
    return { driver, calls };
  };
  const succ = { status: 200, body: '{"status":"Succ"}' };

  test("is called at its url, with its own timeouts and authorities", async () => {
    const { driver, calls } = setUp(() => Promise.resolve(succ));
    await driver.ensureBackend(record(registered("a")));
    await driver.deregisterBackend(record(registered("a")));
    assert.deepEqual(
      calls.map(({ url, timeoutMs, ca }) => [url, timeoutMs, ca]),
      [
        ["http://driver/prefix/ensureBackend", 1_500, "PEM"],
        ["http://driver/prefix/deregisterBackend", 10_000, "PEM"],
      ],
    );
  });

  test("has a limit on concurrent calls", async () => {
    let [running, most] = [0, 0];
    const { driver } = setUp(async () => {
      most = Math.max(most, ++running);
      await settled();
      running -= 1;
      return succ;
    });
    await Promise.all(Array.from({ length: 100 }, () => driver.ensureBackend(record(registered("a")))));
    assert.equal(most, 12);
  });

  test("is called although its healthz says no, or drops the connection", async () => {
    for (const health of [
      () => Promise.resolve({ status: 200, body: '{"healthy":false,"msg":"restarting"}' }),
      () => Promise.reject(new Error("other side closed")),
    ]) {
      const { driver } = setUp(({ url }) => (url.endsWith("healthz") ? health() : Promise.resolve(succ)));
      assert.equal((await driver.probe())?.healthy, false);
      assert.equal((await driver.ensureBackend(record(registered("a")))).status, "Succ");
    }
  });

  test("a pod that has changed meanwhile is not asked about", async () => {
    const { driver, calls } = setUp(() => Promise.resolve(succ));
    assert.equal((await driver.generateBackendAddr(record(), "10.0.0.1")).status, "Running");
    assert.deepEqual(calls, []);
  });
});

test("UUIDs are random and well formed", () => {
  const random = seededRandom(7);
  const [one, two] = [randomUuid(random), randomUuid(random)];
  assert.match(one, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.notEqual(one, two);
});
