/**
 * Prints text for people. On a terminal the word at the beginning of a line that tells a state is coloured; NO_COLOR and
 * FORCE_COLOR are honoured. What the words are is the core's.
 */
import { styleText } from "node:util";

type Style = "red" | "yellow" | "green";

const STATES: readonly (readonly [Style, RegExp])[] = [
  ["red", /^(?:refused|unreadable|failing|held|loses|WRONG|DESTRUCTIVE|cannot be looked at)(?=[\s:]|$)|^[!x-](?= \S)/],
  ["yellow", /^(?:waits|withheld|drifted|to do|warnings?|throttled|\?)(?=[\s:]|$)|^[~=.](?= \S)/],
  ["green", /^OK(?=\s)|^\+(?= \S)/],
];

export function printText(text: string, stream: NodeJS.WriteStream = process.stdout): void {
  stream.write(
    text
      .split("\n")
      .map((line) => coloured(line, stream))
      .join("\n"),
  );
}

function coloured(line: string, stream: NodeJS.WriteStream): string {
  for (const [style, states] of STATES) {
    const [state] = states.exec(line) ?? [];
    if (state !== undefined) return styleText(style, state, { stream }) + line.slice(state.length);
  }
  return line;
}
