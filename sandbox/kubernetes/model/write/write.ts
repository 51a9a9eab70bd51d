/** Shared by the write verbs: their inputs, decoding and conversion, and the final validation. */
import { trackUpdate } from "../apply/track-update.ts";
import type { JsonObject, KubeObject } from "../contract.ts";
import { asObject, asString, isObject, without } from "../json.ts";
import { validateMetadata } from "../kinds/metadata.ts";
import { type DecisionContext, groupVersion, type Resource } from "../resource.ts";
import { decodeBody, type FieldValidation } from "../schema/decode-body.ts";
import { badRequest, type Cause, invalid } from "../status-error.ts";
import type { Transaction } from "../transaction.ts";

export interface Write extends DecisionContext {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly transaction: Transaction;
  readonly dryRun: boolean;
  /** Who writes, for `managedFields`; the control loops leave it out, and their writes are not tracked. */
  readonly manager?: string;
  /** Of an apply: take over what others own. */
  readonly force: boolean;
  /** The entries that an apply decided on. */
  readonly managedFields?: JsonObject[] | undefined;
  readonly fieldValidation: FieldValidation;
  /** Collects warnings for the client. */
  readonly warnings: string[];
}

export interface Written {
  readonly object: KubeObject;
  readonly removed?: boolean;
}

/** A part of the object that a write is limited to. */
export type Subresource = "status" | "finalize" | "scale" | undefined;

/** The object in a request's body, checked against the URL. */
export function incoming(write: Write, body: unknown, name: string | undefined): KubeObject {
  const { resource } = write;
  if (!isObject(body)) throw badRequest(`the body must be a ${resource.kind} as a JSON object`);
  checkType(resource, body);
  const decoded = decodeBody(resource, body, write.fieldValidation, write.warnings, 400);
  const meta = asObject(decoded["metadata"]);
  const namespace = meta["namespace"];
  if (resource.namespaced && namespace !== undefined && namespace !== write.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (name !== undefined && meta["name"] !== undefined && meta["name"] !== name) {
    const given = asString(meta["name"]);
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
  const placed = resource.namespaced ? { ...meta, namespace: write.namespace } : without(meta, "namespace");
  return toStored(resource, { ...decoded, metadata: { ...(name === undefined ? {} : { name }), ...placed } });
}

export function toStored(resource: Resource, object: JsonObject): KubeObject {
  const metadata = asObject(object["metadata"]);
  const typed: KubeObject = { ...object, kind: resource.kind, apiVersion: groupVersion(resource), metadata };
  return resource.behaviour.toStored?.(typed) ?? typed;
}

/** A stored object as this served version shows it. */
export function fromStored(resource: Resource, object: KubeObject): KubeObject {
  if (resource.behaviour.fromStored !== undefined) return resource.behaviour.fromStored(object);
  const apiVersion = groupVersion(resource);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

function checkType(resource: Resource, body: JsonObject): void {
  const expected = groupVersion(resource);
  const { apiVersion, kind } = body;
  if (resource.custom && (kind === undefined || kind === "")) throw badRequest("Object 'Kind' is missing in the body");
  if (apiVersion !== undefined && apiVersion !== "" && apiVersion !== expected) {
    const given = asString(apiVersion);
    throw badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`);
  }
  if (kind !== undefined && kind !== "" && kind !== resource.kind) {
    throw badRequest(`${asString(kind)} in version "${resource.version}" cannot be handled as a ${resource.kind}`);
  }
}

/** Throws 422 if the object is invalid. */
export function checkValid(write: Write, object: KubeObject, old: KubeObject | undefined, sub: Subresource): void {
  const { resource } = write;
  const causes: Cause[] = [
    ...validateMetadata(resource, object, old),
    ...(sub === "status" && old !== undefined
      ? (resource.behaviour.validateStatus?.(object, old) ?? [])
      : (resource.behaviour.validate?.(object, old, write) ?? [])),
  ];
  if (causes.length > 0) throw invalid(resource, object.metadata.name ?? "", causes);
}

/** The object with `managedFields` as they are after this write, which is about to change what the server sets itself. */
export function tracked(write: Write, old: KubeObject | undefined, object: KubeObject, sub: Subresource): KubeObject {
  const { resource, manager } = write;
  const managedFields =
    "managedFields" in write
      ? write.managedFields
      : manager === undefined
        ? old?.metadata.managedFields
        : trackUpdate(
            { manager, resource, subresource: sub, now: timestamp(write.nowMs) },
            old && fromStored(resource, old),
            fromStored(resource, object),
          );
  const { managedFields: given, ...metadata } = object.metadata;
  if (given === managedFields) return object;
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
}

/** A time in the form of creationTimestamp: whole seconds. */
export function timestamp(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
}
