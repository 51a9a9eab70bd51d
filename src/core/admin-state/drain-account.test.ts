import assert from "node:assert/strict";
import { test } from "node:test";

import { aNode } from "../../../test/support/core-world.ts";
import type { Node } from "../model/kubernetes.ts";
import { evictedLateEvent, evictionEvent } from "./admin-state-events.ts";
import {
  ACCOUNT_ANNOTATION,
  accountOf,
  type DrainAccount,
  evictionNotice,
  noticeLeft,
  renderAccount,
} from "./drain-account.ts";
import type { PreemptionEvent } from "./preemption-events.ts";

const AT = Date.UTC(2026, 0, 1, 10, 0, 0);
const TAINT = { key: "cloudprovider.azure.microsoft.com/draining", value: "spot-eviction", effect: "NoSchedule" };
const TRUST = { namespaces: ["default"], nowMs: AT };
const ACCOUNT: DrainAccount = {
  reasons: ["spot-eviction"],
  seenMs: AT + 200,
  downMs: AT + 2_900,
  pools: ["kubernetes/kubernetes", "kubernetes-internal/kubernetes"],
  notice: { announcedMs: AT, dueMs: AT + 30_000 },
};

function event(message: string, firstMs = AT): PreemptionEvent {
  const times = { createdMs: firstMs, firstMs, lastMs: firstMs };
  return { uid: message, namespace: "default", node: "n", message, ...times };
}

function drained(annotation: string | undefined, taints = [TAINT]): Node {
  const node = aNode("n", ["10.0.0.4"], { taints });
  const annotations = annotation === undefined ? {} : { [ACCOUNT_ANNOTATION]: annotation };
  return { ...node, metadata: { ...node.metadata, annotations } };
}

test("an account survives as an annotation, as long as the node is in that drain", () => {
  assert.deepEqual(accountOf(drained(renderAccount(ACCOUNT))), ACCOUNT);
  const { notice: _, ...manual } = { ...ACCOUNT, reasons: ["drain"] as const };
  assert.equal(accountOf(drained(renderAccount(manual))), undefined, "of another drain");
  assert.equal(accountOf(drained(renderAccount(ACCOUNT), [])), undefined, "not draining");
  for (const text of [undefined, "", "garbage", "null", "[]", '{"seen": "x"}', '{"reasons": 1, "pools": 2}'])
    assert.equal(accountOf(drained(text)), undefined, text);
});

test("the newest notice counts that says when, and is not due long before it was announced", () => {
  const due = (message: string, firstMs?: number) =>
    evictionNotice(drained(undefined), [event(message, firstMs)], TRUST)?.dueMs;
  assert.equal(due("Preempt Scheduled: Thu, 01 Jan 2026 10:00:30 GMT. DurationInSeconds: -1. EventId: 7"), AT + 30_000);
  assert.equal(
    due("Preempt Scheduled: Thu, 01 Jan 2026 09:59:30 GMT. DurationInSeconds: -1"),
    AT - 30_000,
    "told late",
  );
  assert.equal(due("Preempt Scheduled: Thu, 01 Jan 2026 09:44:30 GMT. DurationInSeconds: -1"), undefined);
  assert.equal(due("Preempt Scheduled: soon"), undefined);
  assert.equal(due("Preempt Started. DurationInSeconds: -1"), undefined);
  assert.equal(due("Freeze Scheduled: Thu, 01 Jan 2026 10:00:30 GMT"), undefined);
  const notices = [
    event("Preempt Scheduled: Thu, 01 Jan 2026 10:00:30 GMT."),
    event("Preempt Scheduled: Thu, 01 Jan 2026 10:01:30 GMT.", AT + 60_000),
  ];
  for (const order of [notices, notices.toReversed()])
    assert.equal(evictionNotice(drained(undefined), order, TRUST)?.dueMs, AT + 90_000);
});

test("the event says how much of the notice was left, or by how much it was missed", () => {
  assert.equal(noticeLeft(ACCOUNT), 27.1);
  const inTime = evictionEvent(ACCOUNT);
  assert.equal(inTime?.reason, "EvictionDrained");
  assert.equal(
    inTime.message,
    "Got no new connections from 27.1 s before its eviction was due (2026-01-01T10:00:30.000Z): announced at " +
      "2026-01-01T10:00:00.000Z, known to the controller 0.2 s later, Down in effect in all 2 pools 2.9 s later",
  );
  const late = evictionEvent({ ...ACCOUNT, downMs: AT + 31_500 });
  assert.equal(late?.reason, "EvictionDrainedLate");
  assert.match(late.message, /^Got new connections until 1\.5 s after its eviction was due/);
  const { notice: _, ...unannounced } = ACCOUNT;
  assert.equal(evictionEvent(unannounced), undefined);
  const notice = { announcedMs: AT, dueMs: AT + 30_000 };
  const removed = evictedLateEvent(notice, "removed", AT + 34_500).message;
  assert.match(removed, /due at .*: it was removed before Down was in effect, 4\.5 s after that$/);
  const found = evictedLateEvent(notice, "found gone", AT + 10_000).message;
  assert.match(found, /: it was found gone, not known to have been Down, 20 s before that$/);
});
