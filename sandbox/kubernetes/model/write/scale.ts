/** The `scale` subresource of a workload: its number of replicas as an object of its own, read, replaced and patched. */
import type { JsonObject, KubeObject } from "../contract.ts";
import { asObject, isObject } from "../json.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { selectorText } from "../read/label-selector.ts";
import { part } from "../resource.ts";
import { keyOf, objectAt } from "../state.ts";
import {
  badRequest,
  conflict,
  invalid,
  invalidValue,
  MODIFIED,
  notFound,
  unsupportedMediaType,
} from "../status-error.ts";
import { replaceStored } from "./update.ts";
import type { Write } from "./write.ts";

const SCALE = { group: "autoscaling", version: "v1", kind: "Scale" };
const PATCHES = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];

export function readScale(write: Write, name: string): JsonObject {
  return scaleOf(stored(write, name));
}

export function replaceScale(write: Write, name: string, body: unknown): JsonObject {
  if (!isObject(body)) throw badRequest("the body must be a Scale as a JSON object");
  const old = stored(write, name);
  const version = asObject(body["metadata"])["resourceVersion"];
  if (version !== undefined && version !== old.metadata.resourceVersion) throw conflict(write.resource, name, MODIFIED);
  const replicas = asObject(body["spec"])["replicas"] ?? 0;
  if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0) {
    const problem = invalidValue("spec.replicas", replicas, "must be greater than or equal to 0");
    throw invalid({ ...SCALE, plural: "scales" }, name, [problem]);
  }
  const { object } = replaceStored(write, old, { ...old, spec: { ...part(old, "spec"), replicas } }, "scale");
  return scaleOf(object);
}

export function patchScale(write: Write, name: string, type: string, body: unknown): JsonObject {
  if (!PATCHES.includes(type)) {
    const message = `the body of the request was in an unknown format - accepted media types include: ${PATCHES.join(", ")}`;
    throw unsupportedMediaType(message);
  }
  const current = readScale(write, name);
  return replaceScale(write, name, type === PATCHES[0] ? jsonPatch(current, body) : mergePatch(current, body));
}

function stored(write: Write, name: string): KubeObject {
  const { resource, namespace } = write;
  const key = keyOf({ metadata: { name, ...(namespace === undefined ? {} : { namespace }) } });
  const object = objectAt(write.state, resource.collection, key);
  if (object === undefined) throw notFound(resource, name);
  return object;
}

function scaleOf(object: KubeObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const spec = part(object, "spec");
  const selector = selectorText(spec["selector"]);
  return {
    kind: SCALE.kind,
    apiVersion: `${SCALE.group}/${SCALE.version}`,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: Number(spec["replicas"] ?? 0) === 0 ? {} : { replicas: spec["replicas"] },
    status: {
      replicas: Number(part(object, "status")["replicas"] ?? 0),
      ...(selector === "<none>" ? {} : { selector }),
    },
  };
}
