/**
 * Schemas of Kubernetes' own kinds, out of types.json: names and types of their fields. A kind that is only stored is
 * decoded by them, and apply merges every kind by them.
 */
import type { JsonObject, KubeObject } from "../contract.ts";
import { groupVersion, type Resource } from "../resource.ts";
import type { Schema } from "./schema.ts";
import table from "./types.json" with { type: "json" };

export interface TypeNode extends Schema {
  readonly $ref?: string;
}

const types = table.types as unknown as Readonly<Record<string, TypeNode>>;
const kinds: Readonly<Record<string, string>> = table.kinds;

/** The fields of a kind besides apiVersion, kind and metadata, references written out. */
export function typeOfKind(group: string, version: string, kind: string): Record<string, Schema> {
  const name = kinds[`${group}/${version}/${kind}`];
  if (name === undefined)
    throw new Error(`types.json has no ${group}/${version}/${kind}: see build/kubernetes-types.ts`);
  const {
    apiVersion: _apiVersion,
    kind: _kind,
    metadata: _metadata,
    ...fields
  } = written(types[name]).properties ?? {};
  return fields;
}

function written(node: TypeNode | undefined): Schema {
  if (node === undefined) return {};
  // Go fills `default` when it decodes; which of them a stored object shows is left to the kind.
  const { $ref, default: _default, required: _required, properties, items, additionalProperties, ...rest } = node;
  if ($ref !== undefined) return { ...written(types[$ref]), ...rest };
  return {
    ...rest,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, written(each)])) }),
    ...(items === undefined ? {} : { items: written(items) }),
    ...(typeof additionalProperties === "object" ? { additionalProperties: written(additionalProperties) } : {}),
  };
}

/** The type of a kind with its references, which `resolved` follows: types may have parts of their own type. */
export function typeOfResource(resource: Resource): Schema {
  if (resource.custom) return resource.schema;
  const name = kinds[`${resource.group}/${resource.version}/${resource.kind}`] ?? "";
  return types[name] ?? resource.schema;
}

/** All types, by the names that their references have. */
export function typesWithReferences(): Readonly<Record<string, TypeNode>> {
  return types;
}

/** The name of a kind's type; undefined for custom kinds. */
export function typeNameOf({ group, version, kind, custom }: Resource): string | undefined {
  return custom ? undefined : kinds[`${group}/${version}/${kind}`];
}

const followed = new WeakMap<TypeNode, Schema>();

/** The schema that a reference names, with what stands beside the reference. */
export function resolved(node: TypeNode): Schema {
  if (node.$ref === undefined) return node;
  let schema = followed.get(node);
  if (schema === undefined) {
    const { $ref, ...beside } = node;
    schema = { ...types[$ref], ...beside };
    followed.set(node, schema);
  }
  return schema;
}

/** An object of this kind before anything is set, as Go has it: fields that are structures are there, though empty. */
export function emptyOf(resource: Resource): KubeObject {
  const body = resource.custom ? {} : emptyStructure(typeOfResource(resource));
  return { ...body, apiVersion: groupVersion(resource), kind: resource.kind } as unknown as KubeObject;
}

function emptyStructure(schema: Schema): JsonObject {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, node]): [string, unknown][] => {
    const field = resolved(node);
    if (field.type === "object" && field.default !== undefined) return [[name, emptyStructure(field)]];
    if (!schema.required?.includes(name)) return [];
    if (field.type === "array") return [[name, null]];
    return field.default === undefined ? [] : [[name, field.default]];
  });
  return Object.fromEntries(fields);
}
