import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { concerns, InvalidDocumentError, parseEventDocument } from "./scheduled-events.ts";

const PREEMPT = {
  EventId: "A1",
  EventType: "Preempt",
  ResourceType: "VirtualMachine",
  Resources: ["vmss_1"],
  EventStatus: "Scheduled",
  NotBefore: "Mon, 19 Sep 2016 18:29:47 GMT",
  Description: "",
  EventSource: "Platform",
  DurationInSeconds: -1,
};

function parse(...events: readonly unknown[]) {
  return parseEventDocument(JSON.stringify({ DocumentIncarnation: 2, Events: events }));
}

test("an event is read with what decisions need", () => {
  const { events, isComplete } = parse(PREEMPT);
  assert.equal(isComplete, true);
  assert.deepEqual(events, [
    {
      id: "A1",
      type: "Preempt",
      status: "Scheduled",
      resources: ["vmss_1"],
      notBefore: "Mon, 19 Sep 2016 18:29:47 GMT",
      durationSeconds: -1,
    },
  ]);
  assert.ok(events[0] !== undefined && concerns(events[0], "VMSS_1") && !concerns(events[0], "vmss_10"));
});

test("an event that cannot be read leaves the others, and the document incomplete", () => {
  const bad = [
    null,
    7,
    { ...PREEMPT, EventId: "" },
    { ...PREEMPT, EventType: "Explode" },
    { ...PREEMPT, EventStatus: "Completed" },
    { ...PREEMPT, Resources: "vmss_1" },
    { ...PREEMPT, Resources: [1] },
    { ...PREEMPT, EventId: "x".repeat(300) },
  ];
  for (const event of bad) {
    const { events, isComplete } = parse(event, PREEMPT);
    assert.deepEqual([events.length, isComplete], [1, false], JSON.stringify(event));
  }
});

test("a NotBefore or duration that cannot be read is none", () => {
  const [event] = parse({ ...PREEMPT, NotBefore: "soon", DurationInSeconds: "long" }).events;
  assert.deepEqual([event?.notBefore, event?.durationSeconds], ["", -1]);
});

test("a storm of events is cut, and the document incomplete", () => {
  const { events, isComplete } = parse(...Array.from({ length: 5_000 }, (_, at) => ({ ...PREEMPT, EventId: `${at}` })));
  assert.deepEqual([events.length, isComplete], [100, false]);
});

test("what is no document is refused, whatever it is", () => {
  for (const text of ["", "<html>", "null", "[]", "{}", '{"Events": {}}']) {
    assert.throws(() => parseEventDocument(text), InvalidDocumentError, text);
  }
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      try {
        assert.ok(parseEventDocument(text).events.length <= 100);
      } catch (error) {
        assert.ok(error instanceof InvalidDocumentError);
      }
    }),
  );
});
