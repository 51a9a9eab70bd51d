/** Refuses a request that no role allows, in the words of kube-apiserver. Callers of the same process have no user and may do all. */
import type { ApiRequest, User } from "../contract.ts";
import type { Route, Target } from "../serve/route.ts";
import type { State } from "../state.ts";
import { StatusError } from "../status-error.ts";
import { allowedBecause, type Attributes } from "./rbac.ts";

export function checkAccess(state: State, request: ApiRequest, route: Route): void {
  const { user, impersonated } = request;
  if (user === undefined) return;
  if (impersonated !== undefined) checkImpersonation(state, user, impersonated);
  const acting = impersonated ?? user;
  const asked =
    route.kind === "page" ? pathAttributes(request.method, route.path) : resourceAttributes(request, route.target);
  if (allowedBecause(state, acting, asked) === undefined) throw refusal(acting, asked);
}

const VERBS: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch" };

function pathAttributes(method: string, path: string): Attributes {
  return { kind: "path", verb: method.toLowerCase(), path };
}

function resourceAttributes({ method, query }: ApiRequest, target: Target): Attributes {
  const { group, plural: resource, subresource = "", name = "" } = target;
  // A namespace is in itself, for those whose role is in it.
  const namespace = target.namespace ?? (group === "" && resource === "namespaces" ? name : "");
  return { kind: "resource", verb: verbOf(method, query, name !== ""), group, resource, subresource, namespace, name };
}

function verbOf(method: string, query: ApiRequest["query"], named: boolean): string {
  if (method === "DELETE") return named ? "delete" : "deletecollection";
  if (method !== "GET") return VERBS[method] ?? method.toLowerCase();
  if (["true", "1"].includes(query["watch"] ?? "")) return "watch";
  return named ? "get" : "list";
}

function checkImpersonation(state: State, user: User, wanted: User): void {
  const [, namespace = "", name = ""] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(wanted.username) ?? [];
  const asUser =
    name === ""
      ? { resource: "users", namespace: "", name: wanted.username }
      : { resource: "serviceaccounts", namespace, name };
  const groups = wanted.groups.map((group) => ({ resource: "groups", namespace: "", name: group }));
  const implied =
    name === ""
      ? ["system:authenticated"]
      : ["system:authenticated", "system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  for (const each of [asUser, ...groups.filter((group) => !implied.includes(group.name))]) {
    const asked = { kind: "resource", verb: "impersonate", group: "", subresource: "", ...each } as const;
    if (allowedBecause(state, user, asked) === undefined) throw refusal(user, asked);
  }
}

function refusal({ username }: User, asked: Attributes): StatusError {
  if (asked.kind === "path") {
    return new StatusError(
      403,
      "Forbidden",
      `forbidden: User "${username}" cannot ${asked.verb} path "${asked.path}"`,
      {},
    );
  }
  const { verb, group, namespace, name } = asked;
  const resource = asked.subresource === "" ? asked.resource : `${asked.resource}/${asked.subresource}`;
  const place = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const subject = group === "" ? asked.resource : `${asked.resource}.${group}`;
  const message = `${subject}${name === "" ? "" : ` "${name}"`} is forbidden: User "${username}" cannot ${verb} resource "${resource}" in API group "${group}" ${place}`;
  return new StatusError(403, "Forbidden", message, {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    kind: asked.resource,
  });
}
