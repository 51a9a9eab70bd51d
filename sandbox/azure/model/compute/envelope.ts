/** The envelope that Compute resources share: strong ETags, `timeCreated`, read-only fields. */
import type { Resource } from "../changes.ts";
import { etagOf } from "../etags.ts";
import { nameOf } from "../ids.ts";
import { objectOf, without, type Json } from "../json.ts";

const TOP_READ_ONLY = new Set(["id", "name", "type", "etag", "location", "properties", "resources", "instanceId"]);
const READ_ONLY = new Set(["provisioningState", "vmId", "uniqueId", "timeCreated", "instanceView"]);

/** The top level of a body without read-only fields; an identity of type None is dropped. */
export function writtenTop(body: Json): { [name: string]: unknown } {
  const kept = without(body, TOP_READ_ONLY);
  if (objectOf(kept["identity"])["type"] === "None") delete kept["identity"];
  return kept;
}

export function writtenProperties(body: Json): { [name: string]: unknown } {
  return without(objectOf(body["properties"]), READ_ONLY);
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

export function computeEnvelope(resource: Resource, properties: Json, name = nameOf(resource.id)): Json {
  const { properties: _, ...others } = resource.body;
  return {
    name,
    id: resource.id,
    type: resource.type,
    location: resource.location,
    ...others,
    properties,
    etag: etagOf(resource),
  };
}
