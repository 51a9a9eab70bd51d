/** Role-based access control: what the roles that are bound to a user let it do. Pure; checkAccess applies it to requests. */
import type { JsonObject, KubeObject, User } from "../contract.ts";
import { asArray, asObject, asString } from "../json.ts";
import { objectAt, objectsIn, type State } from "../state.ts";
import { ADMINISTRATORS } from "./user.ts";

const GROUP = "rbac.authorization.k8s.io";

export type Attributes =
  | { readonly kind: "path"; readonly verb: string; readonly path: string }
  | {
      readonly kind: "resource";
      readonly verb: string;
      readonly group: string;
      /** The plural; empty in no request, `*` in questions. */
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    };

/** Why a request is allowed; undefined where nothing allows it. */
export function allowedBecause(state: State, user: User, asked: Attributes): string | undefined {
  if (user.groups.includes(ADMINISTRATORS)) return "";
  for (const { rules, because } of grantsTo(state, user, asked.kind === "resource" ? asked.namespace : "")) {
    if (rules.some((rule) => covers(rule, asked))) return because;
  }
  return undefined;
}

/** The rules of all roles that a user has in a namespace, those of the whole cluster included. */
export function rulesOf(state: State, user: User, namespace: string): JsonObject[] {
  const everything = [
    { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
    { nonResourceURLs: ["*"], verbs: ["*"] },
  ];
  if (user.groups.includes(ADMINISTRATORS)) return everything;
  return [...grantsTo(state, user, namespace)].flatMap(({ rules }) => [...rules]);
}

interface Grant {
  readonly rules: readonly JsonObject[];
  readonly because: string;
}

function* grantsTo(state: State, user: User, namespace: string): Iterable<Grant> {
  for (const binding of objectsIn(state, `clusterrolebindings.${GROUP}`)) {
    const subject = subjectOf(binding, user);
    if (subject !== undefined) yield grant(state, binding, subject, "");
  }
  if (namespace === "") return;
  for (const binding of objectsIn(state, `rolebindings.${GROUP}`)) {
    if (binding.metadata.namespace !== namespace) continue;
    const subject = subjectOf(binding, user);
    if (subject !== undefined) yield grant(state, binding, subject, namespace);
  }
}

function grant(state: State, binding: KubeObject, subject: string, namespace: string): Grant {
  const { kind, name } = asObject(binding["roleRef"]);
  const role =
    kind === "Role"
      ? objectAt(state, `roles.${GROUP}`, `${namespace}/${asString(name)}`)
      : objectAt(state, `clusterroles.${GROUP}`, asString(name));
  const bound = `${binding.metadata.name ?? ""}${namespace === "" ? "" : `/${namespace}`}`;
  const because = `RBAC: allowed by ${binding.kind} "${bound}" of ${asString(kind)} "${asString(name)}" to ${subject}`;
  return { rules: asArray(role?.["rules"]).map(asObject), because };
}

/** The subject of a binding that the user is, as reasons show it. */
function subjectOf(binding: KubeObject, user: User): string | undefined {
  const found = asArray(binding["subjects"])
    .map(asObject)
    .find((subject) => isSubject(subject, user, binding.metadata.namespace));
  if (found === undefined) return undefined;
  const { kind, name, namespace } = found;
  const place = namespace ?? binding.metadata.namespace;
  return `${asString(kind)} "${asString(name)}${kind === "ServiceAccount" ? `/${asString(place)}` : ""}"`;
}

function isSubject({ kind, name, namespace }: JsonObject, user: User, home: string | undefined): boolean {
  if (kind === "User") return name === user.username;
  if (kind === "Group") return user.groups.includes(asString(name));
  const place = asString(namespace ?? home);
  return kind === "ServiceAccount" && user.username === `system:serviceaccount:${place}:${asString(name)}`;
}

function covers(rule: JsonObject, asked: Attributes): boolean {
  if (!has(rule["verbs"], asked.verb)) return false;
  if (asked.kind === "path")
    return asArray(rule["nonResourceURLs"]).some((path) => coversPath(asString(path), asked.path));
  const names = asArray(rule["resourceNames"]);
  return (
    has(rule["apiGroups"], asked.group) &&
    asArray(rule["resources"]).some((resource) => coversResource(asString(resource), asked)) &&
    (names.length === 0 || names.includes(asked.name))
  );
}

function has(list: unknown, value: string): boolean {
  const values = asArray(list);
  return values.includes("*") || values.includes(value);
}

function coversResource(
  pattern: string,
  { resource, subresource }: { resource: string; subresource: string },
): boolean {
  if (pattern === "*") return true;
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  return pattern === whole || (subresource !== "" && pattern === `*/${subresource}`);
}

function coversPath(pattern: string, path: string): boolean {
  return pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}
