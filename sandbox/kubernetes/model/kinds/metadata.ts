/** Validates metadata of all kinds: names, labels, annotations, finalizers, owner references. */
import type { KubeObject } from "../contract.ts";
import type { Resource } from "../resource.ts";
import { type Cause, forbiddenField, invalidValue, required, tooLong } from "../status-error.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const ANNOTATIONS_LIMIT = 262_144;

export function subdomainProblems(name: string): string[] {
  if (name.length > 253) return ["must be no more than 253 characters"];
  if (SUBDOMAIN.test(name)) return [];
  return [
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  ];
}

export function labelProblems(name: string): string[] {
  if (name.length > 63) return ["must be no more than 63 characters"];
  if (LABEL.test(name)) return [];
  return [
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  ];
}

export function label1035Problems(name: string): string[] {
  if (name.length > 63) return ["must be no more than 63 characters"];
  if (LABEL_1035.test(name)) return [];
  return [
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  ];
}

/** `example.com/name` or `name`. */
export function qualifiedNameProblems(value: string): string[] {
  const parts = value.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > 2)
    return ["a qualified name must consist of a name with an optional DNS subdomain prefix and '/'"];
  if (parts.length === 2 && subdomainProblems(parts[0] ?? "").length > 0)
    return ["prefix part must be a DNS subdomain"];
  if (name.length === 0) return ["name part must be non-empty"];
  if (name.length > 63) return ["name part must be no more than 63 characters"];
  if (QUALIFIED.test(name)) return [];
  return [
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ];
}

export function labelValueProblems(value: string): string[] {
  if (value.length > 63) return ["must be no more than 63 characters"];
  if (LABEL_VALUE.test(value)) return [];
  return [
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ];
}

export function labelsProblems(labels: Readonly<Record<string, unknown>>, field: string): Cause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameProblems(key).map((problem) => invalidValue(field, key, problem)),
    ...labelValueProblems(String(value)).map((problem) => invalidValue(field, value, problem)),
  ]);
}

export function validateMetadata(resource: Resource, object: KubeObject, old: KubeObject | undefined): Cause[] {
  const meta = object.metadata;
  return [
    ...validateName(resource, meta.name ?? ""),
    ...labelsProblems(meta.labels ?? {}, "metadata.labels"),
    ...validateAnnotations(meta.annotations ?? {}),
    ...validateOwners(object),
    ...validateFinalizers(resource, object, old),
    ...(old === undefined ? [] : validateIdentity(object, old)),
  ];
}

function validateName(resource: Resource, name: string): Cause[] {
  if (name === "") return [required("metadata.name", "name or generateName is required")];
  const problems = resource.behaviour.validateName?.(name) ?? subdomainProblems(name);
  return problems.map((problem) => invalidValue("metadata.name", name, problem));
}

function validateAnnotations(annotations: Readonly<Record<string, string>>): Cause[] {
  const bad = Object.keys(annotations).flatMap((key) =>
    qualifiedNameProblems(key.toLowerCase()).map((problem) => invalidValue("metadata.annotations", key, problem)),
  );
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return size > ANNOTATIONS_LIMIT ? [...bad, tooLong("metadata.annotations", ANNOTATIONS_LIMIT)] : bad;
}

function validateOwners(object: KubeObject): Cause[] {
  const owners = object.metadata.ownerReferences ?? [];
  const causes = owners.flatMap((owner, index) =>
    (["apiVersion", "kind", "name", "uid"] as const)
      .filter((field) => !owner[field])
      .map((field) => required(`metadata.ownerReferences[${index}].${field}`)),
  );
  if (owners.filter((owner) => owner.controller).length < 2) return causes;
  return [
    ...causes,
    invalidValue("metadata.ownerReferences", owners, "Only one reference can have Controller set to true"),
  ];
}

/** Finalizers of Kubernetes itself, which need no domain. */
const STANDARD_FINALIZERS = ["kubernetes", "orphan", "foregroundDeletion"];

function validateFinalizers(resource: Resource, object: KubeObject, old: KubeObject | undefined): Cause[] {
  const finalizers = object.metadata.finalizers ?? [];
  const field = "metadata.finalizers";
  const causes = finalizers.flatMap((name) => {
    const problems = qualifiedNameProblems(name);
    if (problems.length === 0 && !resource.custom && !name.includes("/") && !STANDARD_FINALIZERS.includes(name)) {
      problems.push("name is neither a standard finalizer name nor is it fully qualified");
    }
    return problems.map((problem) => invalidValue(field, name, problem));
  });
  if (old?.metadata.deletionTimestamp === undefined) return causes;
  const added = finalizers.filter((name) => !old.metadata.finalizers?.includes(name));
  if (added.length === 0) return causes;
  const names = added.map((name) => `"${name}"`).join(", ");
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${names}}`;
  return [...causes, forbiddenField(field, why)];
}

function validateIdentity(object: KubeObject, old: KubeObject): Cause[] {
  if (object.metadata.uid === old.metadata.uid) return [];
  return [invalidValue("metadata.uid", object.metadata.uid ?? "", "field is immutable")];
}
