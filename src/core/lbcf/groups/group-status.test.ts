import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DELETED, group, loadBalancer } from "../../../../test/support/lbcf-objects.ts";
import { findCondition } from "../objects/conditions.ts";
import { type GroupResult, groupStatus, groupEvents, sameStatus } from "./group-status.ts";
import type { BackendGroup } from "../objects/objects.ts";

const usable = { kind: "usable", loadBalancer: loadBalancer("lb"), lbInfo: {} } as const;
const lost = { kind: "leaving", reason: "LoadBalancerNotFound", message: "there is no load balancer" } as const;
const young = { kind: "held", reason: "LoadBalancerNotCreated", message: "not created yet" } as const;

function result(more: Partial<GroupResult> & { readonly uses?: GroupResult["actions"]["uses"] } = {}): GroupResult {
  const { uses = new Map([["lb", usable]]), ...rest } = more;
  return {
    group: group("web"),
    actions: { kind: "act", creates: [], updates: [], deletes: [], wanted: 2, uses, problem: undefined },
    registered: 1,
    disagreement: undefined,
    judged: undefined,
    failed: undefined,
    nowMs: 0,
    ...rest,
  };
}

const judging = group("web", { deregister: { policy: "Webhook", driver: "judge", onFailure: "DoNothing" } });
const braked = (text: string): BackendGroup => group("web", {}, { annotations: { "lbcf.tkestack.io/brake": text } });
const kept = group("web", {}, { deletionTimestamp: DELETED, labels: { "lbcf.tkestack.io/do-not-delete": "" } });
const failed = { reason: "CreateBackendFailed", message: "cannot create 2 backend records: quota" } as const;

/** What was seen; the condition, its status and reason; the event, if any. */
const TABLE: readonly (readonly [string, GroupResult, string, string, string | undefined, string | undefined])[] = [
  ["all is well", result(), "Accepted", "True", undefined, undefined],
  [
    "a load balancer is missing",
    result({ uses: new Map([["lb", lost]]) }),
    "Accepted",
    "False",
    "LoadBalancerNotFound",
    "Warning GetLoadBalancerFailed",
  ],
  [
    "a load balancer is to come",
    result({ uses: new Map([["lb", young]]) }),
    "Accepted",
    "False",
    "LoadBalancerNotCreated",
    "Normal LoadBalancerNotCreated",
  ],
  [
    "records cannot be written",
    result({ failed }),
    "Accepted",
    "False",
    "CreateBackendFailed",
    "Warning CreateBackendFailed",
  ],
  [
    "the watch and the API server disagree",
    result({ disagreement: "3 of 5 are still there" }),
    "Held",
    "True",
    "Disagreement",
    "Warning Disagreement",
  ],
  [
    "the deregistration limit is a slip",
    result({ group: braked("half") }),
    "Held",
    "False",
    "InvalidBrake",
    "Warning InvalidBrake",
  ],
  [
    "the judge did not judge",
    result({ group: judging, judged: { kind: "failed", message: "no answer" } }),
    "Judged",
    "False",
    "WebhookFailed",
    "Warning WebhookFailed",
  ],
  ["it is kept by its label", result({ group: kept }), "Deletable", "False", "DoNotDelete", undefined],
];

describe("a group's status", () => {
  for (const [what, seen, type, status, reason, event] of TABLE) {
    test(`${what}: it says so, and tells it once`, () => {
      const after = groupStatus(seen);
      const said = findCondition(after.conditions, type);
      assert.deepEqual([said?.status, said?.reason], [status, reason]);
      assert.deepEqual(
        groupEvents(seen).map((each) => `${each.type} ${each.reason}`),
        event === undefined ? [] : [event],
      );
      const again = { ...seen, group: { ...seen.group, status: after } };
      assert.deepEqual(groupEvents(again), []);
      assert.ok(sameStatus(groupStatus(again), after), "nothing is written that says nothing new");
    });
  }

  test("what is over is no longer said", () => {
    const worst = result({ group: judging, judged: { kind: "failed", message: "x" }, failed, disagreement: "y" });
    const { conditions } = groupStatus({ ...result(), group: { ...judging, status: groupStatus(worst) } });
    assert.deepEqual(
      conditions.map(({ type, status }) => [type, status]),
      [["Accepted", "True"]],
    );
  });
});
