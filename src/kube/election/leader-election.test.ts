/** Several candidates and a small Lease server in one process, under virtual time. */
import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { LeaseServer } from "../../../test/support/lease-server.ts";
import { seededRandom, settled, VirtualClock } from "../../../test/support/virtual-clock.ts";
import type { Clock } from "../../core/util/clock.ts";
import { LostLease, type Fence } from "./lease.ts";
import { KubeClient } from "../client/kube-client.ts";
import { LeaderElection } from "./leader-election.ts";
import { CONFIG_MAPS } from "../client/resources.ts";

interface Candidate {
  readonly stop: AbortController;
  readonly server: LeaseServer;
  readonly outcome: Promise<"stopped" | "lost">;
  fence: Fence | undefined;
}

function candidate(server: LeaseServer, clock: Clock, identity: string, seed = 1): Candidate {
  const stop = new AbortController();
  const client = new KubeClient({ transport: server.linkOf(identity), clock });
  const election = new LeaderElection({
    client,
    clock,
    random: seededRandom(seed),
    namespace: "kube-system",
    name: "azlb-controller",
    identity,
  });
  const made: { fence: Fence | undefined } = { fence: undefined };
  const outcome = election.run(stop.signal, async (fence) => {
    made.fence = fence;
    await new Promise<void>((resolve) => {
      stop.signal.addEventListener("abort", () => resolve());
      fence.signal.addEventListener("abort", () => resolve());
    });
  });
  return Object.assign(made, { stop, server, outcome });
}

const leads = (who: Candidate): boolean => who.fence?.holds() === true;

/** `a` has led for half a minute, and `b` waits. */
async function leaderAndStandby(): Promise<{ clock: VirtualClock; server: LeaseServer; a: Candidate; b: Candidate }> {
  const clock = new VirtualClock();
  const server = LeaseServer.released();
  const a = candidate(server, clock, "a");
  await settled();
  const b = candidate(server, clock, "b", 2);
  await clock.advance(30_000);
  return { clock, server, a, b };
}

test("the first takes a new lease, and renews it with six digits after the point", async () => {
  const clock = new VirtualClock();
  const server = new LeaseServer();
  const a = candidate(server, clock, "a");
  await settled();
  assert.deepEqual(server.lease?.spec, {
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:00:00.000000Z",
    leaseTransitions: 0,
  });
  await clock.advanceUntil(() => leads(a), 20_000);
  await clock.advance(45_000);
  assert.ok(leads(a));
  assert.equal(server.lease?.spec["acquireTime"], "2026-01-01T00:00:00.000000Z");
  assert.match(server.lease?.spec["renewTime"], /^2026-01-01T00:0(0:5|1:0)\d\.\d{6}Z$/);
  a.stop.abort();
  assert.equal(await a.outcome, "stopped");
  assert.equal(clock.timers, 0);
});

test("a second one waits, and takes over at once when the first stops in good order", async () => {
  const clock = new VirtualClock();
  const server = LeaseServer.released();
  const a = candidate(server, clock, "a");
  await settled();
  const b = candidate(server, clock, "b", 2);
  await clock.advance(120_000);
  assert.ok(leads(a) && !leads(b));
  a.stop.abort();
  assert.equal(await a.outcome, "stopped");
  assert.ok(!leads(a));
  assert.equal(server.lease?.spec["holderIdentity"], "");
  assert.ok((await clock.advanceUntil(() => leads(b))) <= 4_400);
  assert.equal(server.lease?.spec["leaseTransitions"], 2);
  b.stop.abort();
  await b.outcome;
});

test("a leader that is cut off stops acting before another begins", async () => {
  const { clock, server, a, b } = await leaderAndStandby();
  server.cut("a");
  const cutMs = clock.monotonicMs();
  await clock.advanceUntil(() => !leads(a), 10_000);
  assert.ok(!leads(b));
  await clock.advanceUntil(() => leads(b), 20_000);
  const takenAfterMs = clock.monotonicMs() - cutMs;
  assert.ok(takenAfterMs >= 13_000 && takenAfterMs <= 20_000, `${takenAfterMs} ms`);
  assert.equal(await a.outcome, "lost");
  b.stop.abort();
  await b.outcome;
});

test("once the lease is lost no write leaves: not a new one, and not one under way", async () => {
  const clock = new VirtualClock();
  const server = LeaseServer.released();
  const a = candidate(server, clock, "a");
  await settled();
  const writer = new KubeClient({ transport: server.linkOf("writer"), clock }).fencedBy(a.fence!);
  const write = () => writer.create(CONFIG_MAPS, { metadata: { name: "x", namespace: "default" } });
  await write();
  assert.equal(server.writes, 1);
  server.freeze("writer");
  const underWay = write();
  server.cut("a");
  const lost = assert.rejects(underWay, LostLease);
  await clock.advance(10_000);
  await lost;
  server.mend("writer");
  await assert.rejects(write(), LostLease);
  assert.equal(server.writes, 1);
  await a.outcome;
});

/** One whose wall or monotonic clock goes on while the other, and its timers, stand. */
function jumpingClock(clock: VirtualClock, clockThatStood: "monotonic" | "wall") {
  let jumpedMs = 0;
  const odd: Clock = {
    nowMs: () => clock.nowMs() + (clockThatStood === "wall" ? 0 : jumpedMs),
    monotonicMs: () => clock.monotonicMs() + (clockThatStood === "monotonic" ? 0 : jumpedMs),
    setTimer: (afterMs, callback) => clock.setTimer(afterMs, callback),
    sleep: (afterMs, signal) => clock.sleep(afterMs, signal),
    nextTurn: () => clock.nextTurn(),
  };
  return { clock: odd, jump: (byMs: number) => void (jumpedMs += byMs) };
}

test("a process that slept through the loss notices it before it writes, whichever clock tells", async () => {
  for (const clockThatStood of ["monotonic", "wall"] as const) {
    const clock = new VirtualClock();
    const odd = jumpingClock(clock, clockThatStood);
    const server = LeaseServer.released();
    const a = candidate(server, odd.clock, "a");
    await settled();
    a.fence!.check();
    odd.jump(60_000); // no timer has fired yet
    assert.throws(() => a.fence!.check(), LostLease);
    assert.equal(a.fence!.signal.aborted, true);
    await a.outcome;
  }
});

test("a process that slept through the loss and writes nothing ends at its next look, and does not renew the lease", async () => {
  const clock = new VirtualClock();
  const odd = jumpingClock(clock, "monotonic");
  const server = LeaseServer.released();
  const a = candidate(server, odd.clock, "a");
  await settled();
  const { writes } = server;
  odd.jump(60_000);
  await clock.advance(2_000);
  assert.equal(a.fence!.signal.aborted, true);
  assert.equal(await a.outcome, "lost");
  assert.equal(server.writes, writes);
});

test("a leader whose lease another has taken gives up at the next look", async () => {
  const clock = new VirtualClock();
  const server = LeaseServer.released();
  const a = candidate(server, clock, "a");
  await settled();
  server.steal("thief");
  await clock.advance(2_000);
  assert.ok(!leads(a));
  assert.equal(await a.outcome, "lost");
});

test("an annotation on the lease does not end a leadership term", async () => {
  const clock = new VirtualClock();
  const server = LeaseServer.released();
  const a = candidate(server, clock, "a");
  await settled();
  server.touch();
  await clock.advance(30_000);
  assert.ok(leads(a));
  a.stop.abort();
  await a.outcome;
});

test("a new lease is led only when a holder that was not seen would have stopped", async () => {
  const clock = new VirtualClock();
  const server = new LeaseServer();
  const a = candidate(server, clock, "a");
  const waitedMs = await clock.advanceUntil(() => leads(a), 20_000);
  assert.ok(waitedMs >= 15_000 && waitedMs < 17_000, `${waitedMs} ms`);
  a.stop.abort();
  await a.outcome;
});

test("a lease that is deleted and taken by another does not make two leaders", async () => {
  const { clock, server, a, b } = await leaderAndStandby();
  server.cut("a"); // it cannot see that the lease is gone
  server.remove();
  await clock.advanceUntil(() => server.lease?.spec["holderIdentity"] === "b", 10_000);
  await clock.advanceUntil(() => !leads(a), 20_000);
  assert.ok(!leads(b), "while a may still write");
  await clock.advanceUntil(() => leads(b), 20_000);
  assert.equal(await a.outcome, "lost");
  b.stop.abort();
  await b.outcome;
});

test("a candidate that ends before it leads does not give a new lease away", async () => {
  const clock = new VirtualClock();
  const server = new LeaseServer();
  const a = candidate(server, clock, "a");
  await settled();
  a.stop.abort();
  assert.equal(await a.outcome, "stopped");
  const b = candidate(server, clock, "b", 2);
  assert.ok((await clock.advanceUntil(() => leads(b), 30_000)) >= 15_000);
  b.stop.abort();
  await b.outcome;
});

test("a holder that a user cleared by hand may still act: the lease is not taken at once", async () => {
  const { clock, server, a, b } = await leaderAndStandby();
  server.cut("a");
  server.steal("");
  await clock.advanceUntil(() => !leads(a), 20_000);
  assert.ok(!leads(b));
  await clock.advanceUntil(() => leads(b), 30_000);
  b.stop.abort();
  await Promise.all([a.outcome, b.outcome]);
});

test("a lease that is deleted is made again by its leader", async () => {
  const clock = new VirtualClock();
  const server = LeaseServer.released();
  const a = candidate(server, clock, "a");
  await settled();
  server.remove();
  await clock.advance(4_000);
  assert.equal(server.lease?.spec["holderIdentity"], "a");
  assert.ok(leads(a));
  a.stop.abort();
  await a.outcome;
});

test("law: whatever is cut, frozen, mended or deleted when, there are never two leaders", async () => {
  const step = fc.record({
    who: fc.constantFrom("a", "b", "c"),
    what: fc.constantFrom("cut", "freeze", "lose", "mend", "mend", "remove" as const),
    thenMs: fc.integer({ min: 0, max: 20_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      const clock = new VirtualClock();
      const server = new LeaseServer();
      const all = new Map(["a", "b", "c"].map((name, seed) => [name, candidate(server, clock, name, seed)]));
      const restartLosers = (): void => {
        for (const [name, { fence }] of all) {
          if (fence?.signal.aborted) all.set(name, candidate(server, clock, name, 9));
        }
      };
      const look = async (forMs: number): Promise<void> => {
        for (let leftMs = forMs; leftMs > 0; leftMs -= 500) {
          await clock.advance(Math.min(500, leftMs));
          const leaders = [...all].filter(([, who]) => leads(who)).map(([name]) => name);
          assert.ok(leaders.length <= 1, `leaders at ${clock.monotonicMs()}: ${leaders.join(", ")}`);
          restartLosers();
        }
      };
      for (const { who, what, thenMs } of steps) {
        server[what](who);
        await look(thenMs);
      }
      for (const name of all.keys()) server.mend(name);
      await look(60_000);
      assert.equal([...all.values()].filter(leads).length, 1, "in the end one leads");
      for (const { stop } of all.values()) stop.abort();
      await clock.advance(60_000);
    }),
    { numRuns: 40 },
  );
});
