/** `azlb release-brake HASH`: lets through what the brake withholds, once, if it is what the operator was shown. */
import type { Command } from "commander";

import type { Change } from "../core/guard/configuration-changes.ts";
import type { DriftPolicy } from "../core/intent/service-intent.ts";
import { acceptChangeFlag } from "./accept-change.ts";
import { withCloudConfigFlags } from "./cloud-config-flags.ts";
import { driftPolicyFlag } from "./drift-policy-flag.ts";
import { viewOptions, withViewFlags, type ViewFlags } from "./view-flags.ts";

interface ReleaseFlags extends ViewFlags {
  readonly acceptChange?: Change;
  readonly driftPolicy: DriftPolicy;
}

export function registerReleaseBrake(azlb: Command): void {
  const command = azlb
    .command("release-brake <hash>")
    .description(
      "let through, once and for 15 minutes, what azlb plan shows as withheld. HASH: as shown there. Needs the right to write ConfigMaps in kube-system",
    )
    .addOption(acceptChangeFlag())
    .addOption(driftPolicyFlag("as the controller has it, and azlb plan was given"));
  withCloudConfigFlags(withViewFlags(command)).action(run);
}

async function run(hash: string, flags: ReleaseFlags): Promise<void> {
  const [{ withClusterView }, { releaseBrake }, { commandLog }] = await Promise.all([
    import("../main/cluster-view.ts"),
    import("../main/release-brake.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const { driftPolicy } = flags;
  const options = { ...viewOptions(flags), acceptedChange: flags.acceptChange, log: commandLog() };
  const { text, isReleased } = await withClusterView(options, (view) => releaseBrake(view, hash, { driftPolicy }));
  process.stdout.write(text);
  if (!isReleased) process.exitCode = 1;
}
