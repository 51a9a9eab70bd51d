/** Namespaces: Active until deleted, then Terminating until the namespace controller has finalized them. */
import type { KubeObject } from "../contract.ts";
import { ageColumn, column, nameColumn } from "../read/column.ts";
import { part } from "../resource.ts";
import { condition, listOf, mergeList, struct, text } from "../schema/schema.ts";
import { defineKind } from "./define.ts";
import { labelProblems } from "./metadata.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";

function withNameLabel(object: KubeObject): KubeObject {
  const name = object.metadata.name;
  if (name === undefined || object.metadata.labels?.[NAME_LABEL] === name) return object;
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [NAME_LABEL]: name } } };
}

export const namespace = defineKind({
  kind: "Namespace",
  plural: "namespaces",
  shortNames: ["ns"],
  namespaced: false,
  subresources: ["status", "finalize"],
  selectableFields: ["status.phase"],
  fields: {
    spec: struct({ finalizers: listOf(text) }),
    status: struct({ phase: text, conditions: mergeList("type", condition) }),
  },
  columns: [nameColumn, column("Status", (object) => part(object, "status")["phase"] ?? ""), ageColumn],
  behaviour: {
    validateName: labelProblems,
    setDefaults: withNameLabel,
    prepareCreate: (object) => ({ ...object, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } }),
    prepareDelete: (object) => ({ ...object, status: { ...part(object, "status"), phase: "Terminating" } }),
    // spec.finalizers changes through /finalize only.
    prepareUpdate: (object, old) => ({ ...object, spec: old["spec"] }),
  },
});
