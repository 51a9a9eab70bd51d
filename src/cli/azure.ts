/** `azlb azure`: the Azure emulator alone. */
import type { Command } from "commander";

export function registerAzure(azlb: Command): void {
  azlb
    .command("azure")
    .description("start the Azure emulator")
    .action(async () => {});
}
