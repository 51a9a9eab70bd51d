/** Validates a value against a structural schema, with the reasons and field paths of kube-apiserver. */
import { parseBlock } from "../../../shared/cidr.ts";
import { familyOf } from "../service-ranges.ts";
import { fieldOf, isObject, sameJson } from "../json.ts";
import { type Cause, type CauseReason, duplicate, notSupported } from "../status-error.ts";
import { memberOf } from "./prune.ts";
import type { Schema } from "./schema.ts";

export function validateSchema(schema: Schema, value: unknown, path: string): Cause[] {
  if (value === null && schema.nullable) return [];
  const wrongType = typeProblem(schema, value, path);
  if (wrongType !== undefined) return [wrongType];
  return [
    ...enumProblems(schema, value, path),
    ...(typeof value === "string" ? stringProblems(schema, value, path) : []),
    ...(typeof value === "number" ? numberProblems(schema, value, path) : []),
    ...(Array.isArray(value) ? listProblems(schema, value, path) : []),
    ...(isObject(value) ? objectProblems(schema, value, path) : []),
    ...combinationProblems(schema, value, path),
  ];
}

const cause = (reason: CauseReason, field: string, value: unknown, detail: string): Cause => {
  const word =
    reason === "FieldValueTooLong" ? "Too long" : reason === "FieldValueTooMany" ? "Too many" : "Invalid value";
  const shown =
    reason === "FieldValueInvalid" || reason === "FieldValueTypeInvalid" ? `${JSON.stringify(value)}: ` : "";
  return { reason, field, message: `${word}: ${shown}${detail}` };
};

function typeProblem(schema: Schema, value: unknown, path: string): Cause | undefined {
  const expected = schema["x-kubernetes-int-or-string"] ? "integer or string" : schema.type;
  if (expected === undefined || hasType(expected, value)) return undefined;
  return cause(
    "FieldValueTypeInvalid",
    path,
    typeName(value),
    `${path} in body must be of type ${expected}: "${typeName(value)}"`,
  );
}

function hasType(type: string, value: unknown): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "integer or string":
      return Number.isInteger(value) || typeof value === "string";
    default:
      return typeof value === type;
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}

function enumProblems(schema: Schema, value: unknown, path: string): Cause[] {
  if (schema.enum === undefined || schema.enum.some((allowed) => sameJson(allowed, value))) return [];
  const texts = schema.enum.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
  return [notSupported(path, value, texts)];
}

function stringProblems(schema: Schema, value: string, path: string): Cause[] {
  const causes: Cause[] = [];
  const length = Array.from(value).length;
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    causes.push(cause("FieldValueTooLong", path, value, `may not be more than ${schema.maxLength} bytes`));
  }
  if (schema.minLength !== undefined && length < schema.minLength) {
    const why = `${path} in body should be at least ${schema.minLength} chars long`;
    causes.push(cause("FieldValueInvalid", path, value, why));
  }
  if (schema.pattern !== undefined && !compilePattern(schema.pattern).test(value)) {
    causes.push(cause("FieldValueInvalid", path, value, `${path} in body should match '${schema.pattern}'`));
  }
  if (FORMATS[schema.format ?? ""]?.(value) === false) {
    const why = `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`;
    causes.push(cause("FieldValueTypeInvalid", path, value, why));
  }
  return causes;
}

const patterns = new Map<string, RegExp>();

/** Compiles an RE2 pattern; throws SyntaxError. Of RE2's own syntax only `(?i)` is translated. */
export function compilePattern(pattern: string): RegExp {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    const caseless = pattern.startsWith("(?i)");
    compiled = caseless ? new RegExp(pattern.slice(4), "i") : new RegExp(pattern);
    patterns.set(pattern, compiled);
  }
  return compiled;
}

/** Formats that are validated; others are informational. */
const FORMATS: Readonly<Record<string, (value: string) => boolean>> = {
  "date-time": (value) => /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value)),
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  ipv4: (value) => familyOf(value) === "IPv4",
  ipv6: (value) => familyOf(value) === "IPv6",
  cidr: (value) => parseBlock(value) !== undefined,
  uuid: (value) => /^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i.test(value),
};

function numberProblems(schema: Schema, value: number, path: string): Cause[] {
  const causes: Cause[] = [];
  const { minimum, maximum, multipleOf } = schema;
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    const why = schema.exclusiveMinimum ? "greater than" : "greater than or equal to";
    causes.push(cause("FieldValueInvalid", path, value, `${path} in body should be ${why} ${minimum}`));
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    const why = schema.exclusiveMaximum ? "less than" : "less than or equal to";
    causes.push(cause("FieldValueInvalid", path, value, `${path} in body should be ${why} ${maximum}`));
  }
  if (multipleOf !== undefined && value % multipleOf !== 0) {
    causes.push(cause("FieldValueInvalid", path, value, `${path} in body should be a multiple of ${multipleOf}`));
  }
  return causes;
}

function listProblems(schema: Schema, list: readonly unknown[], path: string): Cause[] {
  const causes: Cause[] = [];
  const { items, maxItems, minItems } = schema;
  if (maxItems !== undefined && list.length > maxItems) {
    causes.push(cause("FieldValueTooMany", path, list.length, `${list.length}: must have at most ${maxItems} items`));
  }
  if (minItems !== undefined && list.length < minItems) {
    causes.push(
      cause("FieldValueInvalid", path, list.length, `${path} in body should have at least ${minItems} items`),
    );
  }
  causes.push(...duplicateProblems(schema, list, path));
  if (items === undefined) return causes;
  return [...causes, ...list.flatMap((item, index) => validateSchema(items, item, `${path}[${index}]`))];
}

function duplicateProblems(schema: Schema, list: readonly unknown[], path: string): Cause[] {
  const identity = identityIn(schema);
  if (identity === undefined) return [];
  const seen: unknown[] = [];
  return list.flatMap((item, index) => {
    const id = identity(item);
    const again = seen.some((other) => sameJson(other, id));
    seen.push(id);
    return again ? [duplicate(`${path}[${index}]`, id)] : [];
  });
}

/** The identity of an element in a set or list map; undefined for lists that allow duplicates. */
export function identityIn(schema: Schema): ((item: unknown) => unknown) | undefined {
  if (schema["x-kubernetes-list-type"] === "set") return (item) => item;
  if (schema["x-kubernetes-list-type"] !== "map") return undefined;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return (item) => Object.fromEntries(keys.map((key) => [key, isObject(item) ? (item[key] ?? null) : null]));
}

function objectProblems(schema: Schema, object: Readonly<Record<string, unknown>>, path: string): Cause[] {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const causes: Cause[] = [];
  const size = Object.keys(object).length;
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    causes.push(cause("FieldValueTooMany", path, size, `${size}: must have at most ${schema.maxProperties} items`));
  }
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    const why = `${path} in body should have at least ${schema.minProperties} properties`;
    causes.push(cause("FieldValueInvalid", path, size, why));
  }
  for (const name of schema.required ?? []) {
    if (fieldOf(object, name) === undefined)
      causes.push({ reason: "FieldValueRequired", field: at(name), message: "Required value" });
  }
  for (const [name, member] of Object.entries(object)) {
    const memberSchema = memberOf(schema, name);
    if (memberSchema !== undefined) causes.push(...validateSchema(memberSchema, member, at(name)));
  }
  return causes;
}

function combinationProblems(schema: Schema, value: unknown, path: string): Cause[] {
  const fits = (part: Schema): boolean => validateSchema(part, value, path).length === 0;
  const wrong = (detail: string): Cause[] => [
    cause("FieldValueInvalid", path, typeName(value), `${path} in body ${detail}`),
  ];
  const { anyOf, oneOf, not } = schema;
  return [
    ...(schema.allOf ?? []).flatMap((part) => validateSchema(part, value, path)),
    ...(anyOf !== undefined && !anyOf.some(fits) ? wrong("must validate at least one schema (anyOf)") : []),
    ...(oneOf !== undefined && oneOf.filter(fits).length !== 1
      ? wrong("must validate one and only one schema (oneOf)")
      : []),
    ...(not !== undefined && fits(not) ? wrong("must not validate the schema (not)") : []),
  ];
}
