/** The small parts of LBCF's shell: who waits for whom, and for how long. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Registry } from "prom-client";

import { settled, seededRandom, VirtualClock } from "../../../test/support/virtual-clock.ts";
import { meta, record, registered } from "../../../test/support/lbcf-objects.ts";
import type { GroupCommit } from "../../azure/group-commit/group-commit.ts";
import { AddressLock } from "./records/address-lock.ts";
import { BackendBatcher } from "./azure/backend-batcher.ts";
import { LbcfMetrics } from "./lbcf-metrics.ts";
import { ConcurrencyLimit } from "./concurrency-limit.ts";
import { randomUuid } from "./drivers/uuid.ts";
import { type WebhookCall, WebhookDriver } from "./drivers/webhook-driver.ts";

test("a limit lets in so many at a time, in order, also after a failure", async () => {
  const limit = new ConcurrencyLimit(2);
  const begun: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const jobs = [0, 1, 2, 3].map((at) =>
    limit.run(() => {
      begun.push(at);
      return new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve())));
    }),
  );
  await settled();
  assert.deepEqual(begun, [0, 1]);
  ends[0]?.(new Error("x"));
  await assert.rejects(jobs[0] ?? Promise.resolve());
  await settled();
  assert.deepEqual(begun, [0, 1, 2]);
  ends[1]?.();
  ends[2]?.();
  await settled();
  assert.deepEqual(begun, [0, 1, 2, 3]);
});

describe("the address guard", () => {
  test("registers side by side, deregisters alone, and wakes whom it turned away", () => {
    const woken: string[] = [];
    const guard = new AddressLock((key) => woken.push(key));
    const [one, two] = [guard.enter("a", "ensure", "r1"), guard.enter("a", "ensure", "r2")];
    assert.ok(one && two);
    assert.equal(guard.enter("a", "deregister", "r3"), undefined);
    assert.ok(guard.enter("b", "deregister", "r4"), "another address is another matter");
    one();
    assert.deepEqual(woken, []);
    two();
    assert.deepEqual(woken, ["r3"]);
    const alone = guard.enter("a", "deregister", "r3");
    assert.ok(alone);
    assert.equal(guard.enter("a", "ensure", "r1"), undefined);
    assert.equal(guard.enter("a", "deregister", "r5"), undefined);
    alone();
    assert.deepEqual(woken, ["r3", "r1", "r5"]);
  });
});

describe("the batcher", () => {
  const setUp = () => {
    const clock = new VirtualClock();
    const submitted: number[] = [];
    const commit = {
      submit: () => {
        submitted.push(clock.monotonicMs());
        return Promise.resolve({ kind: "unchanged", body: null, warnings: [] });
      },
    } as unknown as GroupCommit;
    const batcher = new BackendBatcher(commit, clock);
    const submit = (priority: "create" | "drain" = "create"): void => {
      const change = { owner: "o", virtualNetworkId: "", change: { kind: "absent", name: "n" } as const };
      void batcher.submit({ poolId: "pool", change, priority, afresh: false });
    };
    return { clock, submitted, submit };
  };

  test("a quiet pool is written soon, a stream of changes in ever larger portions", async () => {
    const { clock, submitted, submit } = setUp();
    for (let at = 0; at < 600; at++) {
      submit();
      await clock.advance(50);
    }
    await clock.advance(10_000);
    assert.equal(submitted.length, 600);
    const writes = [...new Set(submitted)];
    assert.ok((writes[0] ?? 0) <= 50, String(writes[0]));
    assert.ok(writes.length <= 14, writes.join());
  });

  test("after a pause it is quick again", async () => {
    const { clock, submitted, submit } = setUp();
    for (let at = 0; at < 100; at++) {
      submit();
      await clock.advance(100);
    }
    await clock.advance(60_000);
    const beforeMs = clock.monotonicMs();
    submit();
    await clock.advance(1_000);
    assert.ok((submitted.at(-1) ?? 0) - beforeMs <= 50);
  });

  test("what is urgent waits for nobody", async () => {
    const { clock, submitted, submit } = setUp();
    submit();
    submit("drain");
    await settled();
    assert.deepEqual(submitted, [0]);
    await clock.advance(1_000);
    assert.equal(submitted.length, 2);
  });
});

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

  test("is never called by more than so many at a time", async () => {
    let [running, most] = [0, 0];
    const { driver } = setUp(async () => {
      most = Math.max(most, ++running);
      await settled();
      running -= 1;
      return succ;
    });
    await Promise.all(Array.from({ length: 100 }, () => driver.ensureBackend(record(registered("a")))));
    assert.equal(most, 16);
  });

  test("is left alone while it is not healthy", async () => {
    let health = '{"healthy":false,"msg":"restarting"}';
    const { driver, calls } = setUp(({ url }) =>
      Promise.resolve(url.endsWith("healthz") ? { status: 200, body: health } : succ),
    );
    await driver.probe();
    const answer = await driver.ensureBackend(record(registered("a")));
    assert.deepEqual([answer.status, calls.length], ["Error", 1]);
    assert.match(answer.msg, /restarting/);
    health = '{"healthy":true}';
    await driver.probe();
    assert.equal((await driver.ensureBackend(record(registered("a")))).status, "Succ");
  });

  test("a pod that has changed meanwhile is not asked about", async () => {
    const { driver, calls } = setUp(() => Promise.resolve(succ));
    assert.equal((await driver.generateBackendAddr(record(), "10.0.0.1")).status, "Running");
    assert.deepEqual(calls, []);
  });
});

test("identifiers are random, and look like it", () => {
  const random = seededRandom(7);
  const [one, two] = [randomUuid(random), randomUuid(random)];
  assert.match(one, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.notEqual(one, two);
});
