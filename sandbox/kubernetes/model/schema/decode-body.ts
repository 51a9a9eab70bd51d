/** Decodes a request body; unknown fields are refused, reported or dropped, as `fieldValidation` says. */
import type { JsonObject } from "../contract.ts";
import type { Resource } from "../resource.ts";
import { badRequest, invalid, type StatusError } from "../status-error.ts";
import { decode, DecodeError } from "./decode.ts";
import { prune } from "./prune.ts";
import { objectMeta, struct } from "./schema.ts";

export type FieldValidation = "Strict" | "Warn" | "Ignore";

/** `code` is the status for an undecodable body: 400, or 422 for the result of a patch. */
export function decodeBody(
  resource: Resource,
  body: JsonObject,
  validation: FieldValidation,
  warnings: string[],
  code: 400 | 422,
): JsonObject {
  try {
    const { value, unknown } = resource.custom ? decodeCustom(resource, body) : decode(resource.schema, body);
    const texts = unknown.map((path) => `unknown field "${path}"`);
    if (texts.length > 0 && validation === "Strict") {
      throw new DecodeError(`strict decoding error: ${texts.join(", ")}`);
    }
    if (validation === "Warn") warnings.push(...texts);
    return value as JsonObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw refusal(resource, error.message, code);
  }
}

/** Custom resources are pruned rather than decoded; their metadata is decoded as usual. */
function decodeCustom(resource: Resource, body: JsonObject): { value: unknown; unknown: readonly string[] } {
  const { metadata, ...rest } = body;
  const unknown: string[] = [];
  const pruned = prune(resource.schema, rest, unknown) as JsonObject;
  const meta = decode(struct({ metadata: objectMeta }), { metadata });
  return { value: { ...pruned, ...(meta.value as JsonObject) }, unknown: [...unknown, ...meta.unknown] };
}

function refusal(resource: Resource, why: string, code: 400 | 422): StatusError {
  const { kind, version } = resource;
  if (code === 400) return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
  return invalid(resource, "", [{ reason: "FieldValueInvalid", field: "patch", message: `Invalid value: ${why}` }]);
}
