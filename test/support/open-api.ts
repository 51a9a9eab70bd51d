/** Holds answers against the OpenAPI document: the part of JSON Schema that the document uses. */
import { OPENAPI } from "../../src/api/openapi.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

type Schemas = Readonly<Record<string, Schema>>;

/** What of the value the schema does not allow, with the place. */
export function problemsOf(value: unknown, name: string): string[] {
  return check(value, { $ref: `#/components/schemas/${name}` }, name);
}

function check(value: unknown, schema: Schema, at: string): string[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    const found = (OPENAPI.components.schemas as Schemas)[name];
    return found === undefined ? [`${at}: no schema ${name}`] : check(value, found, at);
  }
  switch (schema.type) {
    case "object":
      return checkObject(value, schema, at);
    case "array":
      if (!Array.isArray(value)) return [`${at} is no list`];
      return value.flatMap((item, index) => check(item, schema.items ?? {}, `${at}[${index}]`));
    case "integer":
      return Number.isInteger(value) && (value as number) >= (schema.minimum ?? 0) ? [] : [`${at} is ${String(value)}`];
    case "string":
      return isText(value, schema) ? [] : [`${at} is ${JSON.stringify(value)}`];
    case undefined:
      return [];
    default:
      return typeof value === schema.type ? [] : [`${at} is ${JSON.stringify(value)}`];
  }
}

function isText(value: unknown, schema: Schema): boolean {
  if (typeof value !== "string") return false;
  if (schema.format === "date-time" && !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return false;
  return schema.enum === undefined || schema.enum.includes(value);
}

function checkObject(value: unknown, { properties = {}, required = [] }: Schema, at: string): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${at} is no object`];
  const missing = required.filter((key) => !(key in value)).map((key) => `${at}.${key} is missing`);
  const found = Object.entries(value).flatMap(([key, each]) => {
    const schema = properties[key];
    if (schema === undefined) return [`${at}.${key} is not described`];
    return each === undefined ? [] : check(each, schema, `${at}.${key}`);
  });
  return [...missing, ...found];
}
