import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import type { Taint } from "../core/model/kubernetes.ts";
import { AGENT_ANNOTATION, reconcileTaints, type TaintedNode } from "./node-taints.ts";
import type { EventType, ScheduledEvent } from "./scheduled-events.ts";

const SPOT: Taint = { key: "cloudprovider.azure.microsoft.com/draining", value: "spot-eviction", effect: "NoSchedule" };
const TERMINATE: Taint = { key: "azlb.io/drain", value: "terminate", effect: "NoSchedule" };
const REBOOT: Taint = { key: "azlb.io/drain", value: "reboot", effect: "NoSchedule" };
const MANUAL: Taint = { key: "azlb.io/drain", value: "manual", effect: "NoSchedule" };
const OTHER: Taint = { key: "example.com/mine", effect: "NoExecute" };
const RULES = { drainOnReboot: false };

function event(id: string, type: EventType): ScheduledEvent {
  return { id, type, status: "Scheduled", resources: ["vmss_1"], notBefore: "", durationSeconds: -1 };
}

function node(taints: readonly Taint[], annotations: Readonly<Record<string, string>> = {}): TaintedNode {
  return { metadata: { name: "n", uid: "u", resourceVersion: "1", annotations }, spec: { taints } };
}

/** The Node as the API server has it after the patch. */
function patched(before: TaintedNode, patch: ReturnType<typeof reconcileTaints>): TaintedNode {
  if (patch === undefined) return before;
  const value = patch.metadata.annotations[AGENT_ANNOTATION];
  return node(
    patch.spec?.taints ?? before.spec?.taints ?? [],
    typeof value === "string" ? { [AGENT_ANNOTATION]: value } : {},
  );
}

function after(before: TaintedNode, events: readonly ScheduledEvent[], rules = RULES, isComplete = true): TaintedNode {
  return patched(before, reconcileTaints(before, events, isComplete, rules));
}

for (const [type, rules, taint] of [
  ["Preempt", RULES, SPOT],
  ["Terminate", RULES, TERMINATE],
  ["Reboot", RULES, undefined],
  ["Redeploy", RULES, undefined],
  ["Reboot", { drainOnReboot: true }, REBOOT],
  ["Redeploy", { drainOnReboot: true }, REBOOT],
  ["Freeze", { drainOnReboot: true }, undefined],
] as const) {
  test(`${type} ${rules.drainOnReboot ? "with --drain-on-reboot " : ""}taints ${taint?.value ?? "nothing"}, until it is over`, () => {
    const tainted = after(node([OTHER]), [event("1", type)], rules);
    assert.deepEqual(tainted.spec?.taints, taint === undefined ? [OTHER] : [OTHER, taint]);
    assert.equal(reconcileTaints(tainted, [event("1", type)], true, rules), undefined, "settled");
    const restored = after(tainted, [], rules);
    assert.deepEqual(restored.spec?.taints, [OTHER]);
    assert.deepEqual(restored.metadata.annotations, {});
  });
}

test("a taint that was there before is not the agent's: it stays when the event is over", () => {
  for (const [taint, type] of [
    [SPOT, "Preempt"],
    [MANUAL, "Terminate"],
  ] as const) {
    const handled = after(node([taint]), [event("1", type)]);
    assert.deepEqual(handled.spec?.taints, [taint]);
    assert.deepEqual(after(handled, []).spec?.taints, [taint]);
  }
});

test("a taint that a user removed is not written again for the same event, but for another one", () => {
  const tainted = after(node([]), [event("1", "Preempt")]);
  const removed = { ...tainted, spec: { taints: [] } };
  assert.equal(reconcileTaints(removed, [event("1", "Preempt")], true, RULES), undefined);
  assert.deepEqual(after(removed, [event("1", "Preempt"), event("2", "Preempt")]).spec?.taints, [SPOT]);
  assert.deepEqual(after(after(removed, []), [event("2", "Preempt")]).spec?.taints, [SPOT]);
});

test("a taint stays as long as one of its events does", () => {
  const both = after(node([]), [event("1", "Preempt"), event("2", "Preempt")]);
  const one = after(both, [event("2", "Preempt")]);
  assert.deepEqual(one.spec?.taints, [SPOT]);
  assert.deepEqual(after(one, []).spec?.taints, []);
});

test("an incomplete document adds taints and removes none", () => {
  const tainted = after(node([]), [event("1", "Preempt")]);
  const more = after(tainted, [event("2", "Terminate")], RULES, false);
  assert.deepEqual(more.spec?.taints, [SPOT, TERMINATE]);
});

test("a malformed record is none: nothing is removed", () => {
  for (const text of ["", "garbage", "[]", "null", '{"1": 7}']) {
    assert.equal(reconcileTaints(node([SPOT], { [AGENT_ANNOTATION]: text }), [], true, RULES), undefined, text);
  }
});

test("whatever happens, taints of others stay as they are, and a repeated round writes nothing", () => {
  const types = fc.constantFrom<EventType>("Freeze", "Reboot", "Redeploy", "Preempt", "Terminate");
  const events = fc.uniqueArray(fc.record({ id: fc.constantFrom("1", "2", "3"), type: types }), {
    selector: ({ id }) => id,
  });
  const rounds = fc.array(fc.record({ events, isComplete: fc.boolean() }), { maxLength: 6 });
  const others = fc.subarray([SPOT, MANUAL, OTHER]);
  fc.assert(
    fc.property(others, rounds, fc.boolean(), (taints, history, drainOnReboot) => {
      let current = node(taints);
      for (const { events: shown, isComplete } of history) {
        const seen = shown.map(({ id, type }) => event(id, type));
        current = after(current, seen, { drainOnReboot }, isComplete);
        for (const taint of taints)
          assert.deepEqual(
            current.spec?.taints?.filter(({ key }) => key === taint.key),
            [taint],
          );
        assert.equal(reconcileTaints(current, seen, isComplete, { drainOnReboot }), undefined);
      }
      current = after(current, [], { drainOnReboot });
      assert.deepEqual(current.spec?.taints, taints);
    }),
  );
});
