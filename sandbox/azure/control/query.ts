/** Parses query parameters of the control endpoint. */
import { BadInput } from "../../shared/input.ts";
import type { HttpRequest } from "../server/http-message.ts";

/** The parameter as a whole number under its own name; empty if absent. */
export function wholeNumber<Key extends string>(query: HttpRequest["query"], key: Key): { [Name in Key]?: number } {
  const text = query[key];
  if (text === undefined) return {};
  if (!/^\d+$/.test(text)) throw new BadInput(`${key} must be a whole number, not ${JSON.stringify(text)}`);
  return { [key]: Number(text) } as { [Name in Key]?: number };
}
