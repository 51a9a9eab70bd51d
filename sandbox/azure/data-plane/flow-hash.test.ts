import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { admitFlow } from "./admit-flow.ts";
import { eligibleMembers } from "./eligible-members.ts";
import { flowHash, memberFor } from "./flow-hash.ts";
import type { Flow } from "./forwarding.ts";
import { flow, frontend, member, PROBE, rule } from "./test-members.ts";

const flows = fc.record({
  transport: fc.constantFrom("Tcp" as const, "Udp" as const),
  sourceAddress: fc.ipV4(),
  sourcePort: fc.integer({ min: 1, max: 65_535 }),
  destinationAddress: fc.ipV4(),
  destinationPort: fc.integer({ min: 1, max: 65_535 }),
});
const members = fc
  .uniqueArray(fc.tuple(fc.ipV4(), fc.constantFrom("None" as const, "Up" as const, "Down" as const), fc.boolean()), {
    minLength: 1,
    maxLength: 20,
    selector: ([ip]) => ip,
  })
  .map((items) => items.map(([ip, state, up]) => ({ ...member(ip, state), up })));
const distributions = fc.constantFrom("Default" as const, "SourceIP" as const, "SourceIPProtocol" as const);

test("law: the same flow goes to the same member while membership is the same", () => {
  fc.assert(
    fc.property(flows, members, distributions, (flow, members, distribution) => {
      assert.equal(memberFor(flow, distribution, members), memberFor({ ...flow }, distribution, [...members]));
    }),
  );
});

test("law: a member that is Down is never chosen where there is a probe, whatever the probe results", () => {
  fc.assert(
    fc.property(flows, members, fc.boolean(), (flow, members, allDownMeansUp) => {
      const probe = { ...PROBE, allDownMeansUp };
      const healthy = new Set(members.filter(({ up }) => up).map(({ ip }) => ip));
      const admission = admitFlow(frontend(rule({ probe, members })), flow, {
        isStopped: () => false,
        healthOf: ({ ip }) => (healthy.has(ip) ? "up" : "down"),
        access: () => ({ allowed: true, rule: "" }),
        targetOf: () => 1,
      });
      if (admission.kind === "forward") assert.notEqual(admission.member.adminState, "Down");
      else
        assert.deepEqual(
          eligibleMembers({ probe, members }, ({ ip }) => (healthy.has(ip) ? "up" : "down")),
          [],
        );
    }),
  );
});

test("law: enough clients reach every eligible member", () => {
  fc.assert(
    fc.property(flows, members, (flow, members) => {
      const reached = new Set<string>();
      for (let port = 1; port <= 100 * members.length; port++) {
        reached.add(memberFor({ ...flow, sourcePort: port }, "Default", members)?.ip ?? "");
      }
      assert.deepEqual([...reached].sort(), members.map(({ ip }) => ip).sort());
    }),
    { numRuns: 25 },
  );
});

test("neighbouring source ports are spread evenly", () => {
  const eligible = rule().members;
  const counts = new Map<string, number>();
  for (let sourcePort = 40_000; sourcePort < 43_000; sourcePort++) {
    const { ip } = memberFor(flow({ sourcePort }), "Default", eligible) ?? member("none");
    counts.set(ip, (counts.get(ip) ?? 0) + 1);
  }
  assert.equal(counts.size, 3);
  for (const count of counts.values()) assert.ok(count > 800 && count < 1200, `${count} of 3000 went to one of three`);
});

const MODES = [
  ["Default", { sourcePort: 50_001 }, true],
  ["SourceIP", { sourcePort: 50_001 }, false],
  ["SourceIP", { transport: "Udp" }, false],
  ["SourceIP", { destinationPort: 81 }, false],
  ["SourceIP", { sourceAddress: "203.0.113.2" }, true],
  ["SourceIPProtocol", { sourcePort: 50_001 }, false],
  ["SourceIPProtocol", { transport: "Udp" }, true],
] as const satisfies readonly [string, Partial<Flow>, boolean][];

for (const [mode, change, differs] of MODES) {
  test(`${mode} ${differs ? "looks at" : "ignores"} ${Object.keys(change).join()}`, () => {
    assert.equal(flowHash(flow(change), mode) !== flowHash(flow(), mode), differs);
  });
}
