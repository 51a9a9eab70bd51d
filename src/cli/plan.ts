/** `azlb plan`: prints what the controller would write now, and why. Reads only. */
import type { Command } from "commander";

import type { Change } from "../core/guard/configuration-changes.ts";
import { acceptChangeFlag } from "./accept-change.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { parseServiceArgument } from "./service-argument.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

interface PlanFlags extends ViewFlags {
  readonly json?: boolean;
  readonly namespace: string;
  readonly acceptChange?: Change;
}

export function registerPlan(azlb: Command): void {
  const command = azlb
    .command("plan [service]")
    .description("print what the controller would write and why, without writing. SERVICE: service/NAME (default: all)")
    .option("--json", "print one JSON object")
    .option("-n, --namespace <namespace>", "namespace of SERVICE", "default")
    .addOption(acceptChangeFlag());
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(service: string | undefined, flags: PlanFlags): Promise<void> {
  const only = service === undefined ? undefined : parseServiceArgument(service, flags.namespace);
  const [{ withClusterView }, { makePlan, renderPlanText }, { stderrLog }] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../main/make-plan.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const options = { ...viewOptions(flags), acceptedChange: flags.acceptChange, log: stderrLog() };
  const plan = await withClusterView(options, (view) => makePlan(view, only));
  process.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ changes: plan.changes, steps: plan.steps, rejected: plan.rejected, withheld: plan.withheld })}\n`
      : renderPlanText(plan),
  );
  if (plan.changes.length > 0) process.exitCode = 1;
}
