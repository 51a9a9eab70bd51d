/**
 * Whatever the interleaving of fragments, edits by others and faults: every owner's last fragment stands, what others wrote
 * stands as they last wrote it, and the number of writes stays within what the fragments and conflicts explain.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { armRig } from "../../../test/support/arm-rig.ts";
import { error, json, type MemoryArm } from "../../../test/support/memory-arm.ts";
import { findList, LIST, wanted } from "../../../test/support/shared-list.ts";
import { seededRandom } from "../../../test/support/virtual-clock.ts";
import type { ArmBody } from "./commit-types.ts";
import { GroupCommit } from "./group-commit.ts";
import { NoAnswerError, type ArmRequest, type ArmResponse } from "../arm/transport.ts";

const LB = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/lb";
const LAST_MS = 20_000;

type Action =
  | { readonly kind: "submit"; readonly atMs: number; readonly owner: string; readonly value: number }
  | { readonly kind: "edit"; readonly atMs: number; readonly value: number };

/** What happens to the n-th PUT, DELETE or poll. */
type Fault = "none" | "unavailable" | "cutBefore" | "cutAfter" | "throttled" | "cancelled";

const actions = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("submit" as const),
        atMs: fc.nat(LAST_MS),
        owner: fc.constantFrom("a", "b", "c", "d", "e"),
        value: fc.nat(3),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("edit" as const), atMs: fc.nat(LAST_MS), value: fc.nat(9) }),
    },
  ),
  { minLength: 1, maxLength: 40 },
);
const faults = fc.array(
  fc.constantFrom<Fault>("none", "none", "none", "unavailable", "cutBefore", "cutAfter", "throttled", "cancelled"),
  { maxLength: 25 },
);

function fail(arm: MemoryArm, request: ArmRequest, fault: Fault | undefined): ArmResponse | undefined {
  const isPoll = request.url.includes("/operations/");
  switch (fault) {
    case "unavailable":
      return error(503, "ServiceUnavailable");
    case "cutBefore":
      throw new NoAnswerError("cut", true);
    case "cutAfter":
      arm.answer(request);
      throw new NoAnswerError("cut", true);
    case "throttled":
      return { ...error(429, "SubscriptionRequestsThrottled"), headers: { "retry-after": "3" } };
    case "cancelled": {
      if (!isPoll) return undefined;
      arm.answer(request);
      const details = [{ code: "CanceledAndSupersededDueToAnotherOperation", message: "" }];
      return json(200, { status: "Canceled", error: { code: "Canceled", message: "", details } });
    }
    case "none":
    case undefined:
      return undefined;
  }
}

async function play(script: readonly Action[], luck: readonly Fault[], operationMs: number | undefined) {
  const { clock, arm, client } = armRig({ replyMs: 700, ...(operationMs === undefined ? {} : { operationMs }) });
  const known = new Map<string, ArmBody | null | undefined>();
  const commit = new GroupCommit({
    client,
    clock,
    random: seededRandom(luck.length),
    mayWrite: () => true,
    lastSeen: (id) => known.get(id),
    onSeen: (id, body) => void known.set(id, body),
  });
  let changes = 0;
  arm.interpose = (request) => {
    const isRead = request.method === "GET" && !request.url.includes("/operations/");
    return isRead ? undefined : fail(arm, request, luck[changes++]);
  };

  const last = new Map<string, number>();
  let edited: number | undefined;
  let underway = 0;
  let submits = 0;
  /** Tries again as a controller does, unless the owner has submitted another since. */
  const submit = async (owner: string, value: number, attempt: number): Promise<void> => {
    submits++;
    underway++;
    const fragment = value === 0 ? wanted(owner) : wanted(owner, value);
    const outcome = await commit.submit({
      id: LB,
      kind: LIST,
      dedupKey: owner,
      fragment,
      priority: "create",
    });
    underway--;
    if (outcome.kind === "failed" && attempt === turns.get(owner)) await submit(owner, value, attempt);
  };
  const turns = new Map<string, number>();
  const act = (action: Action): void => {
    if (action.kind === "submit") {
      const turn = (turns.get(action.owner) ?? 0) + 1;
      turns.set(action.owner, turn);
      last.set(action.owner, action.value);
      void submit(action.owner, action.value, turn);
    } else {
      const list = findList(arm, LB);
      // Azure takes no edits of what is on its way out: they come again later
      if (list?.properties.provisioningState === "Deleting") {
        clock.setTimer(300, () => act(action));
        return;
      }
      edited = action.value;
      const kept = (list?.properties.parts ?? []).filter(({ name }) => name !== "edit");
      const parts = [...kept, { name: "edit", owner: "theirs", value: action.value }];
      arm.write(LB, { ...list, properties: { ...list?.properties, provisioningState: "Succeeded", parts } });
    }
  };
  for (const action of script) clock.setTimer(action.atMs, () => act(action));
  await clock.advance(LAST_MS);
  await clock.advanceUntil(() => underway === 0 && commit.resourcesAtWork === 0, 3_600_000);
  return { clock, arm, last, edited, submits };
}

function expected(last: ReadonlyMap<string, number>, edited: number | undefined): string[] {
  const fragments = [...last].filter(([, value]) => value > 0).map(([owner, value]) => `${owner}-0 ${value}`);
  return [...fragments, ...(edited === undefined ? [] : [`edit ${edited}`])].sort();
}

function partsOf(arm: MemoryArm): string[] {
  const list = findList(arm, LB);
  return (list?.properties.parts ?? []).map(({ name, value }) => `${name} ${value}`).sort();
}

test("every owner's last fragment and every last edit stand at the end, with no more writes than they explain", async () => {
  await fc.assert(
    fc.asyncProperty(actions, fc.constantFrom(undefined, 0, 2_000), async (script, operationMs) => {
      const { clock, arm, last, edited, submits } = await play(script, [], operationMs);
      assert.deepEqual(partsOf(arm), expected(last, edited));
      const edits = script.filter(({ kind }) => kind === "edit").length;
      const writes = arm.count("PUT") + arm.count("DELETE");
      assert.ok(writes <= submits + edits, `${writes} writes for ${submits} fragments and ${edits} edits`);
      assert.equal(clock.timers, 0);
    }),
    { numRuns: 150 },
  );
});

test("the same holds when Azure stumbles, throttles, cancels and loses answers", async () => {
  await fc.assert(
    fc.asyncProperty(actions, faults, fc.constantFrom(undefined, 0, 2_000), async (script, luck, operationMs) => {
      const { clock, arm, last, edited } = await play(script, luck, operationMs);
      assert.deepEqual(partsOf(arm), expected(last, edited));
      assert.equal(clock.timers, 0);
    }),
    { numRuns: 250 },
  );
});
