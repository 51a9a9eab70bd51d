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
    const submit = (priority: "create" | "drain" = "create"): void => {
      const change = { virtualNetworkId: "", change: { kind: "absent", name: "n" } as const };
      void batcher.submit({ poolId: "pool", change, dedupKey: "o", priority, readFirst: false });
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
