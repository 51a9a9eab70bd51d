/** `docs/flags.md`, made of the commands as they are registered. What a flag does is its command's. */
import type { Argument, Command, Option } from "commander";

const HEADER = `# Commands and flags

Made by \`npm run docs\` from the commands as they are registered; do not edit.

Exit codes: 0 done, 1 the work failed or a bar does not hold, 2 bad input. Every command takes \`--help\`. A default that
depends on something stands in the effect.
`;

export function renderFlagDocs(azlb: Command): string {
  return [HEADER, ...commandsOf(azlb, "").flatMap(([name, command]) => renderCommand(name, command))].join("\n");
}

/** With their full names, each before its own sub-commands. */
function commandsOf(command: Command, parent: string): [string, Command][] {
  const name = `${parent} ${command.name()}`.trim();
  return [[name, command], ...command.commands.flatMap((each) => commandsOf(each, name))];
}

function renderCommand(name: string, command: Command): string {
  const usage = [name, ...command.registeredArguments.map(argumentText)].join(" ");
  const title = [`## \`${usage}\``, "", sentence(command.description()), ""];
  const shown = command.options.filter(({ hidden }) => !hidden);
  const hidden = command.options.filter((option) => option.hidden && option.description === "");
  const table = ["| Flag | Default | Effect |", "|---|---|---|", ...shown.map(renderFlag), ""];
  return [
    ...title,
    ...(shown.length > 0 ? table : []),
    ...(hidden.length > 0 ? [`Taken without any effect: ${hidden.map(flagText).join(", ")}.`, ""] : []),
  ].join("\n");
}

function argumentText(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

function renderFlag(option: Option): string {
  const { flags, description, argChoices, defaultValue } = option;
  const choices = argChoices === undefined ? "" : `; one of ${argChoices.map((each) => `\`${each}\``).join(", ")}`;
  const byDefault = defaultValue === undefined ? "" : `\`${String(defaultValue)}\``;
  return `| \`${cell(flags)}\` | ${byDefault} | ${cell(description)}${choices} |`;
}

function flagText({ long, short }: Option): string {
  return `\`${long ?? short ?? ""}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
