/**
 * Writes sandbox/kubernetes/model/schema/types.json: names and types of the fields of Kubernetes' own kinds, without
 * descriptions, out of the OpenAPI v3 documents of a Kubernetes source tree.
 *
 *   node build/kubernetes-types.ts <kubernetes>/api/openapi-spec/v3
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

interface Node {
  readonly [field: string]: unknown;
}

/** The kinds, by the document that has them. A kind that the embedded API serves needs a place here. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  api__v1: ["ConfigMap", "Event", "Namespace", "Node", "Pod", "Secret", "Service", "ServiceAccount", "TokenRequest"],
  "apis__admissionregistration.k8s.io__v1": [
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
  ],
  "apis__apiextensions.k8s.io__v1": ["CustomResourceDefinition"],
  apis__apps__v1: ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet"],
  "apis__authentication.k8s.io__v1": ["SelfSubjectReview", "TokenReview"],
  "apis__authorization.k8s.io__v1": [
    "LocalSubjectAccessReview",
    "SelfSubjectAccessReview",
    "SelfSubjectRulesReview",
    "SubjectAccessReview",
  ],
  "apis__coordination.k8s.io__v1": ["Lease"],
  "apis__discovery.k8s.io__v1": ["EndpointSlice"],
  "apis__events.k8s.io__v1": ["Event"],
  "apis__networking.k8s.io__v1": ["NetworkPolicy"],
  apis__policy__v1: ["PodDisruptionBudget"],
  "apis__rbac.authorization.k8s.io__v1": ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
  "apis__scheduling.k8s.io__v1": ["PriorityClass"],
};

const KEPT = [
  "type",
  "format",
  "required",
  "default",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-preserve-unknown-fields",
];

const REF = "#/components/schemas/";
const folder = process.argv[2] ?? "";
const types: Record<string, Node> = {};
const kinds: Record<string, string> = {};

for (const [file, names] of Object.entries(KINDS)) {
  const document = JSON.parse(readFileSync(join(folder, `${file}_openapi.json`), "utf8")) as Node;
  const schemas = (document["components"] as Node)["schemas"] as Record<string, Node>;
  for (const [type, schema] of Object.entries(schemas)) {
    const served = (schema["x-kubernetes-group-version-kind"] ?? []) as Record<string, string>[];
    const [only] = served;
    if (served.length !== 1 || only === undefined || !names.includes(only["kind"] ?? "")) continue;
    kinds[`${only["group"]}/${only["version"]}/${only["kind"]}`] = type;
    keep(schemas, type);
  }
}

function keep(schemas: Record<string, Node>, type: string): void {
  if (types[type] !== undefined) return;
  types[type] = {};
  types[type] = reduced(schemas, schemas[type] ?? {});
}

function reduced(schemas: Record<string, Node>, schema: Node): Node {
  const ref = (schema["$ref"] ?? (schema["allOf"] as Node[] | undefined)?.[0]?.["$ref"]) as string | undefined;
  const kept = Object.fromEntries(KEPT.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]]));
  if (ref !== undefined) {
    keep(schemas, ref.slice(REF.length));
    return { $ref: ref.slice(REF.length), ...kept };
  }
  const properties = schema["properties"] as Record<string, Node> | undefined;
  const { items, additionalProperties, oneOf } = schema;
  return {
    ...kept,
    ...(oneOf === undefined || kept["format"] === undefined ? {} : { "x-kubernetes-int-or-string": true }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, each]) => [name, reduced(schemas, each)]),
          ),
        }),
    ...(items === undefined ? {} : { items: reduced(schemas, items as Node) }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: reduced(schemas, additionalProperties as Node) }
      : {}),
  };
}

const out = resolve(import.meta.dirname, "../sandbox/kubernetes/model/schema/types.json");
writeFileSync(
  out,
  `${JSON.stringify({ kinds, types: Object.fromEntries(Object.entries(types).sort(([left], [right]) => (left < right ? -1 : 1))) })}\n`,
);
