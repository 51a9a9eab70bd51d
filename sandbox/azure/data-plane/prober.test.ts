import assert from "node:assert/strict";
import { test } from "node:test";

import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { prober } from "./prober.ts";

function setUp(threshold = 1) {
  const clock = new VirtualClock(0);
  const changes: string[] = [];
  const attempts = new Map<string, number[]>();
  const healthy = new Set<string>();
  let timeFactor = 1;
  const probes = prober({
    clock,
    timeFactor: () => timeFactor,
    onChange: (key, from, to) => changes.push(`${clock.nowMs()} ${key} ${from} → ${to}`),
  });
  const watch = (...keys: string[]): void =>
    probes.watch(
      new Map(
        keys.map((key) => {
          const attempt = (): Promise<boolean> => {
            attempts.set(key, [...(attempts.get(key) ?? []), clock.nowMs()]);
            return Promise.resolve(healthy.has(key));
          };
          return [key, { key, intervalMs: 5_000, threshold, attempt }];
        }),
      ),
    );
  const hurry = (factor: number): void => {
    timeFactor = factor;
    probes.retime();
  };
  return { clock, changes, attempts, healthy, probes, watch, hurry };
}

test("a member is probed at once and then at every interval", async () => {
  const { clock, attempts, watch, probes } = setUp();
  watch("a");
  await clock.advance(15_000);
  assert.deepEqual(attempts.get("a"), [0, 5_000, 10_000, 15_000]);
  probes.close();
  assert.equal(clock.timers, 0);
});

test("a member that dies is believed down after as many probes as the threshold says", async () => {
  const { clock, changes, healthy, watch, probes } = setUp(2);
  healthy.add("a");
  watch("a");
  await clock.advance(7_000);
  healthy.delete("a");
  await clock.advance(10_000);
  assert.deepEqual(changes, ["0 a unknown → up", "15000 a up → down"]);
  probes.close();
});

test("what is no longer watched is no longer probed, and is unknown when it comes back", async () => {
  const { clock, attempts, healthy, watch, probes } = setUp();
  healthy.add("a");
  watch("a", "b");
  await clock.advance(1_000);
  watch("b");
  await clock.advance(10_000);
  assert.deepEqual(attempts.get("a"), [0]);
  watch("a", "b");
  assert.equal(probes.healthOf("a"), "unknown");
  await clock.advance(0);
  assert.equal(probes.healthOf("a"), "up");
  probes.close();
});

test("a result that comes after its member has gone changes nothing", async () => {
  const { clock, changes, watch, probes } = setUp();
  watch("a");
  watch();
  await clock.advance(10_000);
  assert.deepEqual(changes, []);
  assert.equal(clock.timers, 0);
  probes.close();
});

test("shorter intervals hold from now on", async () => {
  const { clock, attempts, watch, hurry, probes } = setUp();
  watch("a");
  await clock.advance(1_000);
  hurry(0.5);
  await clock.advance(4_000);
  assert.deepEqual(attempts.get("a"), [0, 2_500, 5_000]);
  probes.close();
});

test("no more probes run at once than there may be sockets, and none is forgotten", async () => {
  const clock = new VirtualClock(0);
  const finish: (() => void)[] = [];
  const probed = new Set<string>();
  const probes = prober({ clock, timeFactor: () => 1, onChange: (key) => probed.add(key) });
  const keys = Array.from({ length: 200 }, (_, index) => String(index));
  const attempt = (): Promise<boolean> => new Promise((resolve) => finish.push(() => resolve(true)));
  probes.watch(new Map(keys.map((key) => [key, { key, intervalMs: 5_000, threshold: 1, attempt }])));
  for (let rounds = 0; probed.size < keys.length && rounds < 100; rounds++) {
    assert.ok(finish.length <= 64, `${finish.length} at once`);
    for (const done of finish.splice(0)) done();
    await clock.advance(0);
  }
  assert.equal(probed.size, keys.length);
  probes.close();
});
