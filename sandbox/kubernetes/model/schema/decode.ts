/**
 * Decodes the body of a built-in kind to its canonical form: unknown fields are dropped and listed, empty values count as
 * unset, times are normalised. A value of the wrong type throws `DecodeError`.
 */
import { isObject, setField } from "../json.ts";
import { memberOf } from "./prune.ts";
import type { Schema } from "./schema.ts";

export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

export interface Decoded {
  readonly value: unknown;
  /** Dotted paths of unknown fields. */
  readonly unknown: readonly string[];
}

export function decode(schema: Schema, value: unknown): Decoded {
  const unknown: string[] = [];
  return { value: decodeValue(schema, value, "", unknown), unknown };
}

function decodeValue(schema: Schema, value: unknown, path: string, unknown: string[]): unknown {
  if (value === null || value === undefined) return undefined;
  if (schema["x-kubernetes-preserve-unknown-fields"]) return value;
  if (schema["x-kubernetes-int-or-string"]) return decodeIntOrString(value, path);
  switch (schema.type) {
    case "object":
      return decodeObject(schema, value, path, unknown);
    case "array":
      return decodeArray(schema, value, path, unknown);
    case "string":
      return decodeString(schema, value, path);
    case "integer":
    case "number":
      if (typeof value !== "number" || (schema.type === "integer" && !Number.isInteger(value)))
        throw wrong("int", value, path);
      return schema.omitEmpty && value === 0 ? undefined : value;
    case "boolean":
      if (typeof value !== "boolean") throw wrong("bool", value, path);
      return schema.omitEmpty && !value ? undefined : value;
    case undefined:
      return value;
  }
}

function decodeObject(schema: Schema, value: unknown, path: string, unknown: string[]): unknown {
  if (!isObject(value)) throw wrong("object", value, path);
  const decoded: Record<string, unknown> = {};
  const values = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
  for (const [name, member] of Object.entries(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    const memberSchema = memberOf(schema, name);
    if (memberSchema === undefined) {
      unknown.push(at);
      continue;
    }
    const result = decodeValue(memberSchema, member, at, unknown);
    if (result !== undefined) setField(decoded, name, result);
    else if (values !== undefined) setField(decoded, name, memberSchema.type === "string" ? "" : {});
  }
  return schema.omitEmpty && Object.keys(decoded).length === 0 ? undefined : decoded;
}

function decodeArray(schema: Schema, value: unknown, path: string, unknown: string[]): unknown {
  if (!Array.isArray(value)) throw wrong("list", value, path);
  const items = schema.items ?? {};
  const decoded = value.map((item, index) => {
    const result = decodeValue(items, item, `${path}[${index}]`, unknown);
    return result ?? (items.type === "string" ? "" : items.type === "object" ? {} : item);
  });
  return schema.omitEmpty && decoded.length === 0 ? undefined : decoded;
}

function decodeString(schema: Schema, value: unknown, path: string): string | undefined {
  if (typeof value !== "string") throw wrong("string", value, path);
  if (schema.omitEmpty && value === "") return undefined;
  switch (schema.format) {
    case "date-time":
      return wholeSeconds(value, path);
    case "micro-time":
      return micro(value, path);
    case "byte":
      if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value.replaceAll(/[\r\n]/g, "")))
        throw new DecodeError(`illegal base64 data at ${path}`);
      return value.replaceAll(/[\r\n]/g, "");
    case undefined:
    default:
      return value;
  }
}

function decodeIntOrString(value: unknown, path: string): unknown {
  if (typeof value === "string" || Number.isInteger(value)) return value;
  throw wrong("int or string", value, path);
}

const RFC3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function wholeSeconds(value: string, path: string): string {
  const match = RFC3339.exec(value);
  const atMs = match ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(atMs)) throw new DecodeError(`parsing time ${JSON.stringify(value)} at ${path}: not RFC 3339`);
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

/** Go parses MicroTime with a layout of exactly six fractional digits; fewer or more are refused. */
function micro(value: string, path: string): string {
  const match = RFC3339.exec(value);
  const fraction = match?.[2] ?? "";
  const atMs = match ? Date.parse(`${match[1]}${match[3]}`) : Number.NaN;
  if (fraction.length !== 7 || Number.isNaN(atMs)) {
    const layout = "2006-01-02T15:04:05.000000Z07:00";
    throw new DecodeError(
      `parsing time ${JSON.stringify(value)} at ${path} as "${layout}": six fractional digits needed`,
    );
  }
  return `${new Date(atMs).toISOString().slice(0, 19)}${fraction}Z`;
}

function wrong(expected: string, value: unknown, path: string): DecodeError {
  const given = Array.isArray(value) ? "array" : typeof value;
  return new DecodeError(`json: cannot unmarshal ${given} into field ${path} of type ${expected}`);
}
