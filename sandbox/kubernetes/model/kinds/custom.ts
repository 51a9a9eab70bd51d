/** Derives the served resources of a CustomResourceDefinition. */
import type { KubeObject } from "../contract.ts";
import { sameJson } from "../json.ts";
import { ageColumn, ageOf, type Column, nameColumn } from "../read/column.ts";
import { readJsonPath } from "../read/json-path.ts";
import type { Resource } from "../resource.ts";
import { withDefaults } from "../schema/defaults.ts";
import { prune } from "../schema/prune.ts";
import { brokenRules } from "../schema/rules.ts";
import { objectMeta, type Schema } from "../schema/schema.ts";
import { validateSchema } from "../schema/validate.ts";
import { type Cause, invalidValue } from "../status-error.ts";
import { definitionSpec, type DefinitionVersion, type PrinterColumn } from "./definition.ts";

const known = new WeakMap<KubeObject, readonly Resource[]>();

/** One resource per served version, cached per definition object. */
export function customResources(definition: KubeObject): readonly Resource[] {
  let resources = known.get(definition);
  if (resources === undefined) {
    const { versions } = definitionSpec(definition);
    resources = versions.filter((version) => version.served).map((version) => customResource(definition, version));
    known.set(definition, resources);
  }
  return resources;
}

function customResource(definition: KubeObject, version: DefinitionVersion): Resource {
  const { group, names, scope } = definitionSpec(definition);
  const given = version.schema?.openAPIV3Schema ?? { type: "object" };
  const typeMeta = { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: objectMeta } as const;
  const schema: Schema = { ...given, properties: { ...given.properties, ...typeMeta } };
  const validate = (object: KubeObject, old?: KubeObject): Cause[] => problems(given, object, old);
  return {
    group,
    version: version.name,
    kind: names.kind,
    plural: names.plural,
    singular: names.singular,
    listKind: names.listKind,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === "Namespaced",
    collection: `${names.plural}.${group}`,
    schema,
    custom: true,
    subresources: version.subresources?.status === undefined ? [] : ["status"],
    generation: true,
    unconditionalUpdate: false,
    deleteAnswersObject: false,
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
    columns: [nameColumn, ...(version.additionalPrinterColumns?.map(printerColumn) ?? [ageColumn])],
    behaviour: {
      setDefaults: (object) => withoutMetadata(object, (body) => withDefaults(given, body)),
      fromStored: fromStored(given, `${group}/${version.name}`),
      validate,
      validateStatus: validate,
    },
  };
}

/** Prunes and defaults a stored object by the current schema, which may be newer than the object. */
function fromStored(schema: Schema, apiVersion: string): (object: KubeObject) => KubeObject {
  const shown = new WeakMap<KubeObject, KubeObject>();
  return (object) => {
    let result = shown.get(object);
    if (result === undefined) {
      const typed = object.apiVersion === apiVersion ? object : { ...object, apiVersion };
      result = withoutMetadata(typed, (body) => withDefaults(schema, prune(schema, body, [])));
      shown.set(object, result);
    }
    return result;
  };
}

/** Applies `alter` to all but apiVersion, kind and metadata. */
function withoutMetadata(object: KubeObject, alter: (body: unknown) => unknown): KubeObject {
  const { apiVersion, kind, metadata, ...body } = object;
  const altered = alter(body);
  return sameJson(altered, body) ? object : { apiVersion, kind, metadata, ...(altered as object) };
}

/** Problems after which CEL rules are not evaluated. */
const BLOCKING: readonly string[] = [
  "FieldValueRequired",
  "FieldValueTypeInvalid",
  "FieldValueNotSupported",
  "FieldValueTooLong",
  "FieldValueTooMany",
];

function problems(schema: Schema, object: KubeObject, old: KubeObject | undefined): Cause[] {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...body } = object;
  const causes = validateSchema(schema, body, "");
  if (!causes.some(({ reason }) => BLOCKING.includes(reason))) {
    return [...causes, ...brokenRules(schema, object, old, "")];
  }
  const unchecked =
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
  return [...causes, invalidValue("<nil>", "null", unchecked)];
}

function printerColumn(given: PrinterColumn): Column {
  return {
    name: given.name,
    type: given.type,
    format: given.format ?? "",
    description: given.description ?? `Custom resource definition column (in JSONPath format): ${given.jsonPath}`,
    priority: given.priority ?? 0,
    cell: (object, nowMs) => {
      const value = readJsonPath(object, given.jsonPath);
      if (value === undefined) return null;
      if (given.type === "date") return typeof value === "string" ? ageOf(value, nowMs) : "<unknown>";
      if (given.type === "string") return typeof value === "string" ? value : JSON.stringify(value);
      return value;
    },
  };
}
