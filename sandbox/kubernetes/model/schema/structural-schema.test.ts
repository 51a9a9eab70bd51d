/** Structural schemas at work: pruning, defaults, validation, rules. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { withDefaults } from "./defaults.ts";
import { prune } from "./prune.ts";
import { brokenRules, ruleProblems } from "./rules.ts";
import type { Schema } from "./schema.ts";
import { structuralProblems } from "./structural.ts";
import { validateSchema } from "./validate.ts";

const OBJECT = (properties: Record<string, Schema>, more: Partial<Schema> = {}): Schema => ({
  type: "object",
  properties,
  ...more,
});

test("pruning names what it takes out, and leaves alone what is preserved", () => {
  const schema = OBJECT({
    known: { type: "string" },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { inner: OBJECT({}) } },
    map: { type: "object", additionalProperties: OBJECT({ a: { type: "string" } }) },
    list: { type: "array", items: OBJECT({ a: { type: "string" } }) },
  });
  const unknown: string[] = [];
  const pruned = prune(
    schema,
    { known: "x", other: 1, free: { any: 1, inner: { gone: 1 } }, map: { k: { a: "1", b: 2 } }, list: [{ b: 1 }] },
    unknown,
  );
  assert.deepEqual(pruned, { known: "x", free: { any: 1, inner: {} }, map: { k: { a: "1" } }, list: [{}] });
  assert.deepEqual(unknown, ["other", "free.inner.gone", "map.k.b", "list[0].b"]);
});

test("what needs no pruning and no default is the very same object", () => {
  const schema = OBJECT({ a: { type: "array", items: OBJECT({ b: { type: "string", default: "x" } }) } });
  const value = { a: [{ b: "y" }] };
  assert.equal(prune(schema, value, []), value);
  assert.equal(withDefaults(schema, value), value);
});

test("defaults fill absent fields at every depth, and replace null where null is not allowed", () => {
  const schema = OBJECT({
    outer: OBJECT({ inner: { type: "string", default: "i" } }, { default: {} }),
    list: { type: "array", items: OBJECT({ weight: { type: "integer", default: 1 } }) },
    nulled: { type: "string", default: "d" },
    nullable: { type: "string", default: "d", nullable: true },
  });
  assert.deepEqual(withDefaults(schema, { list: [{}, { weight: 2 }], nulled: null, nullable: null }), {
    outer: { inner: "i" },
    list: [{ weight: 1 }, { weight: 2 }],
    nulled: "d",
    nullable: null,
  });
});

test("null is dropped from declared fields and maps where it is not allowed, but not from lists", () => {
  const schema = OBJECT({
    conditions: { type: "array", items: OBJECT({ reason: { type: "string" } }) },
    tags: { type: "object", additionalProperties: { type: "string" } },
    list: { type: "array", items: { type: "string" } },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  });
  assert.deepEqual(withDefaults(schema, { conditions: null, tags: { a: null, b: "c" } }), { tags: { b: "c" } });
  assert.deepEqual(withDefaults(schema, { conditions: [{ reason: null }], list: [null], free: { any: null } }), {
    conditions: [{}],
    list: [null],
    free: { any: null },
  });
});

const REFUSED: readonly { schema: Schema; value: unknown; reason: string }[] = [
  { schema: { type: "integer" }, value: 1.5, reason: "FieldValueTypeInvalid" },
  { schema: { type: "string" }, value: null, reason: "FieldValueTypeInvalid" },
  { schema: { "x-kubernetes-int-or-string": true }, value: true, reason: "FieldValueTypeInvalid" },
  { schema: { type: "string", enum: ["a"] }, value: "b", reason: "FieldValueNotSupported" },
  { schema: { type: "string", minLength: 2 }, value: "b", reason: "FieldValueInvalid" },
  { schema: { type: "string", maxLength: 2 }, value: "bbb", reason: "FieldValueTooLong" },
  { schema: { type: "string", pattern: "^a+$" }, value: "b", reason: "FieldValueInvalid" },
  { schema: { type: "string", format: "ipv4" }, value: "::1", reason: "FieldValueTypeInvalid" },
  { schema: { type: "number", minimum: 1, exclusiveMinimum: true }, value: 1, reason: "FieldValueInvalid" },
  { schema: { type: "integer", multipleOf: 5 }, value: 7, reason: "FieldValueInvalid" },
  { schema: { type: "array", items: { type: "string" }, maxItems: 1 }, value: ["a", "b"], reason: "FieldValueTooMany" },
  { schema: { type: "array", items: { type: "string" }, minItems: 1 }, value: [], reason: "FieldValueInvalid" },
  { schema: OBJECT({}, { required: ["a"] }), value: {}, reason: "FieldValueRequired" },
  { schema: OBJECT({}, { maxProperties: 0 }), value: { a: 1 }, reason: "FieldValueTooMany" },
  { schema: { type: "string", anyOf: [{ enum: ["a"] }, { enum: ["b"] }] }, value: "c", reason: "FieldValueInvalid" },
  { schema: { type: "string", oneOf: [{ minLength: 1 }, { maxLength: 3 }] }, value: "ab", reason: "FieldValueInvalid" },
  { schema: { type: "string", not: { enum: ["a"] } }, value: "a", reason: "FieldValueInvalid" },
  {
    schema: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    value: ["a", "a"],
    reason: "FieldValueDuplicate",
  },
];

for (const { schema, value, reason } of REFUSED) {
  test(`${JSON.stringify(value)} does not fit ${JSON.stringify(schema)}`, () => {
    const reasons = validateSchema(schema, value, "field").map((cause) => cause.reason);
    assert.ok(reasons.includes(reason as never), JSON.stringify(reasons));
  });
}

const GROWING: Schema = OBJECT({
  size: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "may only grow" }] },
  parts: {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    items: OBJECT({
      name: { type: "string" },
      kind: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
    }),
  },
});

test("a rule over oldSelf holds where there is an old value, and list elements are matched by key", () => {
  const fields = (value: unknown, old: unknown): string[] =>
    brokenRules(GROWING, value, old, "").map((cause) => cause.field ?? "");
  assert.deepEqual(fields({ size: 1 }, undefined), []);
  assert.deepEqual(fields({ size: 1 }, { size: 2 }), ["size"]);
  const old = {
    parts: [
      { name: "a", kind: "x" },
      { name: "b", kind: "y" },
    ],
  };
  assert.deepEqual(
    fields(
      {
        parts: [
          { name: "b", kind: "y" },
          { name: "a", kind: "x" },
        ],
      },
      old,
    ),
    [],
  );
  assert.deepEqual(
    fields(
      {
        parts: [
          { name: "b", kind: "x" },
          { name: "c", kind: "z" },
        ],
      },
      old,
    ),
    ["parts[0].kind"],
  );
});

test("optionalOldSelf lets a rule look at whether there was one", () => {
  const rule = { rule: "!oldSelf.hasValue() || oldSelf.value() == self", optionalOldSelf: true };
  const schema: Schema = { type: "string", "x-kubernetes-validations": [rule] };
  assert.equal(brokenRules(schema, "a", undefined, "f").length, 0);
  assert.equal(brokenRules(schema, "a", "a", "f").length, 0);
  assert.equal(brokenRules(schema, "a", "b", "f").length, 1);
});

test("a rule that cannot be compiled, or is no question, is refused with the definition", () => {
  const problems = (rule: string): number =>
    ruleProblems({ type: "string", "x-kubernetes-validations": [{ rule }] }, "schema").length;
  assert.equal(problems("self.size() > 1"), 0);
  assert.equal(problems("self ==="), 1);
  assert.equal(problems("unknownFunction(self)"), 1);
  assert.equal(problems("'text'"), 1);
});

test("a pattern is RE2's: it may ignore case, and one that cannot be read is refused with the definition", () => {
  assert.equal(validateSchema({ type: "string", pattern: "(?i)^a\\-b$" }, "A-B", "f").length, 0);
  assert.deepEqual(
    structuralProblems({ type: "string", pattern: "(" }, "s").map((cause) => cause.field),
    ["s.pattern"],
  );
});

test("a structural schema is typed everywhere", () => {
  const fields = structuralProblems({ type: "object", properties: { a: {}, b: { type: "array" } } }, "s").map(
    (cause) => cause.field,
  );
  assert.deepEqual(fields, ["s.properties[a].type", "s.properties[b].items"]);
});

test("names of JavaScript's own properties are keys like any other", () => {
  const lbSpec: Schema = { type: "object", additionalProperties: { type: "string", default: "d" } };
  const rule = "has(self.lbSpec) == has(oldSelf.lbSpec) && (!has(self.lbSpec) || self.lbSpec == oldSelf.lbSpec)";
  const schema = OBJECT({ lbSpec }, { "x-kubernetes-validations": [{ rule, message: "changed" }], required: [] });
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
    const value: unknown = JSON.parse(`{"lbSpec": {"${name}": "x", "other": "y"}}`);
    assert.equal(prune(schema, value, []), value, name);
    assert.equal(withDefaults(schema, value), value, name);
    assert.deepEqual(validateSchema(schema, value, ""), [], name);
    assert.deepEqual(brokenRules(schema, value, structuredClone(value), "spec"), [], name);
    const other: unknown = JSON.parse(`{"lbSpec": {"${name}": "z", "other": "y"}}`);
    assert.equal(brokenRules(schema, value, other, "spec").length, 1, name);
    const renamed: unknown = JSON.parse('{"lbSpec": {"b": "x", "other": "y"}}');
    assert.match(brokenRules(schema, value, renamed, "spec")[0]?.message ?? "", /changed/, name);
    const unknown: string[] = [];
    prune(OBJECT({}), JSON.parse(`{"${name}": 1}`), unknown);
    assert.deepEqual(unknown, [name]);
    const [missing] = validateSchema(OBJECT({}, { required: [name] }), {}, "");
    assert.equal(missing?.reason, "FieldValueRequired", name);
  }
});
