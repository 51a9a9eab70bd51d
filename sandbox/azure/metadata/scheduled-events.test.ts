import assert from "node:assert/strict";
import { test } from "node:test";

import type { Clock } from "../data-plane/clock.ts";
import type { Machine } from "./machines.ts";
import { scheduledEvents, type EventType, type ScheduledEvents } from "./scheduled-events.ts";

const ONE = machine("vmss_0", "vmss");
const TWO = machine("vmss_1", "vmss");
const ALONE = machine("alone", "alone");

function machine(name: string, set: string): Machine {
  return { id: `/${name}`, name, computerName: name, location: "westus2", addresses: [], set };
}

function rig() {
  let nowMs = Date.UTC(2026, 0, 1);
  let timers: { atMs: number; callback: () => void }[] = [];
  const clock: Clock = {
    nowMs: () => nowMs,
    setTimer(afterMs, callback) {
      const timer = { atMs: nowMs + afterMs, callback };
      timers.push(timer);
      return { cancel: () => (timers = timers.filter((one) => one !== timer)) };
    },
  };
  const done: string[] = [];
  const names = (machines: readonly Machine[]): string => machines.map(({ name }) => name).join();
  let guids = 0;
  const events = scheduledEvents({
    clock,
    guid: () => `id-${++guids}`,
    impact: {
      begin: (type, machines) => done.push(`${type} ${names(machines)}`),
      end: (machines) => done.push(`end ${names(machines)}`),
    },
  });
  const pass = (ms: number): void => {
    const endMs = nowMs + ms;
    for (;;) {
      const next = timers.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined) break;
      timers = timers.filter((one) => one !== next);
      nowMs = next.atMs;
      next.callback();
    }
    nowMs = endMs;
  };
  return { events, done, pass };
}

function announce(events: ScheduledEvents, type: EventType, ...machines: readonly Machine[]) {
  return events.announce({ type, machines, noticeMs: 30_000, durationMs: 5_000 });
}

test("a preemption is announced to each machine of the set, and carried out when its notice has passed, not before", () => {
  const { events, done, pass } = rig();
  assert.deepEqual(events.document(ONE), { DocumentIncarnation: 1, Events: [] });
  announce(events, "Preempt", TWO);
  const { DocumentIncarnation, Events } = events.document(ONE);
  assert.equal(DocumentIncarnation, 2);
  assert.deepEqual(Events, [
    {
      EventId: "ID-1",
      EventType: "Preempt",
      ResourceType: "VirtualMachine",
      Resources: ["vmss_1"],
      EventStatus: "Scheduled",
      NotBefore: "Thu, 01 Jan 2026 00:00:30 GMT",
      Description: "Virtual machine is being evicted: Azure needs its capacity.",
      EventSource: "Platform",
      DurationInSeconds: -1,
    },
  ]);
  assert.deepEqual(events.document(ALONE).Events, []);
  pass(29_999);
  assert.deepEqual(done, []);
  pass(1);
  assert.deepEqual(done, ["Preempt vmss_1"]);
  assert.deepEqual(events.document(ONE), { DocumentIncarnation: 4, Events: [] });
});

test("a freeze is shown as started while it lasts", () => {
  const { events, done, pass } = rig();
  announce(events, "Freeze", ONE);
  pass(30_000);
  const [event] = events.document(ONE).Events;
  assert.deepEqual([event?.EventStatus, event?.NotBefore, event?.DurationInSeconds], ["Started", "", 5]);
  pass(5_000);
  assert.deepEqual(done, ["Freeze vmss_0", "end vmss_0"]);
  assert.deepEqual(events.document(ONE).Events, []);
});

test("an event that is late is carried out after its time, or when it is approved", () => {
  const { events, done, pass } = rig();
  const late = { type: "Preempt", noticeMs: 30_000, durationMs: 0, lateMs: 60_000 } as const;
  const { NotBefore } = events.announce({ ...late, machines: [ONE] });
  assert.equal(NotBefore, "Thu, 01 Jan 2026 00:00:30 GMT");
  const { EventId } = events.announce({ ...late, machines: [TWO] });
  pass(89_999);
  assert.deepEqual(done, []);
  events.approve(EventId, TWO);
  pass(1);
  assert.deepEqual(done, ["Preempt vmss_1", "Preempt vmss_0"]);
});

test("a cancelled event is not carried out, a started one cannot be cancelled", () => {
  const { events, done, pass } = rig();
  const { EventId } = announce(events, "Terminate", ONE);
  assert.equal(events.cancel(EventId), true);
  assert.equal(events.cancel(EventId), false);
  pass(60_000);
  assert.deepEqual(done, []);
  const reboot = announce(events, "Reboot", ONE);
  pass(31_000);
  assert.equal(events.cancel(reboot.EventId), false);
});

test("an approved event starts at once; a machine of another set cannot approve it", () => {
  const { events, done, pass } = rig();
  const { EventId } = announce(events, "Terminate", ONE, TWO);
  assert.equal(events.approve(EventId, ALONE), false);
  assert.deepEqual(done, []);
  assert.equal(events.approve(EventId, TWO), true);
  assert.deepEqual(done, ["Terminate vmss_0,vmss_1"]);
  pass(60_000);
  assert.deepEqual(done, ["Terminate vmss_0,vmss_1"]);
});
