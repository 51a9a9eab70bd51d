import assert from "node:assert/strict";
import { test } from "node:test";

import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { RecentMembers } from "./recent-members.ts";

const WINDOW_MS = 1_000;

function recentIn(members: RecentMembers): string[] {
  return [...(members.recent.get("p") ?? [])].sort();
}

test("what a pool had is remembered for the window, unless it left while its node was in service", async () => {
  const clock = new VirtualClock();
  const members = new RecentMembers(clock, WINDOW_MS);
  members.note(new Map([["p", new Set(["moved", "stays", "vanished"])]]));
  members.note(new Map([["p", new Set(["stays"])]]), new Set(["moved", "stays"]));
  assert.deepEqual(recentIn(members), ["stays", "vanished"]);
  members.note(new Map([["p", new Set(["stays"])]]), new Set(["stays"]));
  assert.deepEqual(recentIn(members), ["stays", "vanished"], "a node that vanishes later has left before");
  await clock.advance(WINDOW_MS + 1);
  assert.deepEqual(recentIn(members), []);
});
