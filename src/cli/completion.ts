/**
 * `azlb completion SHELL`: a script that completes commands, flags and their values in bash, zsh, fish or PowerShell. The script asks
 * `azlb complete -- WORDS`, a hidden command, so it is right for every version. Registered last: it reads the other commands.
 */
import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";

/** The script for bash calls a helper of the package bash-completion, which many machines do not have: as far as it is called. */
const WITHOUT_BASH_COMPLETION = `if ! declare -F _get_comp_words_by_ref > /dev/null; then
    _get_comp_words_by_ref() {
        words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
    }
fi
`;

export function registerCompletion(azlb: Command): void {
  tab(azlb, { completionCommandName: "completion" });
  const command = azlb.commands.find((one) => one.name() === "completion");
  command?.description(
    "print a script that completes azlb's commands and flags in a shell: source <(azlb completion bash)",
  );
  command?.hook("preAction", ({ args: [shell] }) => {
    if (shell === "bash") process.stdout.write(WITHOUT_BASH_COMPLETION);
  });
}
