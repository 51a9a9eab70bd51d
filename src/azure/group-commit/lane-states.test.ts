import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { StateMachine, type Transitions } from "../../core/util/state-machine.ts";
import { DRAIN, LANE } from "./lane-states.ts";

type Rows = readonly (readonly [state: string, event: string, next: string])[];

function rowsOf<State extends string, Event extends string>(transitions: Transitions<State, Event>): Rows {
  return Object.entries<Readonly<Record<string, unknown>>>(transitions).flatMap(([state, events]) =>
    Object.entries(events).map(([event, next]) => [state, event, String(next)] as const),
  );
}

function reachable(rows: Rows, start: string): Set<string> {
  const found = new Set([start]);
  for (const state of found) for (const [from, , next] of rows) if (from === state) found.add(next);
  return found;
}

test("every state can be reached, and a lane always comes back to rest", () => {
  assert.deepEqual([...reachable(rowsOf(LANE), "idle")].sort(), Object.keys(LANE).sort());
  for (const state of Object.keys(LANE)) assert.ok(reachable(rowsOf(LANE), state).has("idle"), state);
  assert.deepEqual([...reachable(rowsOf(DRAIN), "readingPart")].sort(), Object.keys(DRAIN).sort());
  for (const state of Object.keys(DRAIN)) {
    const ends = reachable(rowsOf(DRAIN), state);
    assert.ok(ends.has("settled") || ends.has("returned"), state);
  }
});

test("a write that has left is never interrupted, and only what has left can be settled as written", () => {
  assert.equal(LANE.inFlight.interrupted, undefined);
  assert.equal(LANE.awaitingTurn.settled, undefined);
  assert.equal(DRAIN.inFlight.joined, undefined);
});

test("an event without a place in the state is a bug, and an interrupt ends with its state", () => {
  const machine = new StateMachine(LANE, "idle");
  assert.throws(() => machine.on("left"), /"left" has no place in state "idle"/);
  machine.on("submitted", new AbortController());
  assert.ok(machine.interrupt);
  machine.on("windowClosed");
  assert.equal(machine.interrupt, undefined);
});

test("the document shows the same tables", async () => {
  const text = await readFile(new URL("../../../docs/architecture.md", import.meta.url), "utf8");
  const section = /^## Group commit\n(.*?)(?=^## )/ms.exec(text)?.[1] ?? "";
  const rows = [...section.matchAll(/^\| `(\w+)` \| `(\w+)` \| `(\w+)` \|/gm)].map(([, ...row]) => row.join(" "));
  const expected = [...rowsOf(LANE), ...rowsOf(DRAIN)].map((row) => row.join(" "));
  assert.deepEqual(rows, expected);
});
