/**
 * `azlb explain`: every Service that is not as it asks, worst first. `azlb explain service/NAME` and `node/NAME`: the state of
 * one and what it waits for. Reads only; exit code 1 where something is refused or fails.
 */
import type { Command } from "commander";

import type { ClusterView } from "../main/cluster-view.ts";
import type { Explanation } from "../main/explain-service.ts";
import type { DriftPolicy } from "../core/intent/service-intent.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { namespaceFlag, namespaceOf } from "./cluster-flags.ts";
import { driftPolicyFlag } from "./drift-policy-flag.ts";
import { parseNodeArgument } from "./node-argument.ts";
import { printText } from "./print.ts";
import { terminalProgress } from "./progress.ts";
import { parseServiceArgument } from "./service-argument.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

const EXIT_FAILING = 1;

interface ExplainFlags extends ViewFlags {
  readonly namespace?: string;
  readonly driftPolicy: DriftPolicy;
}

export function registerExplain(azlb: Command): void {
  const command = azlb
    .command("explain [object]")
    .description(
      "print the state of a Service or a Node and what it waits for; without OBJECT every Service that is not as it asks, worst first; exit 1 if one is refused or fails. OBJECT: service/NAME or node/NAME",
    )
    .addOption(namespaceFlag("namespace of a Service"))
    .addOption(driftPolicyFlag("as the controller has it: which differences it would leave"));
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(object: string | undefined, flags: ExplainFlags): Promise<void> {
  const explain = await explainerOf(object, flags);
  const [{ withClusterView }, { commandLog }] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const progress = terminalProgress(process.stderr);
  try {
    const options = { ...viewOptions(flags), log: commandLog(), onProgress: progress.show };
    const { text, isFailing } = await withClusterView(options, explain);
    progress.clear();
    printText(text);
    if (isFailing) process.exitCode = EXIT_FAILING;
  } finally {
    progress.clear();
  }
}

type Explainer = (view: ClusterView) => Promise<Explanation>;

/** The argument is read before anything else: what is wrong with it is told at once. */
async function explainerOf(object: string | undefined, flags: ExplainFlags): Promise<Explainer> {
  const { driftPolicy } = flags;
  if (object === undefined) {
    const { explainCluster } = await import("../main/explain-cluster.ts");
    return (view) => explainCluster(view, { driftPolicy });
  }
  if (/^(node|nodes|no)\//.test(object)) {
    const name = parseNodeArgument(object);
    const { explainNode } = await import("../main/explain-node.ts");
    return async (view) => ({ text: await explainNode(view, name), isFailing: false });
  }
  const key = parseServiceArgument(object, await namespaceOf(flags));
  const { explainInFull } = await import("../main/explain-service.ts");
  return (view) => explainInFull(view, key, { driftPolicy });
}
