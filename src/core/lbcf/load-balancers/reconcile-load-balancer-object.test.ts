import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { DELETED, loadBalancer } from "../../../../test/support/lbcf-objects.ts";
import type { LoadBalancer, LoadBalancerStatus, Meta } from "../objects/objects.ts";
import { afterCreate, afterEnsureLoadBalancer, markedCreating } from "./load-balancer-status.ts";
import { type ObservedLoadBalancer, reconcileLoadBalancerObject } from "./reconcile-load-balancer-object.ts";

const NOW_MS = 1_000_000;
const always = { ensurePolicy: { policy: "Always", periodMs: 60_000 } } as const;
const forget = { annotations: { "lbcf.tkestack.io/forget": "true" } };
const held = { deletionTimestamp: DELETED, labels: { "lbcf.tkestack.io/do-not-delete": "" } };

function lb(status: Partial<LoadBalancerStatus> = {}, metadata: Partial<Meta> = {}, spec = {}): LoadBalancer {
  const made = loadBalancer("lb", spec, metadata);
  return { ...made, status: { ...made.status, ...status } };
}

const fresh: Partial<LoadBalancerStatus> = { conditions: [] };
const creating: Partial<LoadBalancerStatus> = {
  conditions: [{ type: "Created", status: "False", reason: "Creating" }],
};

function next(loadBalancerObject: LoadBalancer, more: Partial<ObservedLoadBalancer> = {}): string {
  const decision = reconcileLoadBalancerObject({
    loadBalancer: loadBalancerObject,
    driver: "ready",
    invalidName: undefined,
    records: 0,
    validation: { kind: "valid" },
    sinceEnsuredMs: undefined,
    ...more,
  });
  if (decision.kind === "step") return decision.step.kind;
  return decision.kind === "wait" ? decision.reason : decision.kind;
}

describe("reconcileLoadBalancerObject", () => {
  const TABLE: readonly (readonly [string, LoadBalancer, Partial<ObservedLoadBalancer>, string])[] = [
    ["a new one gets its finalizer first", lb(fresh, { finalizers: [] }), {}, "addFinalizer"],
    ["then its driver is asked", lb(fresh), { validation: undefined }, "validate"],
    ["then it is marked", lb(fresh), {}, "markCreating"],
    ["then it is created", lb(creating), {}, "create"],
    [
      "a refusal is final until something changes",
      lb(fresh),
      { validation: { kind: "refused", message: "" } },
      "Refused",
    ],
    ["silence is not", lb(fresh), { validation: { kind: "failed", message: "" } }, "WebhookFailed"],
    ["without its driver it waits", lb(fresh), { driver: "missing" }, "DriverNotFound"],
    ["a draining driver takes nothing new", lb(fresh), { driver: "draining" }, "DriverDraining"],
    ["... but ends what it has begun", lb(creating), { driver: "draining" }, "create"],
    ["a wrong name is a wrong name", lb(fresh), { invalidName: "no" }, "InvalidName"],
    ["one that is right is left alone", lb(), {}, "settled"],
    [
      "changed attributes are asked about",
      lb({}, {}, { attributes: { a: "1" } }),
      { validation: undefined },
      "validate",
    ],
    ["... and ensured, whatever the policy", lb({}, {}, { attributes: { a: "1" } }), {}, "ensure"],
    ["one that an earlier LBCF made is ensured once", lb({ lastSyncedAttributes: undefined } as object), {}, "ensure"],
    ["Always is ensured when its period is over", lb({}, {}, always), { sinceEnsuredMs: 60_000 }, "ensure"],
    ["... and not before", lb({}, {}, always), { sinceEnsuredMs: 59_999 }, "settled"],
    ["a deleted one waits for its records", lb({}, { deletionTimestamp: DELETED }), { records: 2 }, "RecordsRemain"],
    ["... then goes at its driver", lb({}, { deletionTimestamp: DELETED }), {}, "delete"],
    ["... also half created", lb(creating, { deletionTimestamp: DELETED }), {}, "delete"],
    [
      "... without a call if creation never began",
      lb(fresh, { deletionTimestamp: DELETED }),
      { driver: "missing" },
      "removeFinalizer",
    ],
    [
      "... and waits for a driver that is missing",
      lb({}, { deletionTimestamp: DELETED }),
      { driver: "missing" },
      "DriverNotFound",
    ],
    [
      "... unless it is let go",
      lb({}, { deletionTimestamp: DELETED, ...forget }),
      { driver: "missing" },
      "removeFinalizer",
    ],
    [
      "... and then after its records, which are let go by looking at it",
      lb({}, { deletionTimestamp: DELETED, ...forget }),
      { driver: "missing", records: 3 },
      "RecordsRemain",
    ],
    ["letting go means nothing while it lives", lb({}, forget), {}, "settled"],
    ["one kept by its label goes on", lb({}, held), {}, "settled"],
    [
      "one that is gone but for others' finalizers is theirs",
      lb({}, { deletionTimestamp: DELETED, finalizers: ["x/y"] }),
      {},
      "settled",
    ],
  ];
  for (const [what, object, more, expected] of TABLE) test(what, () => assert.equal(next(object, more), expected));
});

describe("what answers make of it", () => {
  test("without an lbInfo of the driver's it is the lbSpec", () => {
    const created = afterCreate(lb(creating), { status: "Succ", msg: "", lbInfo: {} }, NOW_MS);
    assert.deepEqual(created.status.lbInfo, { id: "lb" });
    assert.equal(next({ ...lb(), status: created.status }), "settled");
  });

  test("a periodic success stores and says nothing", () => {
    const same = lb();
    const after = afterEnsureLoadBalancer(same, { status: "Succ", msg: "" }, NOW_MS);
    assert.equal(after.status, same.status);
    assert.equal(after.event, undefined);
  });

  test("a failure is said with the driver's words, a Running is no failure", () => {
    const failed = afterCreate(lb(creating), { status: "Fail", msg: "quota" }, NOW_MS);
    assert.deepEqual(
      failed.status.conditions.map(({ type, reason, message }) => [type, reason, message]),
      [["Created", "OperationFailed", "quota"]],
    );
    assert.equal(failed.event?.reason, "FailedCreateLoadBalancer");
    const begun = lb(creating);
    assert.equal(afterCreate(begun, { status: "Running", msg: "" }, NOW_MS).status, begun.status);
  });

  test("being marked is enough to be created next", () => {
    assert.equal(next({ ...lb(fresh), status: markedCreating(lb(fresh), NOW_MS) }), "create");
  });
});
