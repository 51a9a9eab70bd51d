/** PATCH: applies the patch to the stored object and continues as an update. */
import type { KubeObject } from "../contract.ts";
import { asObject, isObject } from "../json.ts";
import { jsonPatch, MalformedPatchError, PatchMismatchError } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { BadDirectiveError, strategicMerge } from "../patch/strategic-merge.ts";
import { decodeBody } from "../schema/decode-body.ts";
import { keyOf, objectAt } from "../state.ts";
import { badRequest, invalid, notFound, StatusError, unsupportedMediaType } from "../status-error.ts";
import { APPLY_PATCH } from "./apply.ts";
import { replaceStored } from "./update.ts";
import { fromStored, type Subresource, toStored, type Write, type Written } from "./write.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json";

const MOST_OPERATIONS = 10_000;

export function patch(write: Write, name: string, sub: Subresource, type: string, body: unknown): Written {
  const { resource } = write;
  const key = keyOf({ metadata: { name, ...(write.namespace === undefined ? {} : { namespace: write.namespace }) } });
  const old = objectAt(write.state, resource.collection, key);
  checkType(write, type);
  if (old === undefined) throw notFound(resource, name);
  const patched = applyPatch(write, fromStored(resource, old), type, body);
  const decoded = decodeBody(resource, asObject(patched), write.fieldValidation, write.warnings, 422);
  return replaceStored(write, old, checkedIdentity(toStored(resource, decoded), name, write.namespace), sub);
}

function checkType(write: Write, type: string): void {
  const supported = [JSON_PATCH, MERGE_PATCH, ...(write.resource.custom ? [] : [STRATEGIC_MERGE_PATCH]), APPLY_PATCH];
  if (supported.includes(type)) return;
  const message = `the body of the request was in an unknown format - accepted media types include: ${supported.join(", ")}`;
  throw unsupportedMediaType(message);
}

function applyPatch(write: Write, current: KubeObject, type: string, body: unknown): unknown {
  if (Array.isArray(body) && body.length > MOST_OPERATIONS) {
    throw new StatusError(413, "RequestEntityTooLarge", `the patch has more than ${MOST_OPERATIONS} operations`);
  }
  if (type !== JSON_PATCH && !isObject(body)) throw badRequest("the patch must be a JSON object");
  try {
    if (type === JSON_PATCH) return jsonPatch(current, body);
    if (type === MERGE_PATCH) return mergePatch(current, body);
    return strategicMerge(current, asObject(body), write.resource.schema);
  } catch (error) {
    throw asRefusal(write, error);
  }
}

function asRefusal(write: Write, error: unknown): unknown {
  if (error instanceof MalformedPatchError) return badRequest(error.message);
  if (error instanceof BadDirectiveError) return new StatusError(500, "InternalError", error.message);
  if (!(error instanceof PatchMismatchError)) return error;
  return invalid(write.resource, "", [{ reason: "FieldValueInvalid", message: error.message, field: "patch" }]);
}

function checkedIdentity(object: KubeObject, name: string, namespace: string | undefined): KubeObject {
  const given = object.metadata;
  if (given.name !== name) {
    throw badRequest(`the name of the object (${given.name ?? ""}) does not match the name on the URL (${name})`);
  }
  if (namespace !== undefined && given.namespace !== namespace) {
    throw badRequest("the namespace of the object does not match the namespace on the request");
  }
  return object;
}
