/**
 * Who has the cluster before azlb in the guide: a stand-in that leaves what was recorded of the incumbent, or the incumbent's own
 * program, which serves Services itself.
 */
import assert from "node:assert/strict";

import { IncumbentProgram } from "../../support/incumbent-program.ts";
import { readScenarios } from "../../support/incumbent-states.ts";
import { IncumbentStandIn } from "../../support/incumbent-stand-in.ts";
import type { ServiceRig } from "../../support/service-rig.ts";

export interface Incumbent {
  /** What `azlb doctor` says of who runs, while it has the cluster. */
  readonly doctorSays: RegExp;
  /** It serves its first Services. */
  begin(): Promise<void>;
  /** A user's next change, and what it makes of it. */
  change(): Promise<void>;
  services(): Promise<readonly string[]>;
  /** Its service controller is switched off. */
  stop(): Promise<void>;
  /** It is switched on again; resolves after its first sync. */
  resume(): Promise<void>;
}

export type IncumbentOf = (rig: ServiceRig) => Incumbent;

const RECORDING = "three-services";

export const recordedIncumbent: IncumbentOf = (rig) => {
  const standIn = new IncumbentStandIn(rig);
  const scenario = readScenarios().find(({ name }) => name === RECORDING);
  const steps = (scenario?.steps ?? []).filter(({ settled }) => settled !== undefined).values();
  const change = async (): Promise<void> => {
    const { value: step } = steps.next();
    assert.ok(step?.settled !== undefined, `${RECORDING} has no further step`);
    await standIn.perform(step.do);
    await standIn.lay(step.settled.state);
  };
  return {
    doctorSays: /^OK +controllers +azlb does not run, the resource lock is free/m,
    begin: change,
    change,
    services: () => Promise.resolve(standIn.services),
    stop: () => Promise.resolve(),
    resume: () => Promise.resolve(),
  };
};

/** With leader election, as in a cluster; seconds are enough here. */
const LEADER_ELECTION = [
  "--leader-elect=true",
  "--leader-elect-lease-duration=15s",
  "--leader-elect-renew-deadline=12s",
  "--leader-elect-retry-period=1s",
];

export function programOf(binary: string): IncumbentOf {
  return (rig) => {
    const program = new IncumbentProgram(binary, rig, LEADER_ELECTION);
    const serve = async (name: string, annotations: Readonly<Record<string, string>>): Promise<void> => {
      const isDone = await program.during({ service: name }, () => rig.apply({ name, annotations }));
      await isDone();
    };
    return {
      doctorSays: /^OK +controllers +azlb does not run, cloud-controller-manager runs \(.+\)/m,
      begin: async () => {
        await program.start();
        await serve("web", {});
      },
      change: () => serve("db", { "azure-load-balancer-internal": "true" }),
      services: () => program.services(),
      stop: () => program.stop(),
      resume: () => program.start(),
    };
  };
}
