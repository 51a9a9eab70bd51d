/** Schemas of Kubernetes' own kinds, out of types.json: names and types of their fields, references written out. */
import type { Schema } from "./schema.ts";
import table from "./types.json" with { type: "json" };

interface TypeNode extends Schema {
  readonly $ref?: string;
}

const types = table.types as unknown as Readonly<Record<string, TypeNode>>;
const kinds: Readonly<Record<string, string>> = table.kinds;

/** The fields of a kind besides apiVersion, kind and metadata. */
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
