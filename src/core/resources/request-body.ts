/**
 * What a PUT sends of a resource that was read and changed. Azure refuses requests above a size, and a resource reads
 * more than twice as large as it has to be sent: with ETags, states, the ids of its parts and references to the users of
 * each part. A request leaves out what is known to be Azure's alone to write, so that a resource at the limit can still be
 * changed and made smaller. Everything else is sent as it was read, unknown fields included. What each kind leaves out
 * stands in its folder.
 */
import { sameId } from "../model/ids.ts";

/** Of a resource, or of the parts in one of its lists; beside the fields that Azure alone writes everywhere. */
export interface OmittedFields {
  /** Under `properties`, documented as read-only. */
  readonly readOnly?: readonly string[];
  /**
   * Under `properties`: does the value equal what Azure fills in where a request lacks the field? Left out only at the
   * end, where it was added, so that the order of all other fields stays.
   */
  readonly filledIn?: Readonly<Record<string, (value: unknown, properties: Fields) => boolean>>;
  /** The lists of parts under `properties`. */
  readonly parts?: Readonly<Record<string, OmittedFields>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** For the table of resource kinds. */
export function omitting(omitted: OmittedFields): (resource: object) => object {
  return (resource) => requestBody(resource, omitted);
}

/** Runs over each of a thousand members while a drain waits: plain loops, which copy no object twice. */
export function requestBody(resource: object, omitted: OmittedFields): object {
  const body = { ...resource };
  return envelopeOf(body, "id" in body && typeof body.id === "string" ? body.id : "", omitted, false);
}

function envelopeOf(body: Fields, id: string, omitted: OmittedFields, withoutId: boolean): Fields {
  const sent: Record<string, unknown> = {};
  for (const field of Object.keys(body)) {
    if (field === "etag" || field === "type" || (withoutId && field === "id")) continue;
    const value = body[field];
    assign(sent, field, field === "properties" && isFields(value) ? propertiesOf(value, id, omitted) : value);
  }
  return sent;
}

function propertiesOf(properties: Fields, id: string, { readOnly = [], filledIn = {}, parts = {} }: OmittedFields) {
  const fields = Object.keys(properties);
  const isOmitted = (field: string): boolean => field === "provisioningState" || readOnly.includes(field);
  const isFilledIn = (field: string): boolean => own(filledIn, field)?.(properties[field], properties) === true;
  const last = fields.findLastIndex((field) => !isOmitted(field) && !isFilledIn(field));
  const sent: Record<string, unknown> = {};
  for (const field of fields.slice(0, last + 1)) {
    if (isOmitted(field)) continue;
    const value = properties[field];
    const ofParts = own(parts, field);
    const isList = ofParts !== undefined && Array.isArray(value);
    assign(sent, field, isList ? partsOf(value, `${id}/${field}`, ofParts) : value);
  }
  return sent;
}

/** Azure finds a part by its name: its id is left out where it says no more than that. */
function partsOf(parts: readonly unknown[], list: string, omitted: OmittedFields): readonly unknown[] {
  return parts.map((part) => {
    if (!isFields(part)) return part;
    const ownId = `${list}/${String(part["name"])}`;
    const { id } = part;
    return envelopeOf(part, ownId, omitted, typeof id === "string" && (id === ownId || sameId(id, ownId)));
  });
}

/** A field that is named `__proto__` is a field as any other. */
function assign(fields: Record<string, unknown>, field: string, value: unknown): void {
  if (field !== "__proto__") fields[field] = value;
  else Object.defineProperty(fields, field, { value, enumerable: true, writable: true, configurable: true });
}

/** Fields of a body may bear any name, `constructor` too. */
function own<Value>(table: Readonly<Record<string, Value>>, field: string): Value | undefined {
  return Object.hasOwn(table, field) ? table[field] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
