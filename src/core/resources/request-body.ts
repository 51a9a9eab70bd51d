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

export function requestBody(resource: object, omitted: OmittedFields): object {
  const body: Fields = { ...resource };
  return envelopeOf(body, typeof body["id"] === "string" ? body["id"] : "", omitted);
}

function envelopeOf({ etag: _etag, type: _type, ...body }: Fields, id: string, omitted: OmittedFields): Fields {
  const { properties } = body;
  return isFields(properties) ? { ...body, properties: propertiesOf(properties, id, omitted) } : body;
}

function propertiesOf(properties: Fields, id: string, { readOnly = [], filledIn = {}, parts = {} }: OmittedFields) {
  const fields = Object.keys(properties).filter((field) => field !== "provisioningState" && !readOnly.includes(field));
  const isFilledIn = (field: string): boolean => own(filledIn, field)?.(properties[field], properties) === true;
  const sent = fields.slice(0, fields.findLastIndex((field) => !isFilledIn(field)) + 1);
  const entries = sent.map((field): [string, unknown] => {
    const value = properties[field];
    const omitted = own(parts, field);
    if (omitted === undefined || !Array.isArray(value)) return [field, value];
    return [field, value.map((part: unknown) => (isFields(part) ? partOf(part, `${id}/${field}`, omitted) : part))];
  });
  return Object.fromEntries(entries);
}

/** Azure finds a part by its name: its id is left out where it says no more than that. */
function partOf(part: Fields, list: string, omitted: OmittedFields): Fields {
  const { id, ...rest } = part;
  const ownId = `${list}/${String(part["name"])}`;
  return envelopeOf(typeof id === "string" && sameId(id, ownId) ? rest : part, ownId, omitted);
}

/** Fields of a body may bear any name, `constructor` too. */
function own<Value>(table: Readonly<Record<string, Value>>, field: string): Value | undefined {
  return Object.hasOwn(table, field) ? table[field] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
