/** `azlb version`: which azlb this is, and what it runs on. */
import type { Command } from "commander";

import { VERSION } from "../main/version.ts";
import { type OutputFormat, outputFlag, printAs } from "./output-flag.ts";

export function registerVersion(azlb: Command): void {
  azlb
    .command("version")
    .description("print the version of azlb and of the Node that it runs on")
    .addOption(outputFlag())
    .action(async ({ output }: { readonly output?: OutputFormat }) => {
      const { version: node, platform, arch } = process;
      const text = (): string => `azlb ${VERSION} (Node ${node}, ${platform} ${arch})\n`;
      await printAs(output, { version: VERSION, node, platform, arch }, text);
    });
}
