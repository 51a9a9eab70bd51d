import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "../../../test/support/laws.ts";
import { aNode } from "../../../test/support/core-world.ts";
import type { Node } from "../model/kubernetes.ts";
import { newestPreemption, parsePreemptionEvent, type RawEvent } from "./preemption-events.ts";
import { readPreemptionAnnotation, PREEMPTION_ANNOTATION, preemptionPatch } from "./preemption-annotation.ts";

const CREATED = "2026-01-01T12:00:00Z";
const LATER = "2026-01-01T12:30:00Z";
const LATEST = "2026-01-01T12:45:00Z";
const NOW_MS = Date.parse("2026-01-01T13:00:00Z");
const TRUST = { namespaces: ["default"], nowMs: NOW_MS };
const FUTURE = "9999-12-31T23:59:59Z";
const MESSAGE = "Preempt Scheduled: Thu, 1 Jan 2026 12:31:00 GMT. DurationInSeconds: -1.  EventId: 7";

function aPreemptible(annotations: Readonly<Record<string, string>> = {}): Node {
  const node = aNode("spot", ["10.0.0.4"]);
  return { ...node, metadata: { ...node.metadata, creationTimestamp: CREATED, annotations } };
}

/** As the emitters of core/v1 write it: the name of the node for its UID, times of whole seconds. */
function anEvent(change: Partial<RawEvent> = {}): RawEvent {
  return {
    metadata: { uid: "event", namespace: "default", creationTimestamp: LATER },
    involvedObject: { kind: "Node", name: "spot" },
    message: MESSAGE,
    firstTimestamp: LATER,
    lastTimestamp: LATER,
    ...change,
  };
}

function counts(change: Partial<RawEvent>, node = aPreemptible()): boolean {
  return newestPreemption(node, [parsePreemptionEvent(anEvent(change))], TRUST) !== undefined;
}

describe("an event announces a preemption", () => {
  for (const [what, change, expected] of [
    ["as emitters write it", {}, true],
    ["of a deletion", { message: "Terminate Scheduled: Thu, 1 Jan 2026 12:31:00 GMT. EventId: 7" }, true],
    ["when it has started", { message: "Preempt Started. DurationInSeconds: -1." }, true],
    ["not when the emitter itself had trouble", { message: "IMDS query failed, exit code: 28" }, false],
    ["not when it is about a freeze", { message: "Freeze Scheduled: Thu, 1 Jan 2026 12:31:00 GMT." }, false],
    ["not in a word that only begins so", { message: "Preempt Scheduledish" }, false],
    ["not about a Pod of that name", { involvedObject: { kind: "Pod", name: "spot" } }, false],
    ["not about another node", { involvedObject: { kind: "Node", name: "spot2" } }, false],
    ["not about nothing", { involvedObject: {} }, false],
    ["not in a tenant's namespace", { metadata: { uid: "event", namespace: "evil", creationTimestamp: LATER } }, false],
    ["when the clock of its reporter is far ahead", { firstTimestamp: FUTURE, lastTimestamp: FUTURE }, true],
    [
      "not when it is older than the node and claims to be seen in the future",
      {
        metadata: { uid: "event", namespace: "default", creationTimestamp: "2026-01-01T11:00:00Z" },
        firstTimestamp: "2026-01-01T11:00:00Z",
        lastTimestamp: FUTURE,
      },
      false,
    ],
    ["in the second the node was made", { firstTimestamp: CREATED, lastTimestamp: CREATED }, true],
    [
      "not when it is older than the node, whose name is used again",
      { firstTimestamp: "2026-01-01T11:59:59Z", lastTimestamp: "2026-01-01T11:59:59Z" },
      false,
    ],
    ["when it began before the node was made and goes on", { firstTimestamp: "2026-01-01T11:00:00Z" }, true],
    [
      "as events.k8s.io has it",
      { firstTimestamp: null, lastTimestamp: null, eventTime: "2026-01-01T12:30:00.123456Z" },
      true,
    ],
    [
      "not as events.k8s.io has an old one",
      { firstTimestamp: null, lastTimestamp: null, eventTime: "2026-01-01T11:30:00.123456Z" },
      false,
    ],
    [
      "as a series that goes on",
      {
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: "2026-01-01T11:30:00.123456Z",
        series: { lastObservedTime: "2026-01-01T12:30:00.123456Z" },
      },
      true,
    ],
    ["with no times but the server's", { firstTimestamp: null, lastTimestamp: null, eventTime: null }, true],
  ] as const) {
    test(what, () => assert.equal(counts(change), expected));
  }
});

describe("the annotation on the Node", () => {
  const handled = (): Node => {
    const patch = preemptionPatch(aPreemptible(), parsePreemptionEvent(anEvent()));
    return aPreemptible(patch.metadata.annotations);
  };

  test("comes back as it was written", () => {
    assert.deepEqual(readPreemptionAnnotation(handled()), { eventUID: "event", firstMs: Date.parse(LATER) });
  });

  for (const [what, change, expected] of [
    ["keeps the same event from counting again", {}, false],
    ["and its repetitions", { lastTimestamp: LATEST }, false],
    ["and others that began no later", { metadata: { uid: "other", namespace: "default" } }, false],
    [
      "but not a later one",
      { metadata: { uid: "other", namespace: "default" }, firstTimestamp: LATEST, lastTimestamp: LATEST },
      true,
    ],
  ] as const) {
    test(what, () => assert.equal(counts(change, handled()), expected));
  }

  test("that is malformed counts as absent", () => {
    for (const text of ["", "event", "event at noon", "{}"]) {
      assert.equal(readPreemptionAnnotation(aPreemptible({ [PREEMPTION_ANNOTATION]: text })), undefined);
      assert.ok(counts({}, aPreemptible({ [PREEMPTION_ANNOTATION]: text })));
    }
  });

  test("of the newest event settles all that are there, in whatever order they come", () => {
    const time = fc
      .integer({ min: 0, max: 3_000 })
      .map((at) => new Date(Date.parse(CREATED) + at * 1000).toISOString());
    const raw = fc.record({ uid: fc.uuid(), first: time, last: time });
    fc.assert(
      fc.property(fc.array(raw, { minLength: 1, maxLength: 6 }), (many) => {
        const events = many.map(({ uid, first, last }) =>
          parsePreemptionEvent(
            anEvent({ metadata: { uid, namespace: "default" }, firstTimestamp: first, lastTimestamp: last }),
          ),
        );
        const node = aPreemptible();
        const newest = newestPreemption(node, events, TRUST);
        assert.ok(newest !== undefined);
        const { metadata } = preemptionPatch(node, newest);
        assert.equal(newestPreemption(aPreemptible(metadata.annotations), events, TRUST), undefined);
        assert.equal(newestPreemption(node, events.toReversed(), TRUST)?.firstMs, newest.firstMs);
      }),
    );
  });
});

describe("the patch", () => {
  const event = parsePreemptionEvent(anEvent());
  const withTaints = (...taints: { key: string; value?: string; effect: string }[]): Node => {
    return { ...aPreemptible(), spec: { taints } };
  };
  const OURS = { key: "cloudprovider.azure.microsoft.com/draining", value: "spot-eviction", effect: "NoSchedule" };

  test("adds the taint to those that are there", () => {
    const other = { key: "dedicated", value: "batch", effect: "NoExecute", timeAdded: CREATED };
    assert.deepEqual(preemptionPatch(withTaints(other), event).spec?.taints, [other, OURS]);
  });

  test("leaves the taints alone where it is there already, and records the event nevertheless", () => {
    const patch = preemptionPatch(withTaints({ ...OURS, effect: "NoExecute" }), event);
    assert.equal(patch.spec, undefined);
    assert.match(patch.metadata.annotations[PREEMPTION_ANNOTATION] ?? "", /^event at /);
  });

  test("takes the place of another value: Kubernetes allows one taint of a key and effect", () => {
    assert.deepEqual(preemptionPatch(withTaints({ ...OURS, value: "upgrade" }), event).spec?.taints, [OURS]);
  });

  test("of a deletion is a drain; where there is one, by hand or by the agent, it stays", () => {
    const deletion = parsePreemptionEvent(anEvent({ message: "Terminate Scheduled: Thu, 1 Jan 2026 12:31:00 GMT." }));
    const drain = { key: "azlb.io/drain", value: "terminate", effect: "NoSchedule" };
    assert.deepEqual(preemptionPatch(withTaints(OURS), deletion).spec?.taints, [OURS, drain]);
    const manual = { key: "azlb.io/drain", value: "manual", effect: "PreferNoSchedule" };
    assert.equal(preemptionPatch(withTaints(manual), deletion).spec, undefined);
  });

  test("comes beside an out-of-service taint", () => {
    const out = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" };
    assert.deepEqual(preemptionPatch(withTaints(out), event).spec?.taints, [out, OURS]);
  });
});
