import assert from "node:assert/strict";
import { test } from "node:test";

import { eventText } from "../core/events/event-reasons.ts";
import { NODES, SERVICES } from "../kube/client/resources.ts";
import { Events } from "./events.ts";

const WEB = { metadata: { name: "web", namespace: "shop", uid: "u-1" } };
const NODE = { metadata: { name: "n1", uid: "u-2" } };
const WARNING = eventText("DriftDetected", "edited");
const NORMAL = eventText("EnsuredLoadBalancer", "done");

/** Events as `reason object`, log lines as `level message fields`. */
function rig() {
  const recorded: string[] = [];
  const logged: string[] = [];
  const log = (level: string) => (message: string, fields?: object) =>
    logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const recorder = {
    record: ({ about, reason }: { about: object; reason: string }) =>
      recorded.push(`${reason} ${JSON.stringify(about)}`),
  };
  const events = new Events(recorder, { info: log("info"), warn: log("warn"), error: log("error") });
  return { events, recorded, logged };
}

test("an event names its object as the API server knows it", () => {
  const { events, recorded } = rig();
  events.emit(SERVICES, WEB, WARNING);
  events.emit(NODES, NODE, WARNING);
  events.emit(NODES, NODE, undefined);
  assert.deepEqual(recorded, [
    'DriftDetected {"apiVersion":"v1","kind":"Service","namespace":"shop","name":"web","uid":"u-1"}',
    'DriftDetected {"apiVersion":"v1","kind":"Node","name":"n1","uid":"u-2"}',
  ]);
});

test("warnings stand in the log too, the others where it is asked for", () => {
  const { events, recorded, logged } = rig();
  events.emit(SERVICES, WEB, WARNING);
  events.emit(SERVICES, WEB, NORMAL);
  events.emit(NODES, NODE, NORMAL, "all");
  events.emit(SERVICES, WEB, WARNING, "none");
  assert.equal(recorded.length, 4);
  assert.deepEqual(logged, [
    'warn DriftDetected: edited {"service":"shop/web"}',
    'info EnsuredLoadBalancer: done {"node":"n1"}',
  ]);
});

test("a text that the API server could not store is emitted again at the next occasion, and the others are not", () => {
  const recorded: { readonly message: string; readonly onMissed?: (() => void) | undefined }[] = [];
  const recorder = {
    record: ({ message }: { message: string }, onMissed?: () => void) => recorded.push({ message, onMissed }),
  };
  const events = new Events(recorder, { info: () => {}, warn: () => {}, error: () => {} });
  const other = eventText("DriftDetected", "edited by another client");
  const emitBoth = (): void => {
    events.emitOnce(SERVICES, WEB, WARNING);
    events.emitOnce(SERVICES, WEB, other);
  };
  emitBoth();
  recorded[0]?.onMissed?.();
  emitBoth();
  emitBoth();
  assert.deepEqual(
    recorded.map(({ message }) => message),
    [WARNING.message, other.message, WARNING.message],
  );
});

test("the same text is emitted once for each object, until that is settled without it", () => {
  const { events, recorded } = rig();
  const count = (emit: () => void): number => {
    emit();
    return recorded.splice(0).length;
  };
  assert.equal(
    count(() => events.emitOnce(SERVICES, WEB, WARNING)),
    1,
  );
  assert.equal(
    count(() => events.emitOnce(SERVICES, WEB, WARNING)),
    0,
  );
  assert.equal(
    count(() => events.emitOnce(NODES, NODE, WARNING)),
    1,
  );
  events.settle(WEB, [WARNING]);
  assert.equal(
    count(() => events.emitOnce(SERVICES, WEB, WARNING)),
    0,
    "it lasts",
  );
  events.settle(WEB);
  assert.equal(
    count(() => events.emitOnce(SERVICES, WEB, WARNING)),
    1,
    "it is news again",
  );
});

test("what makes two texts the same may be the caller's to say", () => {
  const { events, recorded } = rig();
  events.emitOnce(NODES, NODE, eventText("LoadBalancerAdminStateFailed", "503"), "transition 1, pool a");
  events.emitOnce(NODES, NODE, eventText("LoadBalancerAdminStateFailed", "504"), "transition 1, pool a");
  events.emitOnce(NODES, NODE, eventText("LoadBalancerAdminStateFailed", "503"), "transition 1, pool b");
  assert.equal(recorded.length, 2);
});
