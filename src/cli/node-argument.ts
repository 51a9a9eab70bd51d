/** `NAME` or `node/NAME`, as commands about a Node take it. */
import { InputError } from "./input-error.ts";

export function parseNodeArgument(text: string): string {
  const match = /^(?:(?:node|nodes|no)\/)?([a-z0-9]([a-z0-9.-]*[a-z0-9])?)$/.exec(text);
  if (match?.[1] === undefined) throw new InputError(`"${text}" is not the name of a Node: use NAME or node/NAME`);
  return match[1];
}
