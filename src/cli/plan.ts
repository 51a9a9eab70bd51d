/** `azlb plan`: prints what the controller would write now, and why. Reads only. */
import type { Command } from "commander";

import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { parseServiceArgument } from "./service-argument.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

interface PlanFlags extends ViewFlags {
  readonly json?: boolean;
  readonly namespace: string;
}

export function registerPlan(azlb: Command): void {
  const command = azlb
    .command("plan [service]")
    .description("print what the controller would write and why, without writing. SERVICE: service/NAME (default: all)")
    .option("--json", "print one JSON object")
    .option("-n, --namespace <namespace>", "namespace of SERVICE", "default");
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(service: string | undefined, flags: PlanFlags): Promise<void> {
  const only = service === undefined ? undefined : parseServiceArgument(service, flags.namespace);
  const [{ withClusterView }, { makePlan, renderPlanText }, { stderrLog }] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../main/make-plan.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const plan = await withClusterView({ ...viewOptions(flags), log: stderrLog() }, (view) => makePlan(view, only));
  process.stdout.write(
    flags.json === true ? `${JSON.stringify({ steps: plan.steps, rejected: plan.rejected })}\n` : renderPlanText(plan),
  );
}
