/** An OpenAPI v2 document in the protobuf form that kubectl asks for: gnostic's `openapi.v2.Document`, as far as it is used. */
import type { DocumentV2, SchemaV2 } from "./openapi-v2.ts";

const text = new TextEncoder();

export function encodeOpenApi({ swagger, info, definitions }: DocumentV2): Uint8Array {
  return joined([
    string(1, swagger),
    message(2, [string(1, info.title), string(2, info.version)]),
    message(8, []),
    message(
      9,
      Object.entries(definitions).map(([name, schema]) =>
        message(1, [string(1, name), message(2, schemaFields(schema))]),
      ),
    ),
  ]);
}

function schemaFields(schema: SchemaV2): Uint8Array[] {
  const { $ref, format, required, type, items, properties, additionalProperties } = schema;
  const extensions = Object.entries(schema).filter(([name]) => name.startsWith("x-"));
  return [
    ...(typeof $ref === "string" ? [string(1, $ref)] : []),
    ...(typeof format === "string" ? [string(2, format)] : []),
    ...(Array.isArray(required) ? required.map((name) => string(19, String(name))) : []),
    ...(additionalProperties === undefined ? [] : [message(21, [message(1, schemaFields(additionalProperties))])]),
    ...(typeof type === "string" ? [message(22, [string(1, type)])] : []),
    ...(items === undefined ? [] : [message(23, [message(1, schemaFields(items))])]),
    ...(properties === undefined
      ? []
      : [
          message(
            25,
            Object.entries(properties).map(([name, each]) =>
              message(1, [string(1, name), message(2, schemaFields(each))]),
            ),
          ),
        ]),
    // JSON is YAML
    ...extensions.map(([name, value]) =>
      message(31, [string(1, name), message(2, [string(2, JSON.stringify(value))])]),
    ),
  ];
}

function string(field: number, value: string): Uint8Array {
  return delimited(field, text.encode(value));
}

function message(field: number, fields: readonly Uint8Array[]): Uint8Array {
  return delimited(field, joined(fields));
}

const LENGTH_DELIMITED = 2;

function delimited(field: number, bytes: Uint8Array): Uint8Array {
  return joined([varint(field * 8 + LENGTH_DELIMITED), varint(bytes.length), bytes]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Uint8Array.from([...bytes, rest]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
