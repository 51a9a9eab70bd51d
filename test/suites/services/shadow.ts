/**
 * The shadow beside the incumbent, in its recordings: after each step of a user the shadow predicts, Azure comes to the recorded
 * state, and the two are compared. They agree, or differ as docs/differences.md says.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { ScoredChange } from "../../../src/core/shadow/shadow-report.ts";
import { findingText } from "../../../src/core/shadow/render-shadow.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { readScenarios, type Scenario } from "../../support/incumbent-states.ts";
import { IncumbentStandIn } from "../../support/incumbent-stand-in.ts";
import { CLUSTERS_AT_ONCE, ServiceRig } from "../../support/service-rig.ts";
import { ShadowRig } from "../../support/shadow-rig.ts";

/** By scenario: the known differences that must be found. */
const EXPLAINED: Readonly<Record<string, readonly string[]>> = {
  "bad-idle-timeout": ["refused-leaves-public-ip"],
  "flip-to-internal": ["addresses-of-others", "external-to-internal-leaves-rule"],
  "no-floating-ip": ["node-rules-by-service"],
};

export function shadowSuite(name: string, open: ClusterOpener, scenarios = readScenarios()): void {
  describe(`the shadow beside the incumbent, on ${name}`, { concurrency: CLUSTERS_AT_ONCE }, () => {
    for (const scenario of scenarios) {
      test(`${scenario.name}: as predicted`, async () => {
        const rig = await ServiceRig.open(open, { ipv6: true });
        try {
          await rig.stop();
          assertAgreement(await scoresOf(rig, scenario), EXPLAINED[scenario.name] ?? []);
        } finally {
          await rig.close();
        }
      });
    }
  });
}

async function scoresOf(rig: ServiceRig, { steps }: Scenario): Promise<readonly ScoredChange[]> {
  const incumbent = new IncumbentStandIn(rig);
  const shadow = await ShadowRig.open(rig);
  const scores: ScoredChange[] = [];
  try {
    for (const { do: doing, settled } of steps) {
      if (doing.arm !== undefined) await rig.put(doing.arm[1], doing.arm[2]);
      await incumbent.perform(doing);
      await shadow.predict();
      if (settled === undefined) continue;
      const before = await rig.everything();
      await incumbent.lay(settled.state);
      const after = await rig.everything();
      const changes = await shadow.scored();
      scores.push(...changes);
      if (JSON.stringify(before) !== JSON.stringify(after)) assert.equal(changes.length, 1, JSON.stringify(doing));
    }
    return scores;
  } finally {
    await shadow.close();
  }
}

export function assertAgreement(scores: readonly ScoredChange[], known: readonly string[]): void {
  const findings = scores.flatMap((change) => change.findings);
  const texts = findings.map((finding) => findingText(finding, "rg"));
  assert.deepEqual(
    texts.filter((text) => text.endsWith("[UNEXPLAINED]")),
    [],
  );
  assert.deepEqual([...new Set(findings.flatMap((finding) => finding.known?.id ?? []))].sort(), known);
}
