/**
 * The transitions of admin state, row by row, as users bring them about: taints and eviction notices go in through the
 * Kubernetes API, and the pools of the external and the internal load balancer are looked at in Azure.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { NODES } from "../../../src/kube/client/resources.ts";
import type { Topology } from "../../../sandbox/azure/index.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { AdminStateRig, DRAIN, OUT_OF_SERVICE, SPOT_EVICTION } from "./admin-state-rig.ts";

interface Kind {
  readonly what: string;
  readonly topology: Partial<Topology>;
  readonly dualStack?: boolean;
}

/** Pools of addresses, and pools of network interfaces of each kind of machine. */
const KINDS: readonly Kind[] = [
  { what: "pools of addresses", topology: { backendPool: "nodeIP" } },
  { what: "pools of a uniform scale set's interfaces", topology: { backendPool: "nodeIPConfiguration" } },
  {
    what: "pools of a flexible scale set's interfaces",
    topology: { backendPool: "nodeIPConfiguration", vmType: "vmssflex" },
  },
  {
    what: "pools of an availability set's interfaces",
    topology: { backendPool: "nodeIPConfiguration", vmType: "standard" },
  },
];

export function transitionsSuite(name: string, open: ClusterOpener): void {
  for (const kind of KINDS) describe(`admin state on ${name}, ${kind.what}`, () => rows(kind, open));
}

/** Both families; the opener's cluster must allow them. */
export function dualStackSuite(name: string, open: ClusterOpener): void {
  const kind: Kind = { what: "dual stack", topology: { backendPool: "nodeIP" }, dualStack: true };
  describe(`admin state on ${name}, both families`, () => rows(kind, open));
}

function rows({ topology, dualStack = false }: Kind, open: ClusterOpener): void {
  let rig: AdminStateRig;
  let first: string;
  let second: string;
  let third: string;

  before(async () => {
    rig = await AdminStateRig.open(open, { azure: { topology: { nodes: 3, ...topology } }, ipv6: dualStack });
    [first = "", second = "", third = ""] = rig.nodes;
    await rig.serve({ dualStack });
  });
  after(() => rig.close());

  test("None → Down when a node is out of service, whatever value and effect the taint has; then None again", async () => {
    for (const taint of [OUT_OF_SERVICE, { key: OUT_OF_SERVICE.key, effect: "NoSchedule" }]) {
      await rig.taint(second, taint);
      await rig.expect({ [second]: "Down" }, { dualStack });
      await rig.untaint(second, taint);
      await rig.expect({}, { dualStack });
    }
  });

  test("None → Down when a user taints a node as being evicted", async () => {
    await rig.taint(first, SPOT_EVICTION);
    await rig.expect({ [first]: "Down" }, { dualStack });
    await rig.untaint(first, SPOT_EVICTION);
    await rig.expect({}, { dualStack });
  });

  test("None → Down when an operator drains a node by hand, and None when the drain ends", async () => {
    await rig.taint(third, DRAIN);
    await rig.expect({ [third]: "Down" }, { dualStack });
    await rig.untaint(third, DRAIN);
    await rig.expect({}, { dualStack });
  });

  test("Down → None only when the last of the taints has gone", async () => {
    await rig.taint(first, OUT_OF_SERVICE);
    await rig.taint(first, SPOT_EVICTION);
    await rig.taint(third, OUT_OF_SERVICE);
    await rig.expect({ [first]: "Down", [third]: "Down" }, { dualStack });
    await rig.untaint(first, OUT_OF_SERVICE);
    await rig.untaint(third, OUT_OF_SERVICE);
    await rig.expect({ [first]: "Down" }, { dualStack });
    await rig.untaint(first, SPOT_EVICTION);
    await rig.expect({}, { dualStack });
  });

  test("cordons, other taints, other draining values and freezes change nothing", async () => {
    const sequence = await rig.sequence();
    await rig.services.kube.patch(NODES, { name: first }, { merge: { spec: { unschedulable: true } } });
    await rig.taint(first, { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" });
    await rig.taint(first, { key: SPOT_EVICTION.key, value: "upgrade", effect: "NoSchedule" });
    await rig.announce(first, {
      reason: "FreezeScheduled",
      message: "Freeze Scheduled: Wed, 26 Feb 2025 10:13:13 GMT.",
    });
    // whatever these would have led to comes before this
    await rig.taint(second, OUT_OF_SERVICE);
    await rig.expect({ [second]: "Down" }, { dualStack });
    await rig.untaint(second, OUT_OF_SERVICE);
    await rig.retaint(first, () => []);
    await rig.expect({}, { dualStack });
    const counts = Object.values(await rig.writes(sequence));
    assert.deepEqual(
      counts,
      Array.from({ length: dualStack ? 4 : 2 }, () => 2),
      "Down and None, for the second node alone",
    );
  });

  test("an eviction notice becomes a taint that does not evict pods, and the node is Down", async () => {
    const uid = await rig.announce(second);
    await rig.expect({ [second]: "Down" }, { dualStack });
    const { metadata, spec } = await rig.node(second);
    assert.deepEqual(
      spec.taints?.filter(({ key }) => key === SPOT_EVICTION.key),
      [SPOT_EVICTION],
    );
    assert.match(metadata.annotations?.["azlb.io/preempt-scheduled"] ?? "", new RegExp(`^${uid} at `));
    await rig.untaint(second, SPOT_EVICTION);
    await rig.expect({}, { dualStack });
  });

  test("Down → removed when the node goes: no call is made for its sake", async () => {
    await rig.taint(third, OUT_OF_SERVICE);
    await rig.expect({ [third]: "Down" }, { dualStack });
    const sequence = await rig.sequence();
    await rig.services.kube.delete(NODES, { name: third });
    // a node that changes after it: whatever the deletion led to is over by then
    await rig.taint(first, OUT_OF_SERVICE);
    await rig.expect({ [first]: "Down" }, { dualStack, nodes: [first, second] });
    for (const [pool, count] of Object.entries(await rig.writes(sequence)))
      assert.ok(count <= 2, `${count} writes of ${pool}: more than for the first node and the removal`);
    await rig.untaint(first, OUT_OF_SERVICE);
  });
}
