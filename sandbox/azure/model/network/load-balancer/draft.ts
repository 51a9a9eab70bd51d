/**
 * A load balancer body while it is parsed: its children by name, for canonical references between them. Refuses
 * references to frontends, pools and probes that are not in the same body.
 */
import { invalid, referenceNotFound, unreadable } from "../../errors.ts";
import { isObject, stringOf, type Json } from "../../json.ts";
import { childId, referenceId } from "../../lookups.ts";
import { checkName } from "../../names.ts";
import type { PutInput } from "../../resource-type.ts";
import { Reservations } from "../private-addresses.ts";

export const COLLECTIONS = [
  "frontendIPConfigurations",
  "backendAddressPools",
  "loadBalancingRules",
  "probes",
  "inboundNatRules",
  "outboundRules",
  "inboundNatPools",
] as const;

export type Collection = (typeof COLLECTIONS)[number];

export interface Draft {
  readonly input: PutInput;
  readonly reservations: Reservations;
  readonly sku: string;
  readonly tier: string;
  /** Collection → lower-case name → canonical name, of this body. */
  readonly names: Map<Collection, ReadonlyMap<string, string>>;
}

export function newDraft(input: PutInput, sku: string, tier: string): Draft {
  return { input, reservations: new Reservations(), sku, tier, names: new Map() };
}

/** The items of a collection; refuses invalid and duplicate names. */
export function namedItems(draft: Draft, properties: Json, collection: Collection): Json[] {
  const items = itemsOf(properties[collection], `properties.${collection}`);
  const names = new Map<string, string>();
  for (const item of items) {
    const name = stringOf(item["name"]) ?? "";
    checkName("network", name);
    const key = name.toLowerCase();
    if (names.has(key)) throw duplicateName(draft.input.id, name);
    names.set(key, name);
  }
  draft.names.set(collection, names);
  return items;
}

/** An array of objects as it came; absent and null count as empty. */
export function itemsOf(value: unknown, path: string): Json[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isObject)) {
    throw unreadable("InvalidJson", `Expected an array of objects. Path '${path}'.`);
  }
  return value;
}

export function duplicateName(id: string, name: string): Error {
  return invalid("DuplicateResourceName", `Resource ${id} has two child resources with the same name (${name}).`);
}

/** The canonical id of a child of this same load balancer that a reference names. */
export function innerId(draft: Draft, value: unknown, collection: Collection, owner: string): string | undefined {
  const known = innerName(draft, isObject(value) ? stringOf(value["id"]) : undefined, collection);
  if (known !== undefined) return childId(draft.input.id, collection, known);
  const id = referenceId(value, `properties.${collection}`);
  if (id === undefined) return undefined;
  throw referenceNotFound(id, owner);
}

function innerName(draft: Draft, id: string | undefined, collection: Collection): string | undefined {
  const key = id?.toLowerCase();
  const prefix = `${draft.input.key}/${collection.toLowerCase()}/`;
  return key?.startsWith(prefix) ? draft.names.get(collection)?.get(key.slice(prefix.length)) : undefined;
}
