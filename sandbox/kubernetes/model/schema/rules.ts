/**
 * Evaluates the CEL rules of a structural schema (`x-kubernetes-validations`). Rules are compiled once per schema; a rule
 * that uses `oldSelf` is evaluated only where an old value exists (list elements are matched by their map keys).
 */
import { Environment, Optional, type ParseResult } from "@marcbachmann/cel-js";

import { fieldOf, isObject, sameJson } from "../json.ts";
import { type Cause, type CauseReason, invalidValue } from "../status-error.ts";
import { memberOf } from "./prune.ts";
import type { Schema, ValidationRule } from "./schema.ts";
import { identityIn } from "./validate.ts";

interface CompiledRule {
  readonly source: ValidationRule;
  readonly holds: ParseResult;
  readonly message: ParseResult | undefined;
  readonly transition: boolean;
}

const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
  .registerVariable("self", "dyn")
  .registerVariable("oldSelf", "dyn");

const compiledRules = new WeakMap<Schema, readonly CompiledRule[]>();

function compiled(schema: Schema): readonly CompiledRule[] {
  let rules = compiledRules.get(schema);
  if (rules === undefined) {
    rules = (schema["x-kubernetes-validations"] ?? []).map(compileRule);
    compiledRules.set(schema, rules);
  }
  return rules;
}

function compileRule(source: ValidationRule): CompiledRule {
  const { messageExpression } = source;
  return {
    source,
    holds: environment.parse(source.rule),
    message: messageExpression === undefined ? undefined : environment.parse(messageExpression),
    transition: /\boldSelf\b/.test(source.rule),
  };
}

/** Problems of the rules themselves; `path` is the path of the schema. */
export function ruleProblems(schema: Schema, path: string): Cause[] {
  return (schema["x-kubernetes-validations"] ?? []).flatMap(({ rule, messageExpression }, index) => [
    ...compileProblems(rule, "bool", `${path}.x-kubernetes-validations[${index}].rule`),
    ...(messageExpression === undefined
      ? []
      : compileProblems(messageExpression, "string", `${path}.x-kubernetes-validations[${index}].messageExpression`)),
  ]);
}

function compileProblems(expression: string, type: string, field: string): Cause[] {
  const { valid, type: given = "dyn", error } = environment.check(expression);
  if (!valid) return [invalidValue(field, expression, `compilation failed: ${error?.message.split("\n")[0] ?? ""}`)];
  if (given === type || given === "dyn") return [];
  return [invalidValue(field, expression, `compilation failed: must evaluate to a ${type}`)];
}

/** The violated rules of the whole value; `old` is the stored value, undefined on create. */
export function brokenRules(schema: Schema, value: unknown, old: unknown, path: string): Cause[] {
  if (value === undefined || value === null) return [];
  const causes = compiled(schema).flatMap((rule) => brokenRule(rule, schema, value, old, path));
  if (Array.isArray(value)) return [...causes, ...brokenInList(schema, value, old, path)];
  return isObject(value) ? [...causes, ...brokenInObject(schema, value, old, path)] : causes;
}

function brokenInObject(schema: Schema, value: Readonly<Record<string, unknown>>, old: unknown, path: string): Cause[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const memberSchema = memberOf(schema, name);
    if (memberSchema === undefined) return [];
    const named = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
    const at = named ? (path === "" ? name : `${path}.${name}`) : `${path}[${name}]`;
    return brokenRules(memberSchema, member, isObject(old) ? fieldOf(old, name) : undefined, at);
  });
}

function brokenInList(schema: Schema, list: readonly unknown[], old: unknown, path: string): Cause[] {
  const { items } = schema;
  if (items === undefined) return [];
  const identity = schema["x-kubernetes-list-type"] === "map" ? identityIn(schema) : undefined;
  return list.flatMap((item, index) => {
    const before =
      identity === undefined || !Array.isArray(old)
        ? undefined
        : (old.find((other) => sameJson(identity(other), identity(item))) as unknown);
    return brokenRules(items, item, before, `${path}[${index}]`);
  });
}

function brokenRule(rule: CompiledRule, schema: Schema, value: unknown, old: unknown, path: string): Cause[] {
  const { source, transition } = rule;
  if (transition && old === undefined && !source.optionalOldSelf) return [];
  const self = celValue(schema, value);
  const before = old === undefined ? undefined : celValue(schema, old);
  const oldSelf = source.optionalOldSelf ? (before === undefined ? Optional.none() : Optional.of(before)) : before;
  try {
    if (rule.holds({ self, oldSelf }) === true) return [];
    return [brokenCause(rule, schema, { self, oldSelf }, path)];
  } catch (error) {
    const why = `rule evaluation error: ${(error as Error).message.split("\n")[0]}`;
    return [invalidValue(path, schema.type, why)];
  }
}

function brokenCause(rule: CompiledRule, schema: Schema, context: Record<string, unknown>, path: string): Cause {
  const { reason = "FieldValueInvalid", fieldPath = "" } = rule.source;
  const detail = messageOf(rule, context);
  const field = `${path}${fieldPath}`.replace(/^\./, "");
  const word = reason === "FieldValueForbidden" ? "Forbidden" : reason === "FieldValueRequired" ? "Required value" : "";
  const message = word === "" ? `Invalid value: "${schema.type}": ${detail}` : `${word}: ${detail}`;
  return { reason: reason as CauseReason, field, message };
}

/** The result of `messageExpression` if it evaluates, else `message`, else the rule. */
function messageOf({ source, message }: CompiledRule, context: Record<string, unknown>): string {
  try {
    const computed: unknown = message?.(context);
    if (typeof computed === "string" && computed.trim() !== "") return computed;
  } catch {
    // The object is refused even if its message expression fails.
  }
  return source.message ?? `failed rule: ${source.rule}`;
}

/**
 * Converts a JSON value to CEL: integers become ints, dates have their own type, objects become maps (in plain objects
 * the evaluator takes a key `constructor` for the class of the value).
 */
function celValue(schema: Schema | undefined, value: unknown): unknown {
  if (typeof value === "number") return isInt(schema, value) ? BigInt(value) : value;
  if (typeof value === "string")
    return schema?.format === "date-time" || schema?.format === "date" ? new Date(value) : value;
  if (Array.isArray(value)) return value.map((item) => celValue(schema?.items, item));
  if (!isObject(value)) return value;
  return new Map(
    Object.entries(value).map(([name, member]) => [name, celValue(schema && memberOf(schema, name), member)]),
  );
}

function isInt(schema: Schema | undefined, value: number): boolean {
  return Number.isSafeInteger(value) && schema?.type !== "number";
}
