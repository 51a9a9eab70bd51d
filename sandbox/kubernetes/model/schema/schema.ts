/**
 * The structural schema, in one form for built-in kinds (written with the builders below) and custom resources (from
 * their CustomResourceDefinition).
 */
export interface Schema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
  /** Built-in kinds only: an empty value is not kept (Go's `omitempty` on a plain field). */
  readonly omitEmpty?: boolean;
}

export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A plain string: an empty one counts as unset. */
export const text: Schema = { type: "string", omitEmpty: true };
/** A string for which empty and unset differ (a pointer in Go). */
export const optionalText: Schema = { type: "string" };
/** A boolean for which false counts as unset. */
export const flag: Schema = { type: "boolean", omitEmpty: true };
/** A boolean with three states: true, false, unset. */
export const optionalFlag: Schema = { type: "boolean" };
/** An integer where 0 counts as unset. */
export const count: Schema = { type: "integer", omitEmpty: true };
/** An integer where 0 is a value. */
export const integer: Schema = { type: "integer" };
export const intOrString: Schema = { "x-kubernetes-int-or-string": true };
/** RFC 3339, kept in whole seconds. */
export const time: Schema = { type: "string", format: "date-time" };
/** RFC 3339 with exactly six fractional digits. */
export const microTime: Schema = { type: "string", format: "micro-time" };
export const bytes: Schema = { type: "string", format: "byte" };
/** Any value: fields that the model does not read. */
export const anything: Schema = { "x-kubernetes-preserve-unknown-fields": true };
export const anyObject: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

export const struct = (properties: Record<string, Schema>): Schema => ({ type: "object", properties });
export const mapOf = (values: Schema): Schema => ({ type: "object", additionalProperties: values, omitEmpty: true });
export const listOf = (items: Schema): Schema => ({ type: "array", items, omitEmpty: true });
/** A list that a strategic-merge patch merges by this key. */
export const mergeList = (key: string, items: Schema): Schema => ({
  type: "array",
  items,
  omitEmpty: true,
  "x-kubernetes-patch-strategy": "merge",
  "x-kubernetes-patch-merge-key": key,
});
/** A list of plain values that a strategic-merge patch adds to. */
export const mergeSet = (items: Schema): Schema => ({
  type: "array",
  items,
  omitEmpty: true,
  "x-kubernetes-patch-strategy": "merge",
});
export const textMap: Schema = mapOf({ type: "string" });

export const condition: Schema = struct({
  type: text,
  status: text,
  observedGeneration: count,
  lastTransitionTime: time,
  lastHeartbeatTime: time,
  lastProbeTime: time,
  reason: optionalText,
  message: optionalText,
});

export const objectReference: Schema = struct({
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  apiVersion: text,
  resourceVersion: text,
  fieldPath: text,
});

export const objectMeta: Schema = struct({
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: count,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: integer,
  labels: textMap,
  annotations: textMap,
  ownerReferences: mergeList(
    "uid",
    struct({
      apiVersion: text,
      kind: text,
      name: text,
      uid: text,
      controller: optionalFlag,
      blockOwnerDeletion: optionalFlag,
    }),
  ),
  finalizers: mergeSet(text),
  // An empty list is kept: it drops the entries.
  managedFields: { type: "array", items: anyObject },
});
