import assert from "node:assert/strict";
import { test } from "node:test";

import type { Log } from "../../core/util/log.ts";
import { logWatchHealth, type WatchHealthCallbacks } from "./log-watch-health.ts";
import { SERVICES } from "../client/resources.ts";

const LOST = { resource: SERVICES, error: new Error("ECONNREFUSED"), retryAfterMs: 200 };
const SAID = "warn cannot follow services: ECONNREFUSED";
const BACK = "info following services again";

interface Heard {
  readonly events: WatchHealthCallbacks;
  readonly said: string[];
  readonly pass: (seconds: number) => void;
}

function listen(): Heard {
  const said: string[] = [];
  const note = (level: string) => (message: string) => void said.push(`${level} ${message}`);
  const log: Log = { info: note("info"), warn: note("warn"), error: note("error") };
  let nowMs = 0;
  const events = logWatchHealth(log, { monotonicMs: () => nowMs }, "services");
  return { events, said, pass: (seconds) => void (nowMs += seconds * 1_000) };
}

test("an outage is said once, then once a minute, and so is its end", () => {
  const { events, said, pass } = listen();
  for (let second = 0; second < 150; second++) {
    events.onProblem(LOST);
    pass(1);
  }
  assert.deepEqual(said, [SAID, SAID, SAID]);
  events.onRecovery();
  assert.deepEqual(said.slice(3), [BACK]);
});

test("a connection that comes and goes all the time is no more often said to be lost", () => {
  const { events, said, pass } = listen();
  for (let second = 0; second < 70; second++) {
    events.onProblem(LOST);
    events.onRecovery();
    pass(1);
  }
  assert.deepEqual(said, [SAID, BACK, SAID, BACK]);
});

test("what was never said to be lost is not said to be back", () => {
  const { events, said } = listen();
  events.onRecovery();
  assert.deepEqual(said, []);
});

test("a subscriber that throws is told every time, and is no lost connection", () => {
  const { events, said } = listen();
  const bug = { resource: SERVICES, error: new Error("oh") };
  events.onProblem(bug);
  events.onProblem(bug);
  events.onRecovery();
  assert.deepEqual(said, Array<string>(2).fill("error a change of services was not dealt with: oh"));
});
