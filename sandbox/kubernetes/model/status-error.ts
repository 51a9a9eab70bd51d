/** Errors as kube-apiserver returns them: a `Status` object with code, reason and the invalid fields. */
import type { JsonObject } from "./contract.ts";

export type CauseReason =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTypeInvalid"
  | "FieldManagerConflict"
  | "DisruptionBudget"
  | "NamespaceTerminating"
  | "ResourceVersionTooLarge";

export interface Cause {
  readonly reason: CauseReason;
  readonly message: string;
  readonly field?: string;
}

interface Details {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
}

export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly code: number;
  readonly reason: string;
  readonly details: Details | undefined;

  constructor(code: number, reason: string, message: string, details?: Details) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  toStatus(): JsonObject {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      ...(this.reason === "" ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** The resource that an error is about: most reasons use the plural, Invalid uses the kind. */
interface Subject {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

function detailsOf(subject: Subject, name: string): Details {
  return { name, ...(subject.group === "" ? {} : { group: subject.group }), kind: subject.plural };
}

function qualified(subject: Subject): string {
  return subject.group === "" ? subject.plural : `${subject.plural}.${subject.group}`;
}

export function notFound(subject: Subject, name: string): StatusError {
  return new StatusError(404, "NotFound", `${qualified(subject)} "${name}" not found`, detailsOf(subject, name));
}

export function alreadyExists(subject: Subject, name: string): StatusError {
  const message = `${qualified(subject)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", message, detailsOf(subject, name));
}

export function conflict(subject: Subject, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`;
  return new StatusError(409, "Conflict", message, detailsOf(subject, name));
}

export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

export function forbidden(subject: Subject, name: string, why: string, causes?: readonly Cause[]): StatusError {
  const message = `${qualified(subject)} "${name}" is forbidden: ${why}`;
  return new StatusError(403, "Forbidden", message, { ...detailsOf(subject, name), ...(causes ? { causes } : {}) });
}

export function invalid(subject: Subject, name: string, causes: readonly Cause[]): StatusError {
  const texts = causes.map((cause) => (cause.field === undefined ? cause.message : `${cause.field}: ${cause.message}`));
  const kind = subject.group === "" ? subject.kind : `${subject.kind}.${subject.group}`;
  const why = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return new StatusError(422, "Invalid", `${kind} "${name}" is invalid: ${why}`, {
    ...(name === "" ? {} : { name }),
    ...(subject.group === "" ? {} : { group: subject.group }),
    kind: subject.kind,
    causes,
  });
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );
}

export function unsupportedMediaType(message: string): StatusError {
  return new StatusError(415, "UnsupportedMediaType", message);
}

export function expired(message: string): StatusError {
  return new StatusError(410, "Expired", message);
}

/** The value as Kubernetes' field errors print it. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value === undefined || value === null) return "null";
  return JSON.stringify(value);
}

export const required = (field: string, detail = ""): Cause => ({
  reason: "FieldValueRequired",
  message: detail === "" ? "Required value" : `Required value: ${detail}`,
  field,
});

export const invalidValue = (field: string, value: unknown, detail: string): Cause => ({
  reason: "FieldValueInvalid",
  message: `Invalid value: ${shown(value)}: ${detail}`,
  field,
});

export const notSupported = (field: string, value: unknown, supported: readonly string[]): Cause => ({
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${shown(value)}: supported values: ${supported.map((item) => `"${item}"`).join(", ")}`,
  field,
});

export const duplicate = (field: string, value: unknown): Cause => ({
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${shown(value)}`,
  field,
});

export const forbiddenField = (field: string, detail: string): Cause => ({
  reason: "FieldValueForbidden",
  message: `Forbidden: ${detail}`,
  field,
});

export const tooLong = (field: string, maximum: number): Cause => ({
  reason: "FieldValueTooLong",
  message: `Too long: may not be more than ${maximum} bytes`,
  field,
});

/** Refuses a value that is not one of the allowed ones; undefined is not checked. */
export function oneOf(field: string, value: string | undefined, allowed: readonly string[]): Cause[] {
  return value === undefined || allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
}
