import assert from "node:assert/strict";
import { test } from "node:test";

import { readBind } from "./read-bind.ts";
import { loadBalancerOf, withLoadBalancerStatus } from "./bind-load-balancers.ts";
import type { Bind, BindLoadBalancer } from "../objects/objects.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const WEB: BindLoadBalancer = { name: "web", driver: "lbcf-azure", spec: { name: "edge" }, attributes: {} };

function bindOf(loadBalancers: readonly BindLoadBalancer[], status: Bind["status"]): Bind {
  const metadata = { name: "front", namespace: "default", uid: "u", resourceVersion: "1", generation: 1 };
  return { ...readBind({ metadata }), spec: { loadBalancers }, status };
}

test("a load balancer that is put back before it has left bears no deletion timestamp any more", () => {
  const made = { name: "web", driver: "lbcf-azure", spec: WEB.spec, conditions: [] };
  const left = bindOf([], { conditions: [], loadBalancerStatuses: [made] });
  const leaving = loadBalancerOf(left, "web", NOW_MS) ?? assert.fail();
  assert.equal(leaving.metadata.deletionTimestamp, "2026-01-01T00:00:00Z");
  const { status } = withLoadBalancerStatus(left, leaving, leaving.status);
  assert.equal(status.loadBalancerStatuses[0]?.deletionTimestamp, "2026-01-01T00:00:00Z");

  const again = bindOf([WEB], status);
  const back = loadBalancerOf(again, "web", NOW_MS) ?? assert.fail();
  assert.equal(back.metadata.deletionTimestamp, undefined);
  const [stored] = withLoadBalancerStatus(again, back, back.status).status.loadBalancerStatuses;
  assert.deepEqual(stored, made);
});

test("a load balancer without attributes stores none, as LBCF does, and is known to be synced", () => {
  const conditions = [{ type: "Created", status: "True" } as const, { type: "Ready", status: "True" } as const];
  const made = { name: "web", driver: "lbcf-azure", spec: WEB.spec, lbInfo: { id: "1" }, conditions };
  const bind = bindOf([WEB], { conditions: [], loadBalancerStatuses: [made] });
  const lb = loadBalancerOf(bind, "web", NOW_MS) ?? assert.fail();
  assert.deepEqual(lb.status.lastSyncedAttributes, {});
  const [stored] = withLoadBalancerStatus(bind, lb, lb.status).status.loadBalancerStatuses;
  assert.deepEqual(stored, made);
  const synced = { ...lb.status, lastSyncedAttributes: { a: "1" } };
  const [kept] = withLoadBalancerStatus(bind, lb, synced).status.loadBalancerStatuses;
  assert.deepEqual(kept?.lastSyncedAttributes, { a: "1" });
});

test("one that is not created yet was synced with nothing", () => {
  const creating = { name: "web", driver: "lbcf-azure", spec: WEB.spec, conditions: [] };
  const bind = bindOf([WEB], { conditions: [], loadBalancerStatuses: [creating] });
  assert.equal(loadBalancerOf(bind, "web", NOW_MS)?.status.lastSyncedAttributes, undefined);
});
