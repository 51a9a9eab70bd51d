/**
 * Validates the tags of resources and resource groups. The gateway does so before a provider sees the request. Azure
 * documents the limits; the code for too many tags is not documented.
 */
import { gateway } from "./errors.ts";
import { isObject } from "./json.ts";

const NAME_LENGTH = 512;
const VALUE_LENGTH = 256;
/** Also control characters, which a pattern would need escapes for. */
const RESERVED = /[<>%&\\?/]/;
const LAST_CONTROL_CHARACTER = 31;
/** Names of Azure's own tags may have any characters. */
const OF_AZURE = /^(hidden-|link:)/i;

export function checkTags(tags: unknown, most: number): void {
  if (!isObject(tags)) return;
  const names = Object.keys(tags);
  if (names.length > most) {
    throw gateway(
      400,
      "TooManyTags",
      `Too many tags on the resource or resource group. Requested tag count - '${names.length}'. Maximum number of tags allowed - '${most}'.`,
    );
  }
  const reserved = names.filter((name) => !OF_AZURE.test(name) && hasReserved(name));
  if (reserved.length > 0) {
    throw gateway(
      400,
      "InvalidTagNameCharacters",
      `The tag names '${reserved.join(", ")}' have reserved characters '<,>,%,&,\\,?,/' or control characters.`,
    );
  }
  for (const [name, value] of Object.entries(tags)) {
    if (name.length > NAME_LENGTH) throw tooLong("InvalidTagName", "name", name, NAME_LENGTH);
    if (typeof value === "string" && value.length > VALUE_LENGTH) {
      throw tooLong("InvalidTagValueLength", "value", value, VALUE_LENGTH);
    }
  }
}

function hasReserved(name: string): boolean {
  return RESERVED.test(name) || name.split("").some((letter) => letter.charCodeAt(0) <= LAST_CONTROL_CHARACTER);
}

function tooLong(code: string, what: "name" | "value", text: string, most: number): Error {
  return gateway(
    400,
    code,
    `Tag ${what} too large. Tag ${what} '${text}' exceeds the maximum length. Maximum allowed length for tag ${what} - '${most}' characters.`,
  );
}
