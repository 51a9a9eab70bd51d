/** Events: one store behind two APIs, and what each asks of a writer. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { type Api, type NamespacePaths, accepted, names, partly, refused } from "./api.ts";

const SECOND = "2026-01-02T03:04:05Z";
const MICRO = "2026-01-02T03:04:05.678901Z";

export function events(api: Api): void {
  test("what is written through core/v1 is read through events.k8s.io/v1 under its other names", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("events"), core(ns, "a"));
    partly(await api.read(ns.group("events.k8s.io/v1", "events", "a")), {
      kind: "Event",
      apiVersion: "events.k8s.io/v1",
      note: "it happened",
      regarding: { kind: "Service", name: "web", namespace: ns.name },
      deprecatedSource: { component: "azlb" },
      deprecatedCount: 2,
      deprecatedFirstTimestamp: SECOND,
      deprecatedLastTimestamp: SECOND,
      type: "Warning",
      reason: "Happened",
    });
  });

  test("and the other way round", async () => {
    const ns = await api.namespace();
    await api.create(ns.group("events.k8s.io/v1", "events"), modern(ns, "a"));
    partly(await api.read(ns.in("events", "a")), {
      kind: "Event",
      apiVersion: "v1",
      message: "it happened",
      involvedObject: { kind: "Service", name: "web", namespace: ns.name },
      reportingComponent: "azlb.io/controller",
      reportingInstance: "azlb-0",
      action: "Ensuring",
      eventTime: MICRO,
      type: "Normal",
    });
  });

  test("repeats are counted by patch", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("events"), core(ns, "a"));
    const later = { count: 3, lastTimestamp: "2026-01-02T03:05:05Z" };
    const patched = accepted(await api.strategicPatch(ns.in("events", "a"), later));
    partly(patched, { ...later, firstTimestamp: SECOND, message: "it happened" });
  });

  test("core/v1: the event lives where its object does; a cluster-scoped object's in default", async () => {
    const ns = await api.namespace();
    const elsewhere = { ...core(ns, "a"), involvedObject: { kind: "Service", name: "web", namespace: "default" } };
    refused(await api.post(ns.in("events"), elsewhere), {
      code: 422,
      reason: "Invalid",
      causes: ["FieldValueInvalid involvedObject.namespace"],
    });
    const node = { kind: "Node", name: "n1", uid: "n1" };
    refused(await api.post(ns.in("events"), { ...core(ns, "a"), involvedObject: node }), {
      code: 422,
      reason: "Invalid",
    });
    const made = await api.create("/api/v1/namespaces/default/events", {
      metadata: { generateName: "n1." },
      involvedObject: node,
      reason: "PreemptScheduled",
      type: "Warning",
      message: "Preempt Scheduled: Wed, 26 Feb 2025 10:13:13 GMT. DurationInSeconds: -1.",
      source: { component: "custom-scheduledevents-consolidated-preempt-plugin-monitor", host: "n1" },
      firstTimestamp: SECOND,
      lastTimestamp: SECOND,
      count: 1,
    });
    partly(made, { involvedObject: node, metadata: { namespace: "default" }, reason: "PreemptScheduled", count: 1 });
  });

  test("events.k8s.io/v1 asks for time, controller, instance, action, reason and type", async () => {
    const ns = await api.namespace();
    const collection = ns.group("events.k8s.io/v1", "events");
    const without: [string, string][] = [
      ["eventTime", "FieldValueRequired eventTime"],
      ["reportingController", "FieldValueRequired reportingController"],
      ["reportingInstance", "FieldValueRequired reportingInstance"],
      ["action", "FieldValueRequired action"],
      ["reason", "FieldValueRequired reason"],
      ["type", "FieldValueInvalid type"],
    ];
    for (const [field, cause] of without) {
      const { [field]: _, ...body } = modern(ns, "a") as Record<string, unknown>;
      refused(await api.post(collection, body), { code: 422, reason: "Invalid", causes: [cause] });
    }
  });

  test("eventTime has exactly six fractional digits", async () => {
    const ns = await api.namespace();
    const collection = ns.group("events.k8s.io/v1", "events");
    for (const eventTime of ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678Z"]) {
      refused(await api.post(collection, { ...modern(ns, "a"), eventTime }), { code: 400, reason: "BadRequest" });
    }
  });

  test("events are found by what they are about", async () => {
    const ns = await api.namespace();
    await api.create(ns.in("events"), core(ns, "a"));
    const other = { kind: "Service", name: "api", namespace: ns.name, uid: "u-2" };
    await api.create(ns.in("events"), { ...core(ns, "b"), involvedObject: other, reason: "Other", type: "Normal" });
    const found = async (selector: string): Promise<string[]> =>
      names(await api.read(ns.in(`events?fieldSelector=${encodeURIComponent(selector)}`)));
    assert.deepEqual(await found("involvedObject.name=web,involvedObject.kind=Service"), ["a"]);
    assert.deepEqual(await found("involvedObject.uid=u-2"), ["b"]);
    assert.deepEqual(await found("reason=Other"), ["b"]);
    assert.deepEqual(await found("type!=Normal"), ["a"]);
    assert.deepEqual(await found(`involvedObject.namespace=${ns.name},source=azlb`), ["a", "b"]);
  });
}

function core(ns: NamespacePaths, name: string): object {
  return {
    metadata: { name },
    involvedObject: { kind: "Service", name: "web", namespace: ns.name, uid: "u-1", apiVersion: "v1" },
    reason: "Happened",
    message: "it happened",
    type: "Warning",
    source: { component: "azlb" },
    firstTimestamp: SECOND,
    lastTimestamp: SECOND,
    count: 2,
  };
}

function modern(ns: NamespacePaths, name: string): object {
  return {
    metadata: { name },
    regarding: { kind: "Service", name: "web", namespace: ns.name },
    eventTime: MICRO,
    reportingController: "azlb.io/controller",
    reportingInstance: "azlb-0",
    action: "Ensuring",
    reason: "Happened",
    type: "Normal",
    note: "it happened",
  };
}
