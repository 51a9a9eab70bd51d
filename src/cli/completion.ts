/**
 * `azlb completion SHELL`: a script that completes commands, flags and their values in bash, zsh, fish or PowerShell. The script asks
 * `azlb complete -- WORDS`, a hidden command, so it is right for every version. Registered last: it reads the other commands.
 */
import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";

export function registerCompletion(azlb: Command): void {
  tab(azlb, { completionCommandName: "completion" });
  const command = azlb.commands.find((one) => one.name() === "completion");
  command?.description(
    "print a script that completes azlb's commands and flags in a shell: source <(azlb completion bash)",
  );
}
