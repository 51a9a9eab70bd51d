/** Shared parts of network resources: envelopes, tags, SKUs, zones, read-only fields. */
import type { Resource } from "../changes.ts";
import { invalid, unreadable } from "../errors.ts";
import { etagOf } from "../etags.ts";
import { childId } from "../lookups.ts";
import { isObject, objectOf, propertiesOf, sameJson, stringOf, without, type Json } from "../json.ts";
import { nameOf } from "../ids.ts";

/** Fields that a caller may send but cannot write. */
const ENVELOPE = new Set(["id", "name", "type", "etag", "location", "properties", "resourceGroup"]);
const CHILD_ENVELOPE = new Set(["id", "name", "type", "etag", "properties", "resourceGroup"]);
const READ_ONLY = new Set(["provisioningState", "resourceGuid"]);

/** The stored top level of a body, without fields that the emulator renders. */
export function topLevel(body: Json): { [name: string]: unknown } {
  const kept = without(body, ENVELOPE);
  if (body["tags"] === null) delete kept["tags"];
  return kept;
}

/** The `properties` that a caller wrote, without read-only ones. */
export function writtenProperties(value: Json, readOnly?: ReadonlySet<string>): { [name: string]: unknown } {
  const properties = value["properties"];
  if (properties !== undefined && properties !== null && !isObject(properties)) {
    throw unreadable("InvalidJson", "Error converting value of 'properties' to an object. Path 'properties'.");
  }
  const kept = without(objectOf(properties), READ_ONLY);
  if (readOnly) for (const name of readOnly) delete kept[name];
  return kept;
}

/** A stored child: its name, unknown fields as written, and its normal properties. */
export function storedChild(name: string, written: Json, properties: Json): Json {
  return { ...without(written, CHILD_ENVELOPE), name, properties };
}

/** The SKU with the tier that Azure fills in. */
export function skuOf(body: Json, fallback: string): Json {
  const sku = objectOf(body["sku"]);
  return { ...sku, name: stringOf(sku["name"]) ?? fallback, tier: stringOf(sku["tier"]) ?? "Regional" };
}

export function skuName(body: Json): string {
  return stringOf(objectOf(body["sku"])["name"]) ?? "Basic";
}

/** Refuses zones that differ from those at creation; omitted zones differ too. */
export function checkZones(id: string, before: Json | undefined, after: Json): void {
  if (!before || sameJson(before["zones"] ?? [], after["zones"] ?? [])) return;
  throw invalid(
    "ResourceAvailabilityZonesCannotBeModified",
    `Resource ${id} has an existing availability zone constraint ${zonesText(before)} and the request has availability ` +
      `zone constraint ${zonesText(after)}, which do not match. Zones cannot be added/updated/removed once the resource ` +
      "is created. The resource cannot be updated from regional to zonal or vice-versa.",
  );
}

function zonesText(value: Json): string {
  const zones = value["zones"];
  return Array.isArray(zones) && zones.length > 0 ? zones.join(", ") : "<none>";
}

/** A rendered top-level resource, with its fields in Azure's order. */
export function envelope(resource: Resource, properties: Json): Json {
  const { tags, ...others } = resource.body;
  return {
    name: nameOf(resource.id),
    id: resource.id,
    etag: etagOf(resource),
    type: resource.type,
    location: resource.location,
    ...(tags !== undefined && { tags }),
    ...others,
    properties: { provisioningState: resource.state, resourceGuid: resource.guid, ...properties },
  };
}

/** A rendered child, with the ETag and state of its parent. */
export function renderChild(resource: Resource, etag: string, collection: string, child: Json, extra?: Json): Json {
  const name = stringOf(child["name"]) ?? "";
  const { properties: _, name: __, ...others } = child;
  return {
    name,
    id: childId(resource.id, collection, name),
    etag,
    type: `${resource.type}/${collection}`,
    ...others,
    properties: { provisioningState: shownState(resource), ...propertiesOf(child), ...extra },
  };
}

/** The provisioning state that children show: their parent's. */
export function shownState(resource: Resource): string {
  return resource.state;
}

/** A reference as Azure returns it: the id alone. */
export function idReference(id: string): Json {
  return { id };
}
