import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { Node, Taint } from "../core/model/kubernetes.ts";
import { ACCOUNT_ANNOTATION, renderAccount } from "../core/admin-state/drain-account.ts";
import { aNode } from "../../test/support/core-world.ts";
import { machineStillIn } from "./machines-out.ts";
import type { ScheduledEvent } from "./scheduled-events.ts";

const SETS =
  "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/vmss/virtualMachines";
const PLAIN = "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines";
const SPOT: Taint = { key: "cloudprovider.azure.microsoft.com/draining", value: "spot-eviction", effect: "NoSchedule" };
const ACCOUNT = renderAccount({ reasons: ["spot-eviction"], seenMs: 0, downMs: 1, pools: ["lb/pool"] });

function node(name: string, providerID: string, taints: readonly Taint[], account: string | undefined): Node {
  const made = aNode(name, [], { taints, providerID });
  return {
    ...made,
    metadata: { ...made.metadata, ...(account && { annotations: { [ACCOUNT_ANNOTATION]: account } }) },
  };
}

function event(...resources: string[]): ScheduledEvent {
  return { id: "1", type: "Preempt", status: "Scheduled", resources, notBefore: "", durationSeconds: -1 };
}

const OUT = node("a", `${SETS}/0`, [SPOT], ACCOUNT);

describe("every machine of an event is out", () => {
  for (const [what, resources, nodes, expected] of [
    ["when its Node has the account of this drain", ["vmss_0"], [OUT], undefined],
    ["whatever the case of its name", ["VMSS_0"], [OUT], undefined],
    ["also one that is in no scale set", ["vm1"], [node("b", `${PLAIN}/vm1`, [SPOT], ACCOUNT)], undefined],
    ["not where Down is not in effect", ["vmss_0"], [node("a", `${SETS}/0`, [SPOT], undefined)], "vmss_0"],
    ["not where the account is of a drain that is over", ["vmss_0"], [node("a", `${SETS}/0`, [], ACCOUNT)], "vmss_0"],
    ["not where the account cannot be read", ["vmss_0"], [node("a", `${SETS}/0`, [SPOT], "{}")], "vmss_0"],
    ["not while another one of it is in", ["vmss_0", "vmss_1"], [OUT, node("b", `${SETS}/1`, [], undefined)], "vmss_1"],
    ["not where one has no Node", ["vmss_0", "vmss_1"], [OUT], "vmss_1"],
    ["not where a namesake of another set is out", ["other_0"], [OUT], "other_0"],
    [
      "not where two Nodes claim a machine and one is in",
      ["vmss_0"],
      [OUT, node("b", `${SETS}/0`, [], undefined)],
      "vmss_0",
    ],
    ["not where it names none", [], [OUT], ""],
    ["not by a Node without a machine", [""], [node("a", "", [SPOT], ACCOUNT)], ""],
  ] as const) {
    test(what, () => assert.equal(machineStillIn(event(...resources), nodes), expected));
  }
});
