import assert from "node:assert/strict";
import { test } from "node:test";

import { aNode } from "../../test/support/core-world.ts";
import { VirtualClock } from "../../test/support/virtual-clock.ts";
import { ACCOUNT_ANNOTATION, renderAccount } from "../core/admin-state/drain-account.ts";
import type { Node } from "../core/model/kubernetes.ts";
import { Approver } from "./approver.ts";
import type { EventType, ScheduledEvent } from "./scheduled-events.ts";

const MACHINES = "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines";
const GRACE_MS = 10_000;

function node(name: string, isOut: boolean): Node {
  const taints = isOut ? [{ key: "azlb.io/drain", value: "terminate", effect: "NoSchedule" }] : [];
  const made = aNode(name, [], { taints, providerID: `${MACHINES}/${name}` });
  const account = renderAccount({ reasons: ["drain"], seenMs: 0, downMs: 1, pools: [] });
  return { ...made, metadata: { ...made.metadata, ...(isOut && { annotations: { [ACCOUNT_ANNOTATION]: account } }) } };
}

function event(type: EventType = "Terminate", status: ScheduledEvent["status"] = "Scheduled"): ScheduledEvent {
  return { id: "1", type, status, resources: ["a", "b"], notBefore: "", durationSeconds: -1 };
}

function rig() {
  const clock = new VirtualClock();
  const said: string[] = [];
  const approved: string[] = [];
  const say = (text: string): void => void said.push(text);
  const rigged = { clock, said, approved, nodes: [node("a", true), node("b", true)], isReadable: true };
  const approver = new Approver({
    graceMs: GRACE_MS,
    metadata: { approve: async (id) => void approved.push(id) },
    nodes: async () => (rigged.isReadable ? rigged.nodes : Promise.reject(new Error("forbidden"))),
    clock,
    log: { info: () => {}, warn: say, error: say },
  });
  /** Each second, as the agent does. */
  const pass = async (seconds: number, events: readonly ScheduledEvent[] = [event()]): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      approver.look(events, new AbortController().signal);
      await approver.over();
      await clock.advance(1_000);
    }
  };
  return Object.assign(rigged, { pass });
}

test("an event is approved once, when all its machines have been out for the grace", async () => {
  const { pass, approved } = rig();
  await pass(10);
  assert.deepEqual(approved, [], "the grace is not over");
  await pass(30);
  assert.deepEqual(approved, ["1"]);
});

test("not while one of them is in; the grace begins anew when one comes back", async () => {
  const rigged = rig();
  rigged.nodes = [node("a", true), node("b", false)];
  await rigged.pass(60);
  rigged.nodes = [node("a", true), node("b", true)];
  await rigged.pass(8);
  rigged.nodes = [node("a", false), node("b", true)];
  await rigged.pass(4);
  rigged.nodes = [node("a", true), node("b", true)];
  await rigged.pass(8);
  assert.deepEqual(rigged.approved, []);
  await rigged.pass(8);
  assert.deepEqual(rigged.approved, ["1"]);
});

test("a freeze never is, nor what has started", async () => {
  const { pass, approved } = rig();
  await pass(40, [event("Freeze")]);
  await pass(40, [event("Reboot", "Started")]);
  assert.deepEqual(approved, []);
});

test("where Nodes cannot be read nothing is, which is said once; time without sight does not count", async () => {
  const rigged = rig();
  await rigged.pass(8);
  rigged.isReadable = false;
  await rigged.pass(40);
  assert.deepEqual(rigged.said, ["nothing is approved: forbidden"]);
  rigged.isReadable = true;
  await rigged.pass(8);
  assert.deepEqual(rigged.approved, []);
  await rigged.pass(8);
  assert.deepEqual(rigged.approved, ["1"]);
});
