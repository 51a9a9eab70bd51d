/**
 * OpenAPI v3, one document per group-version: the schemas for `kubectl explain`, and for each kind the one path from which
 * `kubectl apply` and `create` learn that the server validates fields.
 */
import type { Answer, JsonObject } from "../contract.ts";
import { groupVersion, type Resource } from "../resource.ts";
import { objectMeta, type Schema } from "../schema/schema.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/** Answers a path below /openapi; undefined for other paths. */
export function openApi(path: string, resources: readonly Resource[]): Answer | undefined {
  if (path === "/openapi/v3") return { kind: "answer", status: 200, body: root(resources) };
  const asked = /^\/openapi\/v3\/(?:api|apis)\/(.+)$/.exec(path)?.[1];
  const served = resources.filter((resource) => groupVersion(resource) === asked);
  return served.length === 0 ? undefined : { kind: "answer", status: 200, body: document(served) };
}

function root(resources: readonly Resource[]): JsonObject {
  const versions = new Set(resources.map(pathOf));
  const paths = [...versions].map((path) => {
    const text = JSON.stringify(document(resources.filter((resource) => pathOf(resource) === path)));
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash(text)}` }] as const;
  });
  return { paths: Object.fromEntries(paths) };
}

function pathOf(resource: Resource): string {
  return `${resource.group === "" ? "api" : "apis"}/${groupVersion(resource)}`;
}

/** FNV-1a: kubectl's cache key of a document. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return (value >>> 0).toString(16).toUpperCase();
}

function document(resources: readonly Resource[]): JsonObject {
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1" },
    paths: Object.fromEntries(resources.map((resource) => [urlOf(resource), { patch: patchOperation(resource) }])),
    components: {
      schemas: {
        [META]: published(objectMeta),
        ...Object.fromEntries(resources.map((resource) => [schemaName(resource), kindSchema(resource)])),
      },
    },
  };
}

function urlOf(resource: Resource): string {
  const place = resource.namespaced ? "namespaces/{namespace}/" : "";
  return `/${pathOf(resource)}/${place}${resource.plural}/{name}`;
}

function patchOperation(resource: Resource): JsonObject {
  return {
    parameters: [{ name: "fieldValidation", in: "query", schema: { type: "string" } }],
    responses: {
      "200": {
        description: "OK",
        content: { "application/json": { schema: { $ref: `#/components/schemas/${schemaName(resource)}` } } },
      },
    },
    "x-kubernetes-action": "patch",
    "x-kubernetes-group-version-kind": gvk(resource),
  };
}

function gvk(resource: Resource): JsonObject {
  return { group: resource.group, version: resource.version, kind: resource.kind };
}

/** `example.com/v1 Thing` → `com.example.v1.Thing`, as Kubernetes names schemas. */
function schemaName(resource: Resource): string {
  const group = resource.group === "" ? "io.k8s.api.core" : resource.group.split(".").toReversed().join(".");
  return `${group}.${resource.version}.${resource.kind}`;
}

function kindSchema(resource: Resource): JsonObject {
  const schema = published(resource.schema);
  const typeMeta = {
    apiVersion: { type: "string", description: "The group and version of this representation of the object." },
    kind: { type: "string", description: "The kind of the object." },
  };
  const metadata = {
    allOf: [{ $ref: `#/components/schemas/${META}` }],
    default: {},
    description: "Standard object's metadata.",
  };
  const properties = { ...(schema["properties"] as JsonObject), ...typeMeta, metadata };
  return { ...schema, properties, "x-kubernetes-group-version-kind": [gvk(resource)] };
}

/** A schema without the extensions of this server. */
function published(schema: Schema): JsonObject {
  const { omitEmpty: _ours, properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(schema["x-kubernetes-int-or-string"] ? { oneOf: [{ type: "integer" }, { type: "string" }] } : {}),
    ...(properties === undefined ? {} : { properties: mapValues(properties, published) }),
    ...(items === undefined ? {} : { items: published(items) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === "boolean" ? additionalProperties : published(additionalProperties),
        }),
  };
}

function mapValues<T, R>(record: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
