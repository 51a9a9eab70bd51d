/** `azlb explain service/NAME`: prints the state of a Service and what it waits for. Reads only. */
import type { Command } from "commander";

import type { DriftPolicy } from "../core/intent/service-intent.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { driftPolicyFlag } from "./drift-policy-flag.ts";
import { parseServiceArgument } from "./service-argument.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

interface ExplainFlags extends ViewFlags {
  readonly namespace: string;
  readonly driftPolicy: DriftPolicy;
}

export function registerExplain(azlb: Command): void {
  const command = azlb
    .command("explain <service>")
    .description("print the state of a Service and what it waits for. SERVICE: service/NAME")
    .option("-n, --namespace <namespace>", "namespace of SERVICE", "default")
    .addOption(driftPolicyFlag("as the controller has it: which differences it would leave"));
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(service: string, flags: ExplainFlags): Promise<void> {
  const key = parseServiceArgument(service, flags.namespace);
  const [{ withClusterView }, { explainService }, { stderrLog }] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../main/explain-service.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const text = await withClusterView({ ...viewOptions(flags), log: stderrLog() }, (view) =>
    explainService(view, key, { driftPolicy: flags.driftPolicy }),
  );
  process.stdout.write(text);
}
