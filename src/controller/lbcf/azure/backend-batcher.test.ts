import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { settled, VirtualClock } from "../../../../test/support/virtual-clock.ts";
import { BackendBatcher, type CommitPort } from "./backend-batcher.ts";

describe("the batcher", () => {
  const setUp = () => {
    const clock = new VirtualClock();
    const submitted: number[] = [];
    const commit: CommitPort = {
      submit: () => {
        submitted.push(clock.monotonicMs());
        return Promise.resolve({ kind: "unchanged", body: null, warnings: [] });
      },
    };
    const batcher = new BackendBatcher(commit, clock);
    const submit = (priority: "create" | "drain" = "create", outstanding?: () => number): void => {
      const change = { virtualNetworkId: "", change: { kind: "absent", name: "n" } as const };
      void batcher.submit({ poolId: "pool", change, dedupKey: "o", priority, readFirst: false, outstanding });
    };
    return { clock, submitted, submit };
  };

  test("a quiet pool is written soon, a stream of changes in growing batches", async () => {
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

  test("the last of a stream do not wait for a long window's end", async () => {
    const { clock, submitted, submit } = setUp();
    for (let at = 0; at < 540; at++) {
      submit();
      await clock.advance(50);
    }
    const lastMs = clock.monotonicMs();
    await clock.advance(10_000);
    const tookMs = (submitted.at(-1) ?? 0) - lastMs;
    assert.ok(tookMs <= 2_500, `${tookMs} ms`);
  });

  test("of many that come slowly, each write takes half of what is left, and the last do not wait", async () => {
    const { clock, submitted, submit } = setUp();
    const many = 256;
    for (let at = 0; at < many; at++) {
      submit("create", () => many - submitted.length);
      await clock.advance(100);
    }
    const lastMs = clock.monotonicMs();
    await clock.advance(10_000);
    assert.equal(submitted.length, many);
    const writes = [...new Set(submitted)];
    assert.ok(writes.length <= 8, writes.join());
    assert.ok((submitted.at(-1) ?? 0) - lastMs <= 2_500, writes.join());
  });

  test("those that never come are waited for no longer than twenty seconds", async () => {
    const { clock, submitted, submit } = setUp();
    submit("create", () => 1_000);
    await clock.advance(30_000);
    assert.equal(submitted.length, 1);
    assert.ok((submitted[0] ?? 0) <= 20_100, String(submitted[0]));
  });

  test("what leaves the pool does not wait for those that come", async () => {
    const { clock, submitted, submit } = setUp();
    submit("create", () => 1_000);
    await clock.advance(200);
    submit();
    submit("create", () => 1_000);
    await clock.advance(200);
    assert.equal(submitted.length, 3);
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

  test("a drain does not wait", async () => {
    const { clock, submitted, submit } = setUp();
    submit();
    submit("drain");
    await settled();
    assert.deepEqual(submitted, [0]);
    await clock.advance(1_000);
    assert.equal(submitted.length, 2);
  });
});
