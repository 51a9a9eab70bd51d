/** Completes the definition of a built-in kind with the usual defaults. */
import { ageColumn, nameColumn } from "../read/column.ts";
import type { Resource } from "../resource.ts";
import { objectMeta, type Schema } from "../schema/schema.ts";

type Special = Partial<Omit<Resource, "kind" | "schema">> & {
  readonly kind: string;
  readonly plural: string;
  /** Fields besides apiVersion, kind and metadata. */
  readonly fields: Record<string, Schema>;
};

export function defineKind({ fields, ...special }: Special): Resource {
  const { kind, plural, group = "" } = special;
  return {
    group,
    version: "v1",
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: [],
    categories: [],
    namespaced: true,
    collection: group === "" ? plural : `${plural}.${group}`,
    schema: {
      type: "object",
      properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: objectMeta, ...fields },
    },
    custom: false,
    subresources: [],
    generation: false,
    unconditionalUpdate: true,
    deleteAnswersObject: false,
    selectableFields: [],
    columns: [nameColumn, ageColumn],
    behaviour: {},
    ...special,
  };
}
