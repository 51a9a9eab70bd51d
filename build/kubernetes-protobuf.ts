/**
 * Writes sandbox/kubernetes/server/protobuf/messages.json: the protobuf field numbers of Kubernetes' own kinds with the JSON
 * names and types of their fields, out of the Go sources of k8s.io/api and k8s.io/apimachinery. Numbers and names alone.
 *
 *   node build/kubernetes-protobuf.ts <folder of k8s.io/api> <folder of k8s.io/apimachinery>
 *
 * A field is `[name, type]`, by its number. An empty name: its fields stand in the message itself. A type is
 *
 *   s i b x     | string, integer, boolean, bytes
 *   t u q o     | Time, MicroTime, Quantity, IntOrString
 *   r f e       | RawExtension, FieldsV1, ExtraValue (a list of strings in a message)
 *   @name       | a message
 *   [] and {}   | before it: a list, a map from strings
 *   !           | before it: a zero value is a value, because Go has a pointer, or writes it into JSON in any case
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [api = "", machinery = ""] = process.argv.slice(2);
const META = "k8s.io/apimachinery/pkg/apis/meta/v1";

/** The kinds, by their package. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  "core/v1": ["Binding", "ConfigMap", "Event", "Namespace", "Node", "Pod", "Secret", "Service", "ServiceAccount"],
  "admissionregistration/v1": [
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
  ],
  "apps/v1": ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet"],
  "authentication/v1": ["SelfSubjectReview", "TokenRequest", "TokenReview"],
  "authorization/v1": [
    "LocalSubjectAccessReview",
    "SelfSubjectAccessReview",
    "SelfSubjectRulesReview",
    "SubjectAccessReview",
  ],
  "autoscaling/v1": ["Scale"],
  "coordination/v1": ["Lease"],
  "discovery/v1": ["EndpointSlice"],
  "events/v1": ["Event"],
  "networking/v1": ["NetworkPolicy"],
  "policy/v1": ["Eviction", "PodDisruptionBudget"],
  "rbac/v1": ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
  "scheduling/v1": ["PriorityClass"],
};
const GROUPS: Readonly<Record<string, string>> = {
  core: "",
  admissionregistration: "admissionregistration.k8s.io/",
  apps: "apps/",
  authentication: "authentication.k8s.io/",
  authorization: "authorization.k8s.io/",
  autoscaling: "autoscaling/",
  coordination: "coordination.k8s.io/",
  discovery: "discovery.k8s.io/",
  events: "events.k8s.io/",
  networking: "networking.k8s.io/",
  policy: "policy/",
  rbac: "rbac.authorization.k8s.io/",
  scheduling: "scheduling.k8s.io/",
};

/** Types with a form of their own. */
const SPECIAL: Readonly<Record<string, string>> = {
  [`${META}.Time`]: "t",
  [`${META}.MicroTime`]: "u",
  [`${META}.FieldsV1`]: "f",
  "k8s.io/api/authentication/v1.ExtraValue": "e",
  "k8s.io/api/authorization/v1.ExtraValue": "e",
  "k8s.io/apimachinery/pkg/api/resource.Quantity": "q",
  "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "o",
  "k8s.io/apimachinery/pkg/runtime.RawExtension": "r",
  "k8s.io/apimachinery/pkg/types.UID": "s",
  "k8s.io/apimachinery/pkg/types.NodeName": "s",
  string: "s",
  bool: "b",
  int32: "i",
  int64: "i",
  int: "i",
  "[]byte": "x",
};

interface Source {
  readonly structs: ReadonlyMap<string, readonly string[]>;
  readonly named: ReadonlyMap<string, string>;
  readonly imports: ReadonlyMap<string, string>;
}
const sources = new Map<string, Source>();

/** A Go package's types.go: its structs line by line, its other named types, and what its imports are called. */
function sourceOf(path: string): Source {
  const known = sources.get(path);
  if (known !== undefined) return known;
  const folder = path.startsWith("k8s.io/apimachinery/")
    ? join(machinery, path.slice("k8s.io/apimachinery/".length))
    : join(api, path.slice("k8s.io/api/".length));
  const text = readFileSync(join(folder, "types.go"), "utf8");
  const structs = [...text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)].map(
    ([, name = "", body = ""]) => [name, body.split("\n")] as const,
  );
  const named = [...text.matchAll(/^type (\w+) ([\w.[\]]+)$/gm)].map(
    ([, name = "", type = ""]) => [name, type] as const,
  );
  const imports = [...text.matchAll(/^\t(?:(\w+) )?"(k8s\.io\/[^"]+)"$/gm)].map(
    ([, alias, imported = ""]) => [alias ?? imported.split("/").at(-1) ?? "", imported] as const,
  );
  const source = { structs: new Map(structs), named: new Map(named), imports: new Map(imports) };
  sources.set(path, source);
  return source;
}

const messages: Record<string, Record<string, readonly [string, string]>> = {};

function typeIn(path: string, type: string): string {
  if (type === "[]byte") return "x";
  if (type.startsWith("*")) return typeIn(path, type.slice(1));
  if (type.startsWith("[]")) return `[]${typeIn(path, type.slice(2))}`;
  const [, value] = /^map\[[\w.]+\](.+)$/.exec(type) ?? [];
  if (value !== undefined) return `{}${typeIn(path, value)}`;
  const [alias, name] = type.includes(".") ? (type.split(".") as [string, string]) : [undefined, type];
  const home = alias === undefined ? path : (sourceOf(path).imports.get(alias) ?? alias);
  const special = SPECIAL[alias === undefined ? type : `${home}.${name}`] ?? SPECIAL[`${home}.${name}`];
  if (special !== undefined) return special;
  const other = sourceOf(home).named.get(name);
  return other === undefined ? `@${messageOf(home, name)}` : typeIn(home, other);
}

function messageOf(path: string, struct: string): string {
  const id = `${path.replace(/^k8s\.io\/(api|apimachinery\/pkg\/apis)\//, "")}.${struct}`;
  if (messages[id] !== undefined) return id;
  const fields: Record<string, readonly [string, string]> = {};
  messages[id] = fields;
  const lines = sourceOf(path).structs.get(struct);
  if (lines === undefined) throw new Error(`${path} has no struct ${struct}`);
  for (const line of lines) {
    const field = /^\t(?:(?:\w+)\s+)?([\w.*[\]]+)\s+`json:"([^",]*)([^"]*)"[^`]*protobuf:"\w+,(\d+),/.exec(line);
    if (field === null) continue;
    const [, type = "", name = "", options = "", number = ""] = field;
    const isKept = type.startsWith("*") || (!options.includes("omitempty") && !options.includes("inline"));
    fields[number] = [name, `${isKept ? "!" : ""}${typeIn(path, type)}`];
  }
  return id;
}

const kinds: Record<string, string> = { DeleteOptions: messageOf(META, "DeleteOptions") };
for (const [folder, names] of Object.entries(KINDS)) {
  const [group = "", version = ""] = folder.split("/");
  for (const name of names) kinds[`${GROUPS[group]}${version}/${name}`] = messageOf(`k8s.io/api/${folder}`, name);
}

const out = resolve(import.meta.dirname, "../sandbox/kubernetes/server/protobuf/messages.json");
writeFileSync(out, `${JSON.stringify({ kinds, messages })}\n`);
