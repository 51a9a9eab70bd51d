import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../test/support/laws.ts";
import { seededRandom, settled, VirtualClock } from "../../test/support/virtual-clock.ts";
import { WorkQueue, type Job, type Verdict, type WorkQueueOptions } from "./work-queue.ts";

const DONE: Verdict = { kind: "done" };

function queueOf(work: WorkQueueOptions["work"], options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ clock, random: seededRandom(1), workers: 1, work, ...options });
  return { clock, queue };
}

/** A worker that holds each job until the test lets it go. */
function gatedWorker() {
  const started: string[] = [];
  const gates: ((verdict: Verdict) => void)[] = [];
  const work = ({ key }: Job): Promise<Verdict> => {
    started.push(key);
    return new Promise((resolve) => gates.push(resolve));
  };
  return { started, work, release: (verdict: Verdict = DONE) => gates.shift()?.(verdict) };
}

test("a key that is added many times before it runs, runs once", async () => {
  const { started, work, release } = gatedWorker();
  const { queue } = queueOf(work);
  queue.add("a");
  queue.add("b");
  queue.add("b");
  queue.add("a");
  queue.start();
  await settled();
  release();
  await settled();
  release();
  await queue.whenIdle();
  assert.deepEqual(started, ["a", "b"]);
});

test("a key that is added while it runs, runs again afterwards and never beside itself", async () => {
  const { started, work, release } = gatedWorker();
  const { queue } = queueOf(work, { workers: 4 });
  queue.start();
  queue.add("a");
  await settled();
  queue.add("a");
  queue.add("a");
  await settled();
  assert.deepEqual(started, ["a"]);
  release();
  await settled();
  assert.deepEqual(started, ["a", "a"]);
  release();
  await queue.whenIdle();
  assert.equal(queue.stats().runs, 2);
});

test("as many keys run at once as there are workers", async () => {
  const { started, work, release } = gatedWorker();
  const { queue } = queueOf(work, { workers: 3 });
  for (const key of ["a", "b", "c", "d", "e"]) queue.add(key);
  queue.start();
  await settled();
  assert.deepEqual(started, ["a", "b", "c"]);
  assert.deepEqual(queue.stats(), { queued: 2, running: 3, delayed: 0, runs: 0, failures: 0 });
  release();
  await settled();
  assert.deepEqual(started, ["a", "b", "c", "d"]);
});

test("what waits aside keeps no worker, is not begun again meanwhile, and still counts as running", async () => {
  const { started, work, release } = gatedWorker();
  const answers: (() => void)[] = [];
  const hanging = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
  const { queue } = queueOf(async (job) => {
    await queue.aside(job.key, hanging);
    return work(job);
  });
  queue.start();
  for (const key of ["a", "b", "c"]) queue.add(key);
  await settled();
  assert.equal(answers.length, 3, "one worker, three that wait");
  queue.add("a");
  await settled();
  assert.deepEqual([answers.length, queue.stats().running], [3, 3]);
  answers.shift()?.();
  await settled();
  assert.deepEqual(started, ["a"]);
  queue.add("d");
  await settled();
  assert.equal(answers.length, 2, "the worker is busy again");
  release();
  await settled();
  assert.equal(answers.length, 4, "a again, and d");
  for (const answer of answers) answer();
  for (let left = 0; left < 4; left++) {
    await settled();
    release();
  }
  await queue.whenIdle();
  assert.deepEqual(started.toSorted(), ["a", "a", "b", "c", "d"]);
});

test("the more urgent runs first, equals in the order they came, and a second add can only raise a key", async () => {
  const ran: string[] = [];
  const { queue } = queueOf(async ({ key }) => {
    ran.push(key);
    return DONE;
  });
  queue.add("resync", { priority: -1 });
  queue.add("create-1");
  queue.add("create-2");
  queue.add("drain", { priority: 10 });
  queue.add("create-2", { priority: 5 });
  queue.add("drain");
  queue.start();
  await queue.whenIdle();
  assert.deepEqual(ran, ["drain", "create-2", "create-1", "resync"]);
});

test("what is added at once to idle workers still runs by urgency", async () => {
  const { started, work } = gatedWorker();
  const { queue } = queueOf(work);
  queue.start();
  queue.add("resync", { priority: -1 });
  queue.add("drain", { priority: 10 });
  await settled();
  assert.deepEqual(started, ["drain"]);
});

test("groups take turns: 25 keys that are always ready again keep no other group's key waiting for more than one", async () => {
  const ran: string[] = [];
  const groupOf = (key: string): string => key.slice(0, key.indexOf("/"));
  const work = async ({ key }: Job): Promise<Verdict> => {
    ran.push(key);
    await clock.sleep(1_000);
    return key.startsWith("storm/") ? { kind: "again", afterMs: 0 } : DONE;
  };
  const { queue, clock } = queueOf(work, { groupOf });
  for (let i = 0; i < 25; i++) queue.add(`storm/${i}`);
  queue.start();
  await clock.advance(10_500);
  for (const key of ["quiet/a", "quiet/b", "calm/c"]) queue.add(key);
  const before = ran.length;
  await clock.advance(6_000);
  const others = ran.slice(before).map((key) => (key.startsWith("storm/") ? "storm" : key));
  assert.deepEqual(others, ["storm", "quiet/a", "calm/c", "storm", "quiet/b", "storm"]);
  await clock.advance(60_000);
  assert.deepEqual(new Set(ran).size, 28, "within a group all keys get their turn");
});

test("one group never has all workers: a tenth is left to the others, whatever keeps the first", async () => {
  const { started, work, release } = gatedWorker();
  const { queue } = queueOf(work, { groupOf: (key) => key.charAt(0), workers: 20 });
  for (let i = 0; i < 30; i++) queue.add(`a${i}`);
  queue.start();
  await settled();
  assert.equal(started.length, 18);
  for (let i = 0; i < 3; i++) queue.add(`b${i}`);
  await settled();
  assert.deepEqual(started.slice(18), ["b0", "b1"]);
  for (; queue.stats().running > 0; await settled()) release();
  assert.equal(new Set(started).size, 33);
});

test("a more urgent key goes before the turns of the groups, and without groups the order is that of arrival", async () => {
  const ran: string[] = [];
  const work = async ({ key }: Job): Promise<Verdict> => {
    ran.push(key);
    return DONE;
  };
  for (const options of [{ groupOf: (key: string) => key.charAt(0) }, {}]) {
    const { queue } = queueOf(work, options);
    for (const key of ["a1", "a2", "b1"]) queue.add(key);
    queue.add("a3", { priority: 1 });
    queue.start();
    await queue.whenIdle();
  }
  assert.deepEqual(ran, ["a3", "a1", "b1", "a2", "a3", "a1", "a2", "b1"]);
});

test("a delayed key runs when it is due, and at once when it is added without delay", async () => {
  const ranMs: number[] = [];
  const { queue, clock } = queueOf(async () => {
    ranMs.push(clock.monotonicMs());
    return DONE;
  });
  queue.start();
  queue.add("a", { afterMs: 1_000 });
  queue.add("a", { afterMs: 5_000 });
  await clock.advance(999);
  assert.deepEqual(ranMs, []);
  await clock.advance(1);
  assert.deepEqual(ranMs, [1_000]);
  queue.add("a", { afterMs: 60_000 });
  queue.add("a");
  await clock.advance(120_000);
  assert.deepEqual(ranMs, [1_000, 1_000]);
});

test("a failing key waits longer each time, up to the cap, and starts afresh once it succeeds", async () => {
  const ranMs: number[] = [];
  const failuresSeen: number[] = [];
  let failing = true;
  const work = async ({ failures }: Job): Promise<Verdict> => {
    ranMs.push(clock.monotonicMs());
    failuresSeen.push(failures);
    if (failing) throw new Error("not yet");
    return DONE;
  };
  const backoff = { firstMs: 100, capMs: 1_000 };
  const { queue, clock } = queueOf(work, { backoff, random: () => 1 });
  queue.start();
  queue.add("a");
  await clock.advance(4_000);
  assert.deepEqual(ranMs, [0, 100, 300, 700, 1_500, 2_500, 3_500]);
  assert.deepEqual(failuresSeen, [0, 1, 2, 3, 4, 5, 6]);
  failing = false;
  await clock.advance(1_000);
  failing = true;
  queue.add("a");
  await settled();
  assert.equal(failuresSeen.at(-1), 0);
});

test("a verdict chooses its own delay; waiting is no failure", async () => {
  const seen: [atMs: number, failures: number][] = [];
  const verdicts: Verdict[] = [{ kind: "retry", afterMs: 7 }, { kind: "again", afterMs: 20 }, DONE];
  const { queue, clock } = queueOf(async ({ failures }) => {
    seen.push([clock.monotonicMs(), failures]);
    return verdicts.shift()!;
  });
  queue.start();
  queue.add("a");
  await clock.advance(1_000);
  assert.deepEqual(seen, [
    [0, 0],
    [7, 1],
    [27, 0],
  ]);
  assert.equal(clock.timers, 0);
});

test("a worker that throws at once is retried and reported like one that rejects", async () => {
  const errors: string[] = [];
  const work = (): Promise<Verdict> => {
    throw new Error("boom");
  };
  const { queue } = queueOf(work, { onError: (key, error) => errors.push(`${key}: ${String(error)}`) });
  queue.start();
  queue.add("a");
  await settled();
  assert.deepEqual(errors, ["a: Error: boom"]);
  assert.equal(queue.stats().delayed, 1);
});

test("stopping lets what runs finish, starts nothing more and leaves no timer", async () => {
  const { started, work, release } = gatedWorker();
  const { queue, clock } = queueOf(work);
  queue.start();
  queue.add("a");
  queue.add("b");
  queue.add("c", { afterMs: 50 });
  await settled();
  let stopped = false;
  const stopping = queue.stop().then(() => {
    stopped = true;
  });
  await clock.advance(1_000);
  assert.equal(stopped, false);
  release();
  await stopping;
  queue.add("d");
  await clock.advance(100_000);
  assert.deepEqual(started, ["a"]);
  assert.equal(clock.timers, 0);
});

test("stopping aborts what does not finish in time", async () => {
  const { queue, clock } = queueOf(
    ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  queue.start();
  queue.add("a");
  await settled();
  let stopped = false;
  const stopping = queue.stop(5_000).then(() => {
    stopped = true;
  });
  await clock.advance(4_999);
  assert.equal(stopped, false);
  await clock.advance(1);
  await stopping;
});

test("law: whatever comes when, no key runs beside itself, none is forgotten, and workers are never exceeded", async () => {
  const step = fc.record({
    key: fc.constantFrom("a", "b", "c", "d"),
    afterMs: fc.constantFrom(0, 0, 0, 5, 50),
    priority: fc.integer({ min: -1, max: 2 }),
    thenMs: fc.integer({ min: 0, max: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), fc.nat(), runHistory),
    { numRuns: 100 },
  );

  async function runHistory(
    steps: { key: string; afterMs: number; priority: number; thenMs: number }[],
    workers: number,
    seed: number,
  ): Promise<void> {
    const random = seededRandom(seed);
    const addedMs = new Map<string, number>();
    const startedMs = new Map<string, number>();
    const running = new Set<string>();
    const broken: string[] = [];
    const work = async ({ key }: Job): Promise<Verdict> => {
      if (running.has(key)) broken.push(`${key} runs twice at once`);
      running.add(key);
      if (running.size > workers) broken.push("too many workers");
      startedMs.set(key, clock.monotonicMs());
      await clock.sleep(random() * 20);
      running.delete(key);
      if (random() < 0.3) throw new Error("unlucky");
      return random() < 0.2 ? { kind: "again", afterMs: 10 } : DONE;
    };
    const { queue, clock } = queueOf(work, { workers, random, backoff: { firstMs: 1, capMs: 8 } });
    queue.start();
    for (const { key, afterMs, priority, thenMs } of steps) {
      queue.add(key, { afterMs, priority });
      addedMs.set(key, clock.monotonicMs());
      await clock.advance(thenMs);
    }
    await clock.advance(5_000);
    for (const [key, atMs] of addedMs) if ((startedMs.get(key) ?? -1) < atMs) broken.push(`${key} was forgotten`);
    assert.deepEqual(broken, []);
    assert.deepEqual(
      { ...queue.stats(), runs: 0, failures: 0 },
      { queued: 0, running: 0, delayed: 0, runs: 0, failures: 0 },
    );
  }
});
