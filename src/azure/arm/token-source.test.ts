import assert from "node:assert/strict";
import { test } from "node:test";

import { settled, VirtualClock } from "../../../test/support/virtual-clock.ts";
import { CachedTokens, type Issued } from "./token-source.ts";

const HOUR_MS = 3_600_000;

/** An issuer that answers when told to. */
function rig() {
  const clock = new VirtualClock();
  const asked: { resolve: (issued: Issued) => void; reject: (error: Error) => void }[] = [];
  const source = new CachedTokens(() => new Promise((resolve, reject) => asked.push({ resolve, reject })), clock);
  const grant = async (token: string, forMs = HOUR_MS): Promise<void> => {
    asked.at(-1)?.resolve({ token, expiresAtMs: clock.nowMs() + forMs, refreshAfterMs: undefined });
    await settled();
  };
  return { clock, source, asked, grant };
}

test("many callers share one request, and later ones its token", async () => {
  const { source, asked, grant } = rig();
  const callers = Promise.all([source.token(), source.token(), source.token()]);
  await grant("one");
  assert.deepEqual(await callers, ["one", "one", "one"]);
  assert.equal(await source.token(), "one");
  assert.equal(asked.length, 1);
});

test("refreshes early, once, and serves the old token meanwhile", async () => {
  const { clock, source, asked, grant } = rig();
  void source.token();
  await grant("old");
  await clock.advance(HOUR_MS - 200_000);
  assert.deepEqual([await source.token(), await source.token()], ["old", "old"]);
  assert.equal(asked.length, 2);
  await grant("new");
  assert.equal(await source.token(), "new");
});

test("waits for the new token when the old one has run out", async () => {
  const { clock, source, grant } = rig();
  void source.token();
  await grant("old");
  await clock.advance(HOUR_MS);
  const next = source.token();
  await grant("new");
  assert.equal(await next, "new");
});

test("a refresh that fails in the background is tried again later, not at once", async () => {
  const { clock, source, asked, grant } = rig();
  void source.token();
  await grant("old");
  await clock.advance(HOUR_MS - 200_000);
  await source.token();
  asked.at(-1)?.reject(new Error("down"));
  await settled();
  assert.equal(await source.token(), "old");
  assert.equal(asked.length, 2);
  await clock.advance(30_000);
  await source.token();
  assert.equal(asked.length, 3);
});

test("a first request that fails fails its callers, and the next caller asks again", async () => {
  const { source, asked, grant } = rig();
  const first = source.token();
  asked[0]?.reject(new Error("down"));
  await assert.rejects(first, /down/);
  const second = source.token();
  await grant("one");
  assert.equal(await second, "one");
});

test("a refused token is forgotten, an older refused one changes nothing", async () => {
  const { source, asked, grant } = rig();
  void source.token();
  await grant("one");
  source.refused("one");
  const next = source.token();
  await grant("two");
  assert.equal(await next, "two");
  source.refused("one");
  assert.equal(await source.token(), "two");
  assert.equal(asked.length, 2);
});

/** The wall clock is set, by so much, and the monotonic one goes on. */
function setWallClock(clock: VirtualClock, byMs: number): void {
  const nowMs = clock.nowMs.bind(clock);
  clock.nowMs = () => nowMs() + byMs;
}

test("a wall clock that is set back does not put off the refresh that failed before", async () => {
  const { clock, source, asked, grant } = rig();
  void source.token();
  await grant("old");
  await clock.advance(HOUR_MS - 200_000);
  assert.equal(await source.token(), "old");
  asked.at(-1)?.reject(new Error("not now"));
  await settled();
  setWallClock(clock, -60_000);
  await clock.advance(31_000);
  assert.equal(await source.token(), "old");
  assert.equal(asked.length, 3);
});

test("a wall clock that jumps ahead fetches another token; one that is set back serves the token until it is refused", async () => {
  const { clock, source, asked, grant } = rig();
  void source.token();
  await grant("first");
  setWallClock(clock, HOUR_MS);
  const second = source.token();
  await grant("second");
  assert.equal(await second, "second");
  setWallClock(clock, -24 * HOUR_MS);
  assert.equal(await source.token(), "second");
  source.refused("second");
  const third = source.token();
  await grant("third");
  assert.deepEqual([await third, asked.length], ["third", 3]);
});
