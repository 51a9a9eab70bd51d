import assert from "node:assert/strict";
import { test } from "node:test";

import { eligibleMembers, membersCutOff } from "./eligible-members.ts";
import type { AdminState, ForwardingRule } from "./forwarding.ts";
import type { Health } from "./probe-state.ts";
import { member, PROBE, rule } from "./test-members.ts";

const [A, B] = ["10.240.0.4", "10.240.0.5"] as const;

/** `None/up, Down/down`: admin state and health of A, B, …, as a rule. */
function azure(text: string, more: Partial<ForwardingRule> = {}) {
  const states = text.split(", ").map((item) => item.split("/") as [AdminState, Health]);
  const members = states.map(([adminState], index) => member(`10.240.0.${index + 4}`, adminState));
  const healthOf = ({ ip }: { ip: string }): Health => states[Number(ip.split(".").at(-1)) - 4]?.[1] ?? "unknown";
  return { rule: rule({ members, ...more }), healthOf };
}

const ANYWAY = { probe: { ...PROBE, allDownMeansUp: true } };
const UNPROBED = { probe: undefined };

const ELIGIBLE: readonly [name: string, states: string, more: Partial<ForwardingRule>, eligible: readonly string[]][] =
  [
    ["the probe decides where no admin state is set", "None/up, None/down", {}, [A]],
    ["a member that was never probed gets nothing", "None/unknown, None/up", {}, [B]],
    ["Up is served whatever its probe says", "Up/down, None/down", {}, [A]],
    ["Down is not served whatever its probe says", "Down/up, None/up", {}, [B]],
    ["all probed down: no member", "None/down, None/down", {}, []],
    ["all probed down, and that means up: all members", "None/down, None/down", ANYWAY, [A, B]],
    ["all probed down, and that means up: not a member that is Down", "None/down, Down/up", ANYWAY, [A]],
    ["one is up: that it would mean up does not matter", "None/down, None/up", ANYWAY, [B]],
    ["without a probe all members, whatever their admin state", "Down/unknown, None/unknown", UNPROBED, [A, B]],
  ];

for (const [name, states, more, eligible] of ELIGIBLE) {
  test(`new flows: ${name}`, () => {
    const { rule, healthOf } = azure(states, more);
    assert.deepEqual(
      eligibleMembers(rule, healthOf).map(({ ip }) => ip),
      eligible,
    );
  });
}

const CUT_OFF: readonly [name: string, states: string, more: Partial<ForwardingRule>, cutOff: readonly string[]][] = [
  ["a Standard pool keeps them when all probes are down", "None/down, None/down", {}, []],
  ["a Standard pool of one ends them", "None/down", {}, [A]],
  ["a Basic pool ends them", "None/down, None/down", { sku: "Basic" }, [A, B]],
  ["a Basic pool keeps them while one is up", "None/down, None/up", { sku: "Basic" }, []],
  ["a Basic pool keeps them before the first probe", "None/unknown, None/down", { sku: "Basic" }, []],
  ["a pool of one keeps them when it is set Down", "Down/down", {}, []],
  ["a pool of one that is Up keeps them", "Up/down", {}, []],
  ["all down means up: they are kept", "None/down", ANYWAY, []],
  ["without a probe they are kept", "None/unknown", UNPROBED, []],
];

for (const [name, states, more, cutOff] of CUT_OFF) {
  test(`established connections: ${name}`, () => {
    const { rule, healthOf } = azure(states, more);
    assert.deepEqual(
      membersCutOff(rule, healthOf).map(({ ip }) => ip),
      cutOff,
    );
  });
}
