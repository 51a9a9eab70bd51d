/**
 * Events: one collection, two APIs. Stored as core/v1; events.k8s.io/v1 has other names for the same fields.
 *
 *   core/v1             | events.k8s.io/v1
 *   --------------------|-------------------------
 *   involvedObject      | regarding
 *   message             | note
 *   source              | deprecatedSource
 *   count               | deprecatedCount
 *   firstTimestamp      | deprecatedFirstTimestamp
 *   lastTimestamp       | deprecatedLastTimestamp
 *   reportingComponent  | reportingController
 */
import type { KubeObject } from "../contract.ts";
import { asObject, asString } from "../json.ts";
import { ageOf, column, nameColumn, wide } from "../read/column.ts";
import { count, microTime, objectReference, optionalText, type Schema, struct, text, time } from "../schema/schema.ts";
import { type Cause, invalidValue, required } from "../status-error.ts";
import { defineKind } from "./define.ts";

const NEW_NAME: Readonly<Record<string, string>> = {
  involvedObject: "regarding",
  message: "note",
  source: "deprecatedSource",
  count: "deprecatedCount",
  firstTimestamp: "deprecatedFirstTimestamp",
  lastTimestamp: "deprecatedLastTimestamp",
  reportingComponent: "reportingController",
};
const OLD_NAME = Object.fromEntries(Object.entries(NEW_NAME).map(([old, now]) => [now, old]));

function renamed(object: KubeObject, names: Readonly<Record<string, string>>, apiVersion: string): KubeObject {
  const { kind, metadata, ...fields } = object;
  const entries = Object.entries(fields).map(([field, value]) => [names[field] ?? field, value] as const);
  return { kind, metadata, ...Object.fromEntries(entries), apiVersion };
}

/** Fields that both APIs return when unset; core/v1 returns two more. */
const UNSET = { eventTime: null, firstTimestamp: null, lastTimestamp: null, source: {} };
const UNSET_IN_CORE = { ...UNSET, reportingComponent: "", reportingInstance: "" };

const shared: Record<string, Schema> = {
  reason: text,
  type: text,
  action: text,
  eventTime: microTime,
  series: struct({ count, lastObservedTime: microTime, state: text }),
  related: objectReference,
  reportingInstance: optionalText,
};
const source = struct({ component: text, host: text });

/** The namespace must be the involved object's; for cluster-scoped ones `default` (with an eventTime also `kube-system`). */
function namespaceProblems(event: KubeObject): Cause[] {
  const about = asString(asObject(event["involvedObject"])["namespace"]);
  const own = event.metadata.namespace ?? "";
  const newDialect = event["eventTime"] !== undefined;
  if (about === "" ? own === "default" || (newDialect && own === "kube-system") : newDialect || about === own)
    return [];
  return [invalidValue("involvedObject.namespace", about, "does not match event.namespace")];
}

/** An Event with an eventTime needs the other fields that events.k8s.io/v1 requires. */
function eventTimeProblems(event: KubeObject, names: Readonly<Record<string, string>>): Cause[] {
  if (event["eventTime"] === undefined) return [];
  return ["reportingComponent", "reportingInstance", "action", "reason"]
    .filter((field) => asString(event[field]) === "")
    .map((field) => required(names[field] ?? field));
}

function newApiProblems(event: KubeObject): Cause[] {
  const type = asString(event["type"]);
  if (event["eventTime"] === undefined) return [required("eventTime")];
  return type === "Normal" || type === "Warning" ? [] : [invalidValue("type", type, "has invalid value")];
}

function lastSeen(event: KubeObject): string | undefined {
  const series = asObject(event["series"])["lastObservedTime"];
  const time = series ?? event["lastTimestamp"] ?? event["eventTime"] ?? event["firstTimestamp"];
  return typeof time === "string" ? time : undefined;
}

function firstSeen(event: KubeObject): string | undefined {
  const time = event["firstTimestamp"] ?? event["eventTime"];
  return typeof time === "string" ? time : undefined;
}

const columns = [
  column("Last Seen", (event, nowMs) => ageOf(lastSeen(event), nowMs)),
  column("Type", (event) => event["type"] ?? ""),
  column("Reason", (event) => event["reason"] ?? ""),
  column("Object", (event) => {
    const about = asObject(event["involvedObject"]);
    return `${asString(about["kind"]).toLowerCase()}/${asString(about["name"])}`;
  }),
  wide("Subobject", (event) => asObject(event["involvedObject"])["fieldPath"] ?? ""),
  wide("Source", (event) => {
    const from = asObject(event["source"]);
    const component = asString(from["component"]) || asString(event["reportingComponent"]);
    const host = asString(from["host"]) || asString(event["reportingInstance"]);
    return [component, host].filter((part) => part !== "").join(", ");
  }),
  column("Message", (event) => asString(event["message"]).trim()),
  wide("First Seen", (event, nowMs) => ageOf(firstSeen(event), nowMs)),
  wide("Count", (event) => asObject(event["series"])["count"] ?? event["count"] ?? 1),
  { ...nameColumn, priority: 1 },
];

const INVOLVED = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

const common = {
  kind: "Event",
  plural: "events",
  shortNames: ["ev"],
  collection: "events",
  columns,
} as const;

export const coreEvent = defineKind({
  ...common,
  selectableFields: [
    ...INVOLVED.map((field) => `involvedObject.${field}`),
    "reason",
    "source",
    "type",
    "reportingComponent",
  ],
  fields: {
    ...shared,
    involvedObject: objectReference,
    message: text,
    source,
    firstTimestamp: time,
    lastTimestamp: time,
    count,
    reportingComponent: optionalText,
  },
  behaviour: {
    fromStored: (object) => ({ ...UNSET_IN_CORE, ...object }),
    validate: (event, old) => (old === undefined ? [...namespaceProblems(event), ...eventTimeProblems(event, {})] : []),
  },
});

export const event = defineKind({
  ...common,
  group: "events.k8s.io",
  selectableFields: [...INVOLVED.map((field) => `regarding.${field}`), "reason", "type", "reportingController"],
  fields: {
    ...shared,
    regarding: objectReference,
    note: text,
    deprecatedSource: source,
    deprecatedFirstTimestamp: time,
    deprecatedLastTimestamp: time,
    deprecatedCount: count,
    reportingController: optionalText,
  },
  behaviour: {
    toStored: (object) => renamed(object, OLD_NAME, "v1"),
    fromStored: (object) => renamed({ ...UNSET, ...object }, NEW_NAME, "events.k8s.io/v1"),
    validate: (stored, old) =>
      old === undefined
        ? [...namespaceProblems(stored), ...eventTimeProblems(stored, NEW_NAME), ...newApiProblems(stored)]
        : [],
  },
});
