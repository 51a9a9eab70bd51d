/** Exit codes of commands that differ from the usual ones. */
import type { Command } from "commander";

const DETAILED = "--detailed-exitcode";
const EXIT_FAILED = 1;

/**
 * The exit code for bad input of the command that the user gave; `undefined`: the usual one. With `--detailed-exitcode` a 2
 * means changes. Read from the arguments of the command, since a flag before it may be what is wrong.
 */
export function badInputCodeOf({ args, commands }: Command): number | undefined {
  const [name = "", ...rest] = args;
  const command = commands.find((one) => one.name() === name || one.aliases().includes(name));
  const hasFlag = command?.options.some(({ long }) => long === DETAILED) === true;
  const end = rest.indexOf("--");
  return hasFlag && rest.slice(0, end < 0 ? undefined : end).includes(DETAILED) ? EXIT_FAILED : undefined;
}
