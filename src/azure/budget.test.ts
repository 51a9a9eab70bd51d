import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../test/support/laws.ts";
import { settled, VirtualClock } from "../../test/support/virtual-clock.ts";
import { AZURE_LIMITS, Budget, type BudgetLimits, type Priority } from "./budget.ts";

const SMALL: BudgetLimits = {
  buckets: {
    reads: { size: 10, perSecond: 1 },
    writes: { size: 10, perSecond: 1 },
    deletes: { size: 10, perSecond: 1 },
  },
  window: { reads: 1_000, changes: 1_000 },
};

function rig(limits: BudgetLimits = SMALL) {
  const clock = new VirtualClock();
  const budget = new Budget(clock, limits);
  const entered: string[] = [];
  const enter = (name: string, priority: Priority = "create", signal?: AbortSignal): Promise<void> =>
    budget.enter("writes", priority, signal).then(() => void entered.push(name));
  return { clock, budget, entered, enter };
}

test("a burst goes at once, the rest at the pace of the refill", async () => {
  const { clock, entered, enter } = rig();
  for (let call = 0; call < 14; call++) void enter(`${call}`, "drain");
  await settled();
  assert.equal(entered.length, 10);
  await clock.advance(2_000);
  assert.equal(entered.length, 12);
  await clock.advance(10_000);
  assert.equal(entered.length, 14);
  assert.equal(clock.timers, 0);
});

test("waiting calls go by priority, equals in the order they came", async () => {
  const { clock, budget, entered, enter } = rig();
  for (let call = 0; call < 10; call++) await budget.enter("writes", "drain");
  void enter("resync", "resync");
  void enter("create 1", "create");
  void enter("delete", "delete");
  void enter("create 2", "create");
  void enter("drain", "drain");
  await clock.advance(60_000);
  assert.deepEqual(entered, ["drain", "delete", "create 1", "create 2", "resync"]);
});

test("the last tokens are kept for what is urgent", async () => {
  const { entered, enter } = rig({ ...SMALL, buckets: { ...SMALL.buckets, writes: { size: 100, perSecond: 1 } } });
  const share = async (priority: Priority): Promise<number> => {
    const before = entered.length;
    for (let call = 0; call < 100; call++) enter(priority, priority).catch(() => {});
    await settled();
    return entered.length - before;
  };
  assert.equal(await share("resync"), 80);
  assert.equal(await share("create"), 15);
  assert.equal(await share("delete"), 2);
  assert.equal(await share("drain"), 3);
});

test("a 429 closes the gate for its kind alone, and for drains too", async () => {
  const { clock, budget, entered, enter } = rig();
  await budget.enter("writes", "create");
  budget.throttled("writes", 30_000);
  void enter("drain", "drain");
  await budget.enter("reads", "resync");
  await clock.advance(29_999);
  assert.deepEqual(entered, []);
  await clock.advance(1);
  assert.deepEqual(entered, ["drain"]);
});

test("after the gate reopens the calls go at the pace of the refill, not in a burst", async () => {
  const { clock, budget, entered, enter } = rig();
  await budget.enter("writes", "create");
  budget.throttled("writes", 3_000);
  for (let call = 0; call < 9; call++) void enter(`${call}`, "drain");
  await clock.advance(3_000);
  assert.equal(entered.length, 3);
});

test("what the headers grant corrects the estimate, both ways", async () => {
  const { budget } = rig();
  const entry = await budget.enter("writes", "create");
  budget.answered("writes", entry, 5);
  assert.equal(budget.tokens("writes"), 5);
  budget.answered("writes", entry, 500);
  assert.equal(budget.tokens("writes"), 500);
  budget.answered("writes", entry, undefined);
  assert.equal(budget.tokens("writes"), 500);
});

test("what an answer may not know of yet is not granted twice", async () => {
  const { budget } = rig();
  const first = await budget.enter("writes", "create");
  for (let call = 0; call < 4; call++) await budget.enter("writes", "create");
  budget.answered("writes", first, 9);
  assert.equal(budget.tokens("writes"), 5, "as we knew already");
  budget.answered("writes", first, 3);
  assert.equal(budget.tokens("writes"), 3, "others spend as well");
  budget.answered("writes", first, 100);
  assert.equal(budget.tokens("writes"), 96, "there is more than we thought, less four that came later");
});

test("answers that overtake each other never make us ask for more than there is", async () => {
  const delays = fc.array(fc.nat(5_000), { minLength: 5, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(delays, async (answeredAfterMs) => {
      const { clock, budget } = rig();
      let tokens = 10;
      let filledMs = 0;
      const receive = (): number => {
        tokens = Math.min(10, tokens + (clock.monotonicMs() - filledMs) / 1000);
        filledMs = clock.monotonicMs();
        return (tokens -= 1);
      };
      for (const ms of answeredAfterMs) {
        void budget.enter("writes", "drain").then((entry) => {
          const remaining = receive();
          assert.ok(remaining > -1e-6, `Azure's bucket is at ${remaining}`);
          clock.setTimer(ms, () => budget.answered("writes", entry, Math.floor(remaining)));
        });
      }
      await clock.advance(200_000);
    }),
    { numRuns: 50 },
  );
});

test("no more than the network provider allows in any five minutes", async () => {
  const { clock, budget, entered, enter } = rig({
    buckets: { ...SMALL.buckets, writes: { size: 1_000, perSecond: 1_000 } },
    window: { reads: 10, changes: 100 },
  });
  for (let call = 0; call < 99; call++) void enter(`${call}`, "drain");
  await budget.enter("deletes", "drain");
  void enter("late", "drain");
  await clock.advance(299_999);
  assert.equal(entered.length, 99);
  await clock.advance(10_000);
  assert.equal(entered.length, 100);
});

test("whoever gives up leaves the queue", async () => {
  const { clock, budget, entered, enter } = rig();
  for (let call = 0; call < 10; call++) await budget.enter("writes", "drain");
  const abort = new AbortController();
  const waiting = enter("impatient", "drain", abort.signal);
  void enter("patient", "drain");
  abort.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
  assert.equal(budget.waiting("writes"), 1);
  await clock.advance(1_000);
  assert.deepEqual(entered, ["patient"]);
});

test("and leaves no timer behind, which would keep a process that stops", async () => {
  const { clock, budget, enter } = rig();
  for (let call = 0; call < 10; call++) await budget.enter("writes", "drain");
  const abort = new AbortController();
  const waiting = [1, 2].map((each) => enter(`${each}`, "create", abort.signal));
  assert.equal(clock.timers, 1);
  abort.abort(new Error("gone"));
  await Promise.allSettled(waiting);
  assert.equal(clock.timers, 0);
});

test("those who have a public IP get their load balancer while others wait for theirs", async () => {
  const { budget } = rig({ ...SMALL, window: { reads: 1_000, changes: 100 }, buckets: AZURE_LIMITS.buckets });
  let [own, shared] = [0, 0];
  for (let call = 0; call < 100; call++) void budget.enter("writes", "create").then(() => void own++);
  for (let call = 0; call < 100; call++)
    void budget.enter("writes", "create", undefined, true).then(() => void shared++);
  await settled();
  assert.deepEqual([own, shared], [95, 2]);
});

test("whatever is asked, no second sees more than the bucket and its refill", async () => {
  const calls = fc.array(
    fc.record({ atMs: fc.nat(20_000), priority: fc.constantFrom<Priority>("drain", "delete", "create", "resync") }),
    { maxLength: 80 },
  );
  await fc.assert(
    fc.asyncProperty(calls, async (asked) => {
      const { clock, budget } = rig();
      const times: number[] = [];
      for (const { atMs, priority } of asked) {
        clock.setTimer(atMs, () => {
          void budget.enter("writes", priority).then(() => times.push(clock.monotonicMs()));
        });
      }
      await clock.advance(300_000);
      assert.equal(times.length, asked.length, "everyone gets a turn");
      for (const from of times) {
        for (const to of times.filter((time) => time >= from)) {
          const between = times.filter((time) => time >= from && time <= to).length;
          assert.ok(between <= 10 + (to - from) / 1000 + 1e-6, `${between} calls within ${to - from} ms`);
        }
      }
    }),
    { numRuns: 30 },
  );
});

test("an ordinary subscription's figures are Azure's own", () => {
  assert.deepEqual(AZURE_LIMITS.buckets.writes, { size: 200, perSecond: 10 });
  assert.equal(AZURE_LIMITS.window.changes, 1_000);
});
