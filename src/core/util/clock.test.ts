import assert from "node:assert/strict";
import { test } from "node:test";
import { unlessAborted, DecisionTurns } from "./clock.ts";
import { realClock } from "../../main/real-clock.ts";

test("unlessAborted rejects once the signal is aborted", async () => {
  const abort = new AbortController();
  const never = unlessAborted(() => new Promise(() => {}), abort.signal);
  assert.equal(await unlessAborted(() => Promise.resolve(1), abort.signal), 1);
  abort.abort(new Error("enough"));
  await assert.rejects(never, /enough/);
});

test("unlessAborted does not begin work under an aborted signal, since its failure would be unhandled", async () => {
  let isBegun = false;
  const work = (): Promise<void> => {
    isBegun = true;
    return Promise.reject(new Error("unhandled"));
  };
  await assert.rejects(unlessAborted(work, AbortSignal.abort(new Error("enough"))), /enough/);
  assert.equal(isBegun, false);
});

test("each decision has a turn of the event loop of its own, in the order they came", async () => {
  let turn = 0;
  const count = (): NodeJS.Immediate => setImmediate(() => ((turn += 1), (counting = count())));
  let counting = count();
  const turns = new DecisionTurns(realClock);
  const seen: { number: number; turn: number }[] = [];
  const decide = async (number: number): Promise<void> => {
    await turns.next();
    seen.push({ number, turn });
  };
  await Promise.all([1, 2, 3, 4, 5].map(decide));
  await decide(6);
  clearImmediate(counting);
  assert.deepEqual(
    seen.map(({ number }) => number),
    [1, 2, 3, 4, 5, 6],
  );
  assert.equal(new Set(seen.slice(0, 5).map((each) => each.turn)).size, 5);
});
