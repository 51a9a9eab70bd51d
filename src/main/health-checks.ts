/** The controller's health checks by name. How they are asked for is `health-server.ts`'s. */
import type { Controller } from "../controller/controller.ts";
import type { LeaderElection } from "../kube/election/leader-election.ts";
import type { ConfigWatch } from "./config-watch.ts";
import type { Check, HealthChecks } from "./health-server.ts";

export interface CheckedParts {
  /** The controller while this process leads. */
  readonly leading: () => Pick<Controller, "isReady" | "unready"> | undefined;
  /** Absent: this process leads without a Lease. */
  readonly election: Pick<LeaderElection, "holder"> | undefined;
  readonly config: Pick<ConfigWatch, "problem">;
}

export function healthChecks({ leading, election, config }: CheckedParts): HealthChecks {
  const lease: Check = {
    name: "lease",
    failure: () =>
      leading() === undefined && (election === undefined || election.holder === "")
        ? "the Lease has no holder yet, or was not read"
        : undefined,
  };
  const configuration: Check = {
    name: "configuration",
    failure: () => leading()?.unready,
  };
  const caches: Check = {
    name: "caches",
    failure: () => {
      const controller = leading();
      const isFilled = controller === undefined || controller.isReady || controller.unready !== undefined;
      return isFilled ? undefined : "the caches are not filled";
    },
  };
  const cloudConfig: Check = {
    name: "cloud-config",
    failure: () => undefined, // the one before stays in force
    remark: () => config.problem && `the cloud config is not in force: ${config.problem}`,
  };
  const leads: Check = {
    name: "leads",
    failure: () => (leading() === undefined ? "another process leads, or none" : undefined),
  };
  return {
    live: [{ name: "ping", failure: () => undefined }],
    ready: [lease, configuration, caches, cloudConfig],
    leader: [leads, configuration, caches],
  };
}
