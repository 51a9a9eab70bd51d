/** A custom resource to try things on: one definition that uses every feature of schemas that ours use. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

import { type Api, type NamespacePaths, at } from "./api.ts";

export const WIDGETS = "/apis/contract.example.com/v1/widgets";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const WIDGET_DEFINITION = `${DEFINITIONS}/widgets.contract.example.com`;

const SPEC = {
  type: "object",
  required: ["size"],
  properties: {
    size: { type: "integer", minimum: 1, maximum: 10 },
    colour: { type: "string", enum: ["red", "green"], default: "red" },
    label: { type: "string", maxLength: 5, pattern: "^[a-z]*$" },
    fixed: {
      type: "string",
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed cannot change" }],
    },
    when: { type: "string", format: "date-time" },
    ratio: { type: "number" },
    either: { "x-kubernetes-int-or-string": true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    tags: { type: "object", additionalProperties: { type: "string" } },
    parts: {
      type: "array",
      maxItems: 5,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, weight: { type: "integer", default: 1 } },
      },
    },
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    optional: { type: "string", nullable: true },
  },
  "x-kubernetes-validations": [
    { rule: "!has(self.label) || self.size > 1", message: "a label needs a size above 1" },
    {
      rule: "!has(self.parts) || self.parts.all(part, part.weight <= self.size)",
      messageExpression: "'too heavy a part for a ' + self.colour + ' widget'",
      fieldPath: ".parts",
      reason: "FieldValueForbidden",
    },
  ],
};

const VERSION = {
  name: "v1",
  served: true,
  storage: true,
  subresources: { status: {} },
  selectableFields: [{ jsonPath: ".spec.colour" }],
  additionalPrinterColumns: [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Phase", type: "string", jsonPath: ".status.phase", description: "where it stands" },
    { name: "Colour", type: "string", jsonPath: ".spec.colour", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  schema: {
    openAPIV3Schema: {
      type: "object",
      required: ["spec"],
      properties: {
        spec: SPEC,
        status: { type: "object", properties: { phase: { type: "string" }, observed: { type: "integer" } } },
      },
    },
  },
};

const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.contract.example.com" },
  spec: {
    group: "contract.example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wg"], categories: ["contraptions"] },
    versions: [VERSION],
  },
};

/** Makes the definition where it is missing, and waits until its resources can be listed. */
export async function defineWidgets(api: Api): Promise<void> {
  const made = await api.post(DEFINITIONS, DEFINITION);
  assert.ok(made.code === 201 || made.code === 409, made.text);
  await eventually(async () => (await api.get(WIDGETS)).code === 200, "widgets cannot be listed");
}

export function widgetsIn(ns: NamespacePaths, name: string): { collection: string; path: string } {
  const collection = ns.group("contract.example.com/v1", "widgets");
  return { collection, path: `${collection}/${name}` };
}

export function widget(name: string, spec: object): object {
  return { apiVersion: "contract.example.com/v1", kind: "Widget", metadata: { name }, spec };
}

/** Polls until it holds; a definition takes effect a moment after it is stored. */
export async function eventually(holds: () => Promise<boolean>, otherwise: string, withinMs = 60_000): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > deadlineMs) throw new Error(`${otherwise} after ${withinMs} ms`);
    await delay(50);
  }
}

export function conditionOf(object: unknown, type: string): unknown {
  const conditions = at(object, "status.conditions");
  const found = (Array.isArray(conditions) ? conditions : []).find((condition) => condition.type === type);
  return found?.status;
}
