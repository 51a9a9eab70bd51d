/** A request body in canonical form, with unknown fields refused, warned of or dropped as the client asked. */
import type { JsonObject } from "../contract.ts";
import type { Resource } from "../resource.ts";
import { badRequest, invalid, type StatusError } from "../status-error.ts";
import { decode, DecodeError } from "./decode.ts";
import { prune } from "./prune.ts";
import { objectMeta, struct } from "./schema.ts";

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
    const { value, unknown } = resource.custom ? decodeCustom(resource, body) : decode(resource.schema, body);
    if (unknown.length > 0) reportUnknown(resource, unknown, validation, warnings, code);
    return value as JsonObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const message = `${resource.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${error.message}`;
    throw refusal(resource, message, code);
  }
}

/** Custom resources are pruned rather than decoded; their metadata is like everyone's. */
function decodeCustom(resource: Resource, body: JsonObject): { value: unknown; unknown: readonly string[] } {
  const { metadata, ...rest } = body;
  const unknown: string[] = [];
  const pruned = prune(resource.schema, rest, unknown) as JsonObject;
  const meta = decode(struct({ metadata: objectMeta }), { metadata });
  return { value: { ...pruned, ...(meta.value as JsonObject) }, unknown: [...unknown, ...meta.unknown] };
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
