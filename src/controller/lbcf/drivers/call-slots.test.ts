import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { settled } from "../../../../test/support/virtual-clock.ts";
import { CallSlots } from "./call-slots.ts";

describe("slots of webhook calls", () => {
  const setUp = () => {
    const slots = new CallSlots();
    const running: { readonly what: string; readonly end: () => void }[] = [];
    const call = (driver: string, isUrgent = false): void => {
      const namespace = driver.split("/")[0] ?? "";
      const what = `${driver}${isUrgent ? " urgent" : ""}`;
      void slots.run({ namespace, driver, isUrgent }, () => new Promise<void>((end) => running.push({ what, end })));
    };
    const started = (): readonly string[] => running.map(({ what }) => what);
    return { call, running, started };
  };

  test("a driver has 12, and 4 more for deregistrations", async () => {
    const { call, started } = setUp();
    for (let at = 0; at < 20; at++) call("ns/a");
    await settled();
    assert.equal(started().length, 12);
    for (let at = 0; at < 20; at++) call("ns/a", true);
    await settled();
    assert.deepEqual([started().length, started().slice(12)], [16, Array.from({ length: 4 }, () => "ns/a urgent")]);
  });

  test("deregistrations that wait come before registrations that waited longer, of every driver", async () => {
    const { call, running, started } = setUp();
    for (let at = 0; at < 20; at++) call("ns/a");
    for (let at = 0; at < 6; at++) call("ns/a", true);
    await settled();
    assert.equal(started().length, 16);
    for (const { end } of running.slice(0, 2)) end();
    await settled();
    assert.deepEqual(started().slice(16), ["ns/a urgent", "ns/a urgent"]);
    for (const { end } of running.slice(2)) end();
    await settled();
    assert.equal(started().length, 26);
  });

  test("a namespace has 48 for its drivers, and all have 256; another namespace's calls start", async () => {
    const { call, started } = setUp();
    for (let at = 0; at < 100; at++) for (const name of ["a", "b", "c", "d", "e", "f"]) call(`evil/${name}`, true);
    await settled();
    assert.equal(started().length, 48);
    call("good/driver");
    await settled();
    assert.equal(started().at(-1), "good/driver");
    for (let at = 0; at < 300; at++) for (let ns = 0; ns < 10; ns++) call(`ns-${ns}/driver-${at}`, true);
    await settled();
    assert.equal(started().length, 256);
  });

  test("drivers take turns", async () => {
    const { call, running, started } = setUp();
    for (let at = 0; at < 14; at++) call("ns/a");
    for (let at = 0; at < 14; at++) call("ns/b");
    for (let at = 0; at < 14; at++) call("ns/c"); // the namespace has 36 of these
    await settled();
    assert.equal(started().length, 36);
    call("ns/d");
    for (const { end } of running.filter(({ what }) => what === "ns/a").slice(0, 2)) end();
    await settled();
    assert.deepEqual(started().slice(36).sort(), ["ns/a", "ns/d"]);
  });
});
