import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { settled, VirtualClock } from "../../../test/support/virtual-clock.ts";
import { Budget } from "./budget.ts";
import { AZURE_LIMITS, type BudgetLimits, type Priority, shareOf } from "./limits.ts";

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
    budget.enter("writes", priority, { signal }).then((entry) => {
      entered.push(name);
      budget.answered("writes", entry);
    });
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
  for (let call = 0; call < 10; call++) budget.answered("writes", await budget.enter("writes", "drain"));
  void enter("resync", "resync");
  void enter("create 1", "create");
  void enter("delete", "delete");
  void enter("create 2", "create");
  void enter("drain", "drain");
  await clock.advance(60_000);
  assert.deepEqual(entered, ["drain", "delete", "create 1", "create 2", "resync"]);
});

test("namespaces take turns: many calls of one delay a call of another by one turn; drains and deletes stay first", async () => {
  const { clock, budget } = rig();
  for (let call = 0; call < 10; call++) budget.answered("writes", await budget.enter("writes", "drain"));
  const entered: string[] = [];
  const enter = (name: string, priority: Priority, namespace?: string): void =>
    void budget.enter("writes", priority, { namespace }).then((entry) => {
      entered.push(name);
      budget.answered("writes", entry);
    });
  for (let call = 1; call <= 25; call++) enter(`storm ${call}`, "create", "storm");
  await clock.advance(1_500);
  assert.deepEqual(entered, ["storm 1"]);
  for (const name of ["quiet 1", "quiet 2"]) enter(name, "create", "quiet");
  enter("of several", "create");
  enter("drain", "drain");
  enter("storm delete", "delete", "storm");
  await clock.advance(8_000);
  assert.deepEqual(entered.slice(1), [
    "drain",
    "storm delete",
    "quiet 1",
    "of several",
    "storm 2",
    "quiet 2",
    "storm 3",
    "storm 4",
  ]);
  await clock.advance(60_000);
  assert.equal(entered.length, 30);
});

test("a namespace at a closed gate takes no turn", async () => {
  const world = rig();
  const { clock, budget } = world;
  const entered: string[] = [];
  const enter = (namespace: string, type: string): void =>
    void budget.enter("writes", "create", { namespace, type }).then((entry) => {
      entered.push(namespace);
      budget.answered("writes", entry);
    });
  for (let call = 0; call < 7; call++) budget.answered("writes", await budget.enter("writes", "drain"));
  await throttle(world, 30_000, PIPS);
  for (const namespace of ["closed", "one", "one", "other"])
    enter(namespace, namespace === "closed" ? PIPS : BALANCERS);
  await clock.advance(20_000);
  assert.deepEqual(entered, ["one", "other", "one"]);
  await clock.advance(10_000);
  assert.deepEqual(entered.at(-1), "closed");
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

const PIPS = "Microsoft.Network/publicIPAddresses";
const BALANCERS = "Microsoft.Network/loadBalancers";

/** A write got a 429. */
async function throttle({ budget }: ReturnType<typeof rig>, retryAfterMs: number, type?: string): Promise<void> {
  budget.throttled("writes", await budget.enter("writes", "create"), retryAfterMs, type);
}

test("a 429 of the subscription closes the gate for its kind alone, until Retry-After", async () => {
  const world = rig();
  const { clock, budget, entered, enter } = world;
  await throttle(world, 30_000);
  void enter("delete", "delete");
  await budget.enter("reads", "resync");
  await clock.advance(29_999);
  assert.deepEqual(entered, []);
  await clock.advance(1);
  assert.deepEqual(entered, ["delete"]);
});

test("a 429 of a provider closes the gate for its resource type alone, whatever waits in front", async () => {
  const world = rig();
  const { clock, budget } = world;
  const entered: string[] = [];
  await throttle(world, 30_000, PIPS);
  void budget.enter("writes", "delete", { type: PIPS }).then(() => entered.push("public IP"));
  void budget.enter("writes", "create", { type: BALANCERS }).then(() => entered.push("load balancer"));
  await settled();
  assert.deepEqual(entered, ["load balancer"]);
  assert.equal(budget.tokens("writes"), 8, "the bucket of the subscription is not empty");
  await clock.advance(30_000);
  assert.deepEqual(entered, ["load balancer", "public IP"]);
  assert.equal(clock.timers, 0);
});

test("no Retry-After is kept for longer than five minutes", async () => {
  const world = rig();
  const { clock, entered, enter } = world;
  await throttle(world, 3_600_000);
  void enter("create");
  await clock.advance(299_999);
  assert.deepEqual(entered, []);
  await clock.advance(1);
  assert.deepEqual(entered, ["create"]);
});

test("a drain is let in at a closed gate, at once and then every five seconds, and no other call with it", async () => {
  const world = rig();
  const { clock, budget, entered, enter } = world;
  await throttle(world, 60_000);
  for (const name of ["1", "2", "3"]) void enter(`drain ${name}`, "drain");
  void enter("create");
  await clock.advance(1_000);
  assert.deepEqual(entered, ["drain 1"], "as soon as there is a token");
  await clock.advance(4_999);
  assert.deepEqual(entered, ["drain 1"]);
  await clock.advance(5_001);
  assert.deepEqual(entered, ["drain 1", "drain 2", "drain 3"]);
  budget.throttled("writes", await budget.enter("reads", "drain"), 60_000);
  void enter("drain 4", "drain");
  await clock.advance(4_999);
  assert.equal(entered.length, 3, "another 429 does not let it in sooner");
  await clock.advance(1);
  assert.equal(entered.at(-1), "drain 4");
});

test("a call that Azure's throttling holds back is told so, once for each 429", async () => {
  const world = rig();
  const { clock, budget } = world;
  const held: number[] = [];
  const onHeld = (waitMs: number): void => void held.push(waitMs);
  await throttle(world, 30_000, PIPS);
  void budget.enter("writes", "create", { type: PIPS, onHeld });
  void budget.enter("writes", "create", { type: BALANCERS, onHeld: () => assert.fail("it is not held back") });
  await settled();
  assert.deepEqual(held, [30_000]);
  await clock.advance(10_000);
  await throttle(world, 40_000, PIPS);
  assert.deepEqual(held, [30_000, 40_000]);
});

test("after the gate reopens the calls go at the pace of the refill, not in a burst", async () => {
  const { clock, budget, entered, enter } = rig();
  budget.throttled("writes", await budget.enter("writes", "create"), 3_000);
  for (let call = 0; call < 9; call++) void enter(`${call}`, "drain");
  await clock.advance(3_000);
  assert.equal(entered.length, 3);
});

test("what the headers grant corrects the estimate, both ways", async () => {
  const { budget } = rig();
  const one = await budget.enter("writes", "create");
  budget.answered("writes", one, 5);
  assert.equal(budget.tokens("writes"), 5);
  const two = await budget.enter("writes", "create");
  budget.answered("writes", two, 500);
  assert.equal(budget.tokens("writes"), 500);
  const three = await budget.enter("writes", "create");
  budget.answered("writes", three);
  assert.equal(budget.tokens("writes"), 499);
});

test("what an answer may not know of yet is not granted twice", async () => {
  const { budget } = rig();
  const entries = [];
  for (let call = 0; call < 5; call++) entries.push(await budget.enter("writes", "drain"));
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = entries;
  budget.answered("writes", third, 9);
  assert.equal(budget.tokens("writes"), 5, "less two before it that are under way, and two after it");
  budget.answered("writes", fifth, 5);
  assert.equal(budget.tokens("writes"), 2, "three are under way");
  budget.answered("writes", first, 7);
  assert.equal(budget.tokens("writes"), 3, "an old answer: four were let in since");
  budget.answered("writes", second, 6);
  budget.answered("writes", fourth, 6);
  assert.equal(budget.tokens("writes"), 5);
});

test("law: whatever overtakes what, Azure is never asked for more than its bucket holds", async () => {
  const delay = fc.record({ thereMs: fc.nat(4_000), backMs: fc.nat(4_000) });
  await fc.assert(
    fc.asyncProperty(fc.array(delay, { minLength: 5, maxLength: 60 }), async (delays) => {
      const { clock, budget } = rig();
      let tokens = 10;
      let filledMs = 0;
      let least = 10;
      const receive = (): number => {
        tokens = Math.min(10, tokens + (clock.monotonicMs() - filledMs) / 1000) - 1;
        filledMs = clock.monotonicMs();
        least = Math.min(least, tokens);
        return Math.max(0, Math.floor(tokens));
      };
      let answers = 0;
      const travel = async (thereMs: number, backMs: number): Promise<void> => {
        const entry = await budget.enter("writes", "drain");
        await clock.sleep(thereMs);
        const remaining = receive();
        await clock.sleep(backMs);
        budget.answered("writes", entry, remaining);
        answers += 1;
      };
      for (const { thereMs, backMs } of delays) void travel(thereMs, backMs);
      await clock.advance(3_600_000);
      assert.equal(answers, delays.length, "every call gets a turn");
      assert.ok(least > -1e-6, `Azure's bucket was at ${least}`);
    }),
    { numRuns: 200 },
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

test("a call that is given up leaves the queue", async () => {
  const { clock, budget, entered, enter } = rig();
  for (let call = 0; call < 10; call++) budget.answered("writes", await budget.enter("writes", "drain"));
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
  for (let call = 0; call < 10; call++) budget.answered("writes", await budget.enter("writes", "drain"));
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
    void budget.enter("writes", "create", { isAhead: true }).then(() => void shared++);
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
          void budget.enter("writes", priority).then((entry) => {
            times.push(clock.monotonicMs());
            budget.answered("writes", entry);
          });
        });
      }
      await clock.advance(300_000);
      assert.equal(times.length, asked.length, "every call gets a turn");
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

test("a share of the budget stays a share, however much the headers grant, and yields where they grant little", async () => {
  const clock = new VirtualClock();
  const budget = new Budget(clock, shareOf(AZURE_LIMITS, 0.05));
  let entered = 0;
  const call = async (remaining: number): Promise<void> => {
    const entry = await budget.enter("reads", "create");
    entered += 1;
    budget.answered("reads", entry, remaining);
  };
  for (let at = 0; at < 1_000; at++) void call(249);
  await clock.advance(60_000);
  assert.ok(entered <= 12.5 + 60 * 1.25 && entered >= 60 * 1.25, `${entered} calls in a minute`);
  await clock.advance(240_000);
  assert.ok(entered <= 500, `${entered} calls in five minutes`);
  await clock.advance(900_000);
  await call(20);
  assert.equal(budget.tokens("reads"), 1);
});

test("a gate that opens while the budget looks at it lets every call through", async () => {
  for (let leftMs = 0.1; leftMs < 8; leftMs += 0.1) {
    const clock = new VirtualClock(undefined, 0.3);
    const budget = new Budget(clock, SMALL);
    budget.throttled("writes", await budget.enter("writes", "create"), 2_000);
    let entered = 0;
    const enter = (): void =>
      void budget.enter("writes", "create").then((entry) => {
        entered += 1;
        budget.answered("writes", entry);
      });
    enter();
    await clock.advance(2_000 - leftMs);
    enter();
    await clock.advance(60_000);
    assert.deepEqual([entered, clock.timers], [2, 0], `${leftMs} ms before it opens`);
  }
});
