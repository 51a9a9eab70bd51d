/** Checks that a schema is structural: typed at every level, as pruning, defaulting and validation need. */
import { type Cause, forbiddenField, invalidValue, required } from "../status-error.ts";
import { ruleProblems } from "./rules.ts";
import type { Schema } from "./schema.ts";
import { compilePattern } from "./validate.ts";

export function structuralProblems(schema: Schema, path: string): Cause[] {
  return [
    ...typeProblems(schema, path),
    ...ruleProblems(schema, path),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      structuralProblems(property, `${path}.properties[${name}]`),
    ),
    ...(schema.items === undefined ? [] : structuralProblems(schema.items, `${path}.items`)),
    ...(typeof schema.additionalProperties === "object"
      ? structuralProblems(schema.additionalProperties, `${path}.additionalProperties`)
      : []),
  ];
}

function typeProblems(schema: Schema, path: string): Cause[] {
  const free = schema["x-kubernetes-int-or-string"] || schema["x-kubernetes-preserve-unknown-fields"];
  const causes: Cause[] = [];
  if (schema.type === undefined && !free)
    causes.push(required(`${path}.type`, "must not be empty for specified object fields"));
  if (schema.type === "array" && schema.items === undefined) {
    causes.push(required(`${path}.items`, "must be specified"));
  }
  if (schema.properties !== undefined && schema.additionalProperties !== undefined) {
    causes.push(
      forbiddenField(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
    );
  }
  if (schema.pattern !== undefined && !isPattern(schema.pattern)) {
    causes.push(invalidValue(`${path}.pattern`, schema.pattern, "must be a valid regular expression"));
  }
  if (schema.uniqueItems === true) {
    causes.push(
      forbiddenField(
        `${path}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  }
  return causes;
}

function isPattern(pattern: string): boolean {
  try {
    return compilePattern(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}
