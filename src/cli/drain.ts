/**
 * `azlb drain NODE` and `azlb undrain NODE`: take a node out of all load balancers for new connections, and back. They
 * write a taint; the controller does the rest. Pods and volumes stay.
 */
import type { Command } from "commander";

import type { DrainChange } from "../main/drain-node.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { parseNodeArgument } from "./node-argument.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

interface WaitFlags extends ViewFlags {
  readonly wait?: boolean;
}

interface DrainFlags extends WaitFlags {
  readonly allowPods?: boolean;
}

const WAIT = "wait until every load balancer has it in effect; reads Azure, so it needs --cloud-config";

export function registerDrain(azlb: Command): void {
  const drain = azlb
    .command("drain <node>")
    .description("send no new connections to a node; its pods and volumes stay. Writes the taint azlb.io/drain")
    .option("--allow-pods", "let new pods be scheduled there (effect PreferNoSchedule instead of NoSchedule)")
    .option("--wait", WAIT);
  withCloudConfigFlags(withViewFlags(drain)).action((node: string, flags: DrainFlags) =>
    run(node, flags, { kind: "drain", effect: flags.allowPods === true ? "PreferNoSchedule" : "NoSchedule" }),
  );
  const undrain = azlb
    .command("undrain <node>")
    .description("end a drain: removes the taint azlb.io/drain, so that the node gets new connections again")
    .option("--wait", WAIT);
  withCloudConfigFlags(withViewFlags(undrain)).action((node: string, flags: WaitFlags) =>
    run(node, flags, { kind: "undrain" }),
  );
}

async function run(node: string, flags: WaitFlags, change: DrainChange): Promise<void> {
  const name = parseNodeArgument(node);
  const [{ changeDrain, waitForDrain }, { commandLog }] = await Promise.all([
    import("../main/drain-node.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  if (flags.wait === true)
    await waitForDrain({ view: { ...viewOptions(flags), log: commandLog() }, name, change, say });
  else await changeDrain({ kubeconfig: flags.kubeconfig, context: flags.context, name, change, say });
}
