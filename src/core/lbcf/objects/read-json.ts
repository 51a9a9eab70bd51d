/** Reads JSON of unknown shape without throwing: a value that is absent or of another type reads as empty. */
import type { ObjectMeta } from "../../model/kubernetes.ts";
import type { StringMap } from "./objects.ts";

export type Json = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** Some clients send `null` for an absent field. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function textsOf(value: unknown): string[] {
  return listOf(value).filter((each): each is string => typeof each === "string");
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function stringMapOf(value: unknown): StringMap {
  return Object.fromEntries(
    Object.entries(objectOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** `{ [key]: value }`, or `{}` when the value is absent: absent fields then compare as equal. */
export function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]?: Value });
}

export function rawMetaOf(
  metadata: Json,
): ObjectMeta & { readonly namespace: string; readonly resourceVersion: string } {
  const { labels, annotations, finalizers } = metadata;
  return {
    name: textOf(metadata["name"]),
    namespace: textOf(metadata["namespace"]),
    uid: textOf(metadata["uid"]),
    resourceVersion: textOf(metadata["resourceVersion"]),
    ...optional("creationTimestamp", textOf(metadata["creationTimestamp"]) || undefined),
    ...optional("deletionTimestamp", textOf(metadata["deletionTimestamp"]) || undefined),
    ...(labels !== undefined && { labels: stringMapOf(labels) }),
    ...(annotations !== undefined && { annotations: keptAnnotations(annotations) }),
    ...(finalizers !== undefined && { finalizers: textsOf(finalizers) }),
  };
}

/** Holds the whole manifest; the controller never reads it. */
const UNREAD_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

function keptAnnotations(annotations: unknown): StringMap {
  const { [UNREAD_ANNOTATION]: _, ...kept } = stringMapOf(annotations);
  return kept;
}
