/** A request body in canonical form, with unknown fields refused, warned of or dropped as the client asked. */
import type { JsonObject } from "../contract.ts";
import type { Resource } from "../resource.ts";
import { badRequest, invalid, StatusError } from "../status-error.ts";
import { decode, DecodeError } from "./decode.ts";

export type FieldValidation = "Strict" | "Warn" | "Ignore";

/** `code` is what a body that cannot be used is answered with: 400, or 422 for the outcome of a patch. */
export function decodeBody(
  resource: Resource,
  body: JsonObject,
  validation: FieldValidation,
  warnings: string[],
  code: 400 | 422,
): JsonObject {
  try {
    const { value, unknown } = decode(resource.schema, body);
    if (unknown.length > 0) reportUnknown(resource, unknown, validation, warnings, code);
    return value as JsonObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const message = `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${error.message}`;
    throw refusal(resource, message, code);
  }
}

function reportUnknown(
  resource: Resource,
  unknown: readonly string[],
  validation: FieldValidation,
  warnings: string[],
  code: 400 | 422,
): void {
  const texts = unknown.map((path) => `unknown field "${path}"`);
  if (validation === "Strict") {
    throw refusal(
      resource,
      `${code === 400 ? `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ` : ""}strict decoding error: ${texts.join(", ")}`,
      code,
    );
  }
  if (validation === "Warn") warnings.push(...texts);
}

function refusal(resource: Resource, message: string, code: 400 | 422): StatusError {
  if (code === 400) return badRequest(message);
  return invalid(resource, "", [{ reason: "FieldValueInvalid", field: "patch", message: `Invalid value: ${message}` }]);
}
