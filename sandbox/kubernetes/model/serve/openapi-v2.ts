/**
 * OpenAPI v2 of Kubernetes' own kinds: what kubectl validates by where it validates itself, as it does for the items of a
 * `kind: List`, and what older kubectls read. Custom resources are left out: the server validates them.
 */
import type { Answer, JsonObject } from "../contract.ts";
import type { Resource } from "../resource.ts";
import { typeNameOf, typesWithReferences, type TypeNode } from "../schema/types.ts";
import { encodeOpenApi } from "./openapi-v2-protobuf.ts";

const PROTOBUF = "application/com.github.proto-openapi.spec.v2";
const PROTOBUF_ANSWER = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

export interface SchemaV2 extends JsonObject {
  readonly properties?: Readonly<Record<string, SchemaV2>>;
  readonly items?: SchemaV2;
  readonly additionalProperties?: SchemaV2;
}

export interface DocumentV2 {
  readonly swagger: "2.0";
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: JsonObject;
  readonly definitions: Readonly<Record<string, SchemaV2>>;
}

export function openApiV2(accept: string, resources: readonly Resource[], version: string): Answer {
  const document = documentOf(resources, version);
  if (!accept.startsWith(PROTOBUF)) return { kind: "answer", status: 200, body: document };
  return { kind: "answer", status: 200, body: encodeOpenApi(document), contentType: PROTOBUF_ANSWER };
}

function documentOf(resources: readonly Resource[], version: string): DocumentV2 {
  const kinds = new Map<string, JsonObject[]>();
  for (const resource of resources) {
    const name = typeNameOf(resource);
    const { group, version: served, kind } = resource;
    if (name !== undefined) kinds.set(name, [...(kinds.get(name) ?? []), { group, kind, version: served }]);
  }
  const definitions = Object.entries(typesWithReferences()).map(([name, type]) => {
    const served = kinds.get(name);
    return [name, { ...schemaOf(type), ...(served && { "x-kubernetes-group-version-kind": served }) }] as const;
  });
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version },
    paths: {},
    definitions: Object.fromEntries(definitions),
  };
}

function schemaOf({ $ref, properties, items, additionalProperties, default: _default, ...rest }: TypeNode): SchemaV2 {
  if ($ref !== undefined) return { $ref: `#/definitions/${$ref}` };
  const { "x-kubernetes-int-or-string": isEither, ...kept } = rest;
  return {
    ...kept,
    ...(isEither === true && { type: "string", format: "int-or-string" }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, schemaOf(each)])),
    }),
    ...(items !== undefined && { items: schemaOf(items) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: schemaOf(additionalProperties) }),
  };
}
