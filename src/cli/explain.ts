/** `azlb explain service/NAME` and `node/NAME`: prints the state of a Service or a Node and what it waits for. Reads only. */
import type { Command } from "commander";

import type { DriftPolicy } from "../core/intent/service-intent.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { driftPolicyFlag } from "./drift-policy-flag.ts";
import { parseNodeArgument } from "./node-argument.ts";
import { parseServiceArgument } from "./service-argument.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

interface ExplainFlags extends ViewFlags {
  readonly namespace: string;
  readonly driftPolicy: DriftPolicy;
}

export function registerExplain(azlb: Command): void {
  const command = azlb
    .command("explain <object>")
    .description("print the state of a Service or a Node and what it waits for. OBJECT: service/NAME or node/NAME")
    .option("-n, --namespace <namespace>", "namespace of a Service", "default")
    .addOption(driftPolicyFlag("as the controller has it: which differences it would leave"));
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(object: string, flags: ExplainFlags): Promise<void> {
  await (/^(node|nodes|no)\//.test(object) ? explainNode(object, flags) : explainService(object, flags));
}

async function explainNode(node: string, flags: ExplainFlags): Promise<void> {
  const name = parseNodeArgument(node);
  const [{ withClusterView }, { explainNode: explain }, { stderrLog }] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../main/explain-node.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const text = await withClusterView({ ...viewOptions(flags), log: stderrLog() }, (view) => explain(view, name));
  process.stdout.write(text);
}

async function explainService(service: string, flags: ExplainFlags): Promise<void> {
  const key = parseServiceArgument(service, flags.namespace);
  const [{ withClusterView }, { explainService: explain }, { stderrLog }] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../main/explain-service.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const text = await withClusterView({ ...viewOptions(flags), log: stderrLog() }, (view) =>
    explain(view, key, { driftPolicy: flags.driftPolicy }),
  );
  process.stdout.write(text);
}
