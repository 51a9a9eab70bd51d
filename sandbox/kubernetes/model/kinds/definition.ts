/** CustomResourceDefinitions: their schema, validation, and the status that makes them Established. */
import type { JsonObject, KubeObject } from "../contract.ts";
import { asArray, asObject, asString, sameJson } from "../json.ts";
import { column, nameColumn } from "../read/column.ts";
import { type DecisionContext, part } from "../resource.ts";
import {
  anyObject,
  condition,
  listOf,
  optionalFlag,
  optionalText,
  type Schema,
  struct,
  text,
} from "../schema/schema.ts";
import { structuralProblems } from "../schema/structural.ts";
import { type Cause, invalidValue, notSupported, required } from "../status-error.ts";
import { defineKind } from "./define.ts";
import { label1035Problems, subdomainProblems } from "./metadata.ts";

export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

const names = struct({
  plural: text,
  singular: text,
  shortNames: listOf(text),
  kind: text,
  listKind: text,
  categories: listOf(text),
});

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: { readonly status?: object };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

export interface DefinitionSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: {
    readonly plural: string;
    readonly singular: string;
    readonly kind: string;
    readonly listKind: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly versions: readonly DefinitionVersion[];
}

export function definitionSpec(definition: KubeObject): DefinitionSpec {
  return definition["spec"] as DefinitionSpec;
}

function setDefaults(definition: KubeObject): KubeObject {
  const spec = part(definition, "spec");
  const given = asObject(spec["names"]);
  const kind = asString(given["kind"]);
  const filled = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...given };
  return { ...definition, spec: { conversion: { strategy: "None" }, ...spec, names: filled } };
}

function validate(definition: KubeObject, old: KubeObject | undefined): Cause[] {
  const spec = part(definition, "spec");
  const group = asString(spec["group"]);
  const plural = asString(asObject(spec["names"])["plural"]);
  const causes: Cause[] = [];
  if (group === "") causes.push(required("spec.group"));
  else if (!group.includes("."))
    causes.push(invalidValue("spec.group", group, "should be a domain with at least one dot"));
  const expected = `${plural}.${group}`;
  if (definition.metadata.name !== expected) {
    const why = `must be spec.names.plural+"."+spec.group`;
    causes.push(invalidValue("metadata.name", definition.metadata.name, why));
  }
  const scope = asString(spec["scope"]);
  const scopes = ["Cluster", "Namespaced"];
  if (!scopes.includes(scope))
    causes.push(scope === "" ? required("spec.scope") : notSupported("spec.scope", scope, scopes));
  if (old !== undefined && !sameJson(part(old, "spec")["scope"], scope)) {
    causes.push(invalidValue("spec.scope", scope, "field is immutable"));
  }
  return [...causes, ...nameProblems(asObject(spec["names"])), ...versionProblems(spec)];
}

function nameProblems(given: JsonObject): Cause[] {
  return ["plural", "singular", "kind", "listKind"].flatMap((field) => {
    const value = asString(given[field]);
    const at = `spec.names.${field}`;
    if (value === "") return [required(at)];
    return label1035Problems(value.toLowerCase()).map((problem) => invalidValue(at, value, problem));
  });
}

function versionProblems(spec: JsonObject): Cause[] {
  const versions = asArray(spec["versions"]) as readonly DefinitionVersion[];
  if (versions.length === 0) return [required("spec.versions")];
  const causes: Cause[] = [];
  if (versions.filter((version) => version.storage).length !== 1) {
    causes.push(
      invalidValue("spec.versions", versions.length, "must have exactly one version marked as storage version"),
    );
  }
  versions.forEach((version, index) => {
    const at = `spec.versions[${index}]`;
    causes.push(...subdomainProblems(version.name).map((problem) => invalidValue(`${at}.name`, version.name, problem)));
    const schema = version.schema?.openAPIV3Schema;
    if (schema === undefined) causes.push(required(`${at}.schema.openAPIV3Schema`, "schemas are required"));
    else causes.push(...structuralProblems(schema, `${at}.schema.openAPIV3Schema`));
  });
  return causes;
}

/** Accepts the names at once: conflicts between definitions are not emulated. */
function established(definition: KubeObject, context: DecisionContext): KubeObject {
  const { names: accepted, versions } = definitionSpec(definition);
  const before = part(definition, "status");
  const at = `${new Date(context.nowMs).toISOString().slice(0, 19)}Z`;
  const conditions = before["conditions"] ?? [
    {
      type: "NamesAccepted",
      status: "True",
      lastTransitionTime: at,
      reason: "NoConflicts",
      message: "no conflicts found",
    },
    {
      type: "Established",
      status: "True",
      lastTransitionTime: at,
      reason: "InitialNamesAccepted",
      message: "the initial names have been accepted",
    },
  ];
  const storage = versions.find((version) => version.storage)?.name ?? "";
  const stored = asArray(before["storedVersions"]).map(asString);
  return {
    ...definition,
    status: {
      ...before,
      conditions,
      acceptedNames: accepted,
      storedVersions: stored.includes(storage) ? stored : [...stored, storage],
    },
  };
}

export const definition = defineKind({
  group: "apiextensions.k8s.io",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  namespaced: false,
  subresources: ["status"],
  generation: true,
  fields: {
    spec: struct({
      group: text,
      names,
      scope: text,
      versions: listOf(
        struct({
          name: text,
          served: optionalFlag,
          storage: optionalFlag,
          deprecated: optionalFlag,
          deprecationWarning: optionalText,
          schema: anyObject,
          subresources: anyObject,
          additionalPrinterColumns: listOf(anyObject),
          selectableFields: listOf(struct({ jsonPath: text })),
        }),
      ),
      conversion: anyObject,
      preserveUnknownFields: { type: "boolean", omitEmpty: true },
    }),
    status: struct({ conditions: listOf(condition), acceptedNames: names, storedVersions: listOf(text) }),
  },
  columns: [nameColumn, column("Created At", (object) => object.metadata.creationTimestamp, "date")],
  behaviour: {
    setDefaults,
    validate,
    prepareCreate: (object, context) => {
      // Validation refuses an unreadable definition right after this.
      return validate(object, undefined).length === 0 ? established(object, context) : object;
    },
    prepareUpdate: (object, old, context) =>
      validate(object, old).length === 0 ? established(object, context) : object,
    /** Keeps the definition until its objects are deleted. */
    prepareDelete: (object) => {
      const held = object.metadata.finalizers ?? [];
      if (held.includes(CLEANUP_FINALIZER)) return object;
      return { ...object, metadata: { ...object.metadata, finalizers: [...held, CLEANUP_FINALIZER] } };
    },
  },
});
