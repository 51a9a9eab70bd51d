/** PATCH with a configuration (server-side apply): checks it, merges it and continues as a create or an update. */
import { applyConfig } from "../apply/apply-config.ts";
import { configProblems } from "../apply/check-config.ts";
import { parseManagers } from "../apply/managers.ts";
import type { JsonObject, KubeObject } from "../contract.ts";
import { asObject, asString, isObject } from "../json.ts";
import { groupVersion } from "../resource.ts";
import { decodeBody } from "../schema/decode-body.ts";
import { typeOfResource } from "../schema/types.ts";
import { keyOf, objectAt } from "../state.ts";
import { badRequest, conflict, notFound, StatusError } from "../status-error.ts";
import { checkNamespace, createStored } from "./create.ts";
import { replaceStored } from "./update.ts";
import { fromStored, type Subresource, timestamp, toStored, type Write, type Written } from "./write.ts";

export const APPLY_PATCH = "application/apply-patch+yaml";

export function apply(write: Write, name: string, sub: Subresource, body: unknown): Written & { created?: boolean } {
  const { resource } = write;
  const metadata = { name, ...(write.namespace === undefined ? {} : { namespace: write.namespace }) };
  const old = objectAt(write.state, resource.collection, keyOf({ metadata }));
  const config = checkedConfig(write, name, body);
  if (old === undefined && sub !== undefined) throw notFound(resource, name);
  const given = asObject(config["metadata"]);
  if (old === undefined && given["uid"] !== undefined) {
    const why = `uid mismatch: the provided object specified uid ${asString(given["uid"])}, and no existing object was found`;
    throw conflict(resource, name, why);
  }
  const { object, managedFields } = merged(write, old, sub, config);
  const decoded = decodeBody(resource, object, "Ignore", write.warnings, 422);
  const stored = toStored(resource, { ...decoded, metadata: { ...asObject(decoded["metadata"]), ...metadata } });
  const preset: Write = { ...write, managedFields };
  if (old !== undefined) return replaceStored(preset, old, stored, sub);
  checkNamespace(write, name);
  return { object: fromStored(resource, createStored(preset, stored)), created: true };
}

function merged(
  write: Write,
  old: KubeObject | undefined,
  sub: Subresource,
  config: JsonObject,
): ReturnType<typeof applyConfig> {
  const { resource, manager = "" } = write;
  const writer = { manager, resource, subresource: sub, now: timestamp(write.nowMs) };
  const managers = parseManagers(old?.metadata.managedFields) ?? [];
  return applyConfig(writer, old && fromStored(resource, old), managers, config, write.force);
}

function checkedConfig(write: Write, name: string, body: unknown): JsonObject {
  const { resource } = write;
  if (!isObject(body)) throw badRequest("error decoding YAML: the configuration must be an object");
  const { apiVersion, kind } = body;
  if (apiVersion !== groupVersion(resource) || kind !== resource.kind) {
    throw badRequest(`invalid object type: ${shownKind(asString(apiVersion), asString(kind))}`);
  }
  const metadata = asObject(body["metadata"]);
  if (metadata["managedFields"] !== undefined) throw badRequest("metadata.managedFields must be nil");
  const problems = configProblems(typeOfResource(resource), body);
  if (problems.length > 0) throw untyped(write, body, problems);
  if (metadata["name"] !== undefined && metadata["name"] !== name) {
    const given = asString(metadata["name"]);
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
  if (metadata["namespace"] !== undefined && resource.namespaced && metadata["namespace"] !== write.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return body;
}

function untyped(write: Write, config: JsonObject, problems: readonly string[]): StatusError {
  const { name, namespace } = asObject(config["metadata"]);
  const subject = `${asString(namespace)}/${asString(name)}; ${shownKind(groupVersion(write.resource), write.resource.kind)}`;
  const [only] = problems;
  const why = problems.length === 1 ? only : `errors:\n${problems.map((problem) => `  ${problem}`).join("\n")}`;
  return new StatusError(500, "", `failed to create typed patch object (${subject}): ${why}`);
}

/** `apps/v1, Kind=Deployment`; the core group is empty. */
function shownKind(apiVersion: string, kind: string): string {
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}
