/** What a newer write inherits from the one whose place it takes, how often a batch steps back, and whose turn it is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LB } from "../../../test/support/commit-rig.ts";
import { LIST, wanted } from "../../../test/support/shared-list.ts";
import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import type { Priority } from "../budget/limits.ts";
import { plainFailure } from "../arm/failures.ts";
import { CommitQueue, type Batch } from "./commit-queue.ts";
import { splitBatch } from "./split-batch.ts";
import type { Ticket } from "./write-kind.ts";

function ticket(dedupKey: string, priority: Priority = "create", readFirst = false, sinceMs = 0): Ticket {
  return LIST.open({ id: LB, kind: LIST, fragment: wanted(dedupKey, 1), dedupKey, priority, readFirst }, sinceMs)[0];
}

/** `namespace/name` */
function ticketOf(dedupKey: string): Ticket {
  const [namespace] = dedupKey.split("/");
  return LIST.open(
    { id: LB, kind: LIST, fragment: wanted(dedupKey, 1), dedupKey, priority: "create", namespace },
    0,
  )[0];
}

const keys = (tickets: readonly Ticket[]): (string | undefined)[] => tickets.map(({ dedupKey }) => dedupKey);

function taken(queue: CommitQueue): Batch {
  return queue.take() ?? assert.fail("nothing waits");
}

test("a newer write takes the place of the older one with the same key, on the stricter terms of the two", () => {
  const queue = new CommitQueue(new VirtualClock());
  queue.add(ticket("a", "drain", true, 1));
  queue.add(ticket("a", "create", false, 2));
  queue.add(ticket("b"));
  const { tickets } = taken(queue);
  assert.deepEqual(
    tickets.map(({ dedupKey, priority, readFirst, sinceMs }) => [dedupKey, priority, readFirst, sinceMs]),
    [
      ["a", "drain", true, 1],
      ["b", "create", false, 0],
    ],
  );
});

test("a drain steps back twice, also when newer ones with the same key take its place", () => {
  const queue = new CommitQueue(new VirtualClock());
  queue.add(ticket("node", "drain"));
  for (let times = 0; times < 2; times++) {
    const batch = taken(queue);
    assert.ok(batch.mayStepBack);
    queue.add(ticket("node", "drain"));
    queue.stepBack(batch);
  }
  const batch = taken(queue);
  assert.equal(batch.tickets.length, 1);
  assert.equal(batch.mayStepBack, false);
});

test("other writes step back for drains until they have waited for a minute", async () => {
  const clock = new VirtualClock();
  const queue = new CommitQueue(clock);
  queue.add(ticket("a"));
  for (let times = 0; times < 5; times++) {
    const batch = taken(queue);
    assert.ok(batch.mayStepBack);
    queue.stepBack(batch);
  }
  await clock.advance(60_000);
  assert.equal(taken(queue).mayStepBack, false);
});

test("batches that are set apart for one namespace take turns with what another namespace asks for", () => {
  const queue = new CommitQueue(new VirtualClock());
  for (let at = 0; at < 8; at++) queue.add(ticketOf(`storm/${at}`));
  const refused = taken(queue).tickets;
  queue.setApart([refused.slice(0, 4), refused.slice(4)]);
  queue.add(ticketOf("quiet/a"));
  assert.deepEqual(keys(taken(queue).tickets), ["quiet/a"]);
  assert.deepEqual(keys(taken(queue).tickets), ["storm/0", "storm/1", "storm/2", "storm/3"]);
  queue.add(ticketOf("quiet/b"));
  assert.deepEqual(keys(taken(queue).tickets), ["quiet/b"]);
  assert.deepEqual(keys(taken(queue).tickets), ["storm/4", "storm/5", "storm/6", "storm/7"]);
});

test("writes that wait for their retry keep no other namespace's waiting, and go with them when they are due", async () => {
  const clock = new VirtualClock();
  const queue = new CommitQueue(clock);
  const failed = ticketOf("storm/a");
  failed.retryAtMs = 10_000;
  queue.putBack([failed]);
  queue.add(ticketOf("storm/b"));
  queue.add(ticketOf("quiet/a"));
  assert.deepEqual(keys(taken(queue).tickets), ["quiet/a"]);
  assert.equal(queue.take(), undefined);
  assert.equal(queue.waitMs, 10_000);
  await clock.advance(10_000);
  queue.add(ticketOf("quiet/b"));
  assert.deepEqual(keys(taken(queue).tickets), ["storm/a", "storm/b", "quiet/b"]);
  assert.equal(queue.waitMs, undefined);
});

test("a refused batch is taken apart by namespace before it is by halves, the namespace with fewer writes first", () => {
  const batch = ["storm/a", "storm/b", "quiet/c", "storm/d"].map(ticketOf);
  const refusal = plainFailure("busy", "one of them is in the way");
  assert.deepEqual(splitBatch(batch, refusal).map(keys), [["quiet/c"], ["storm/a", "storm/b", "storm/d"]]);
  const storm = batch.filter(({ namespace }) => namespace === "storm");
  assert.deepEqual(splitBatch(storm, refusal).map(keys), [["storm/a", "storm/b"], ["storm/d"]]);
});
