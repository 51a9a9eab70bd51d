/**
 * Authorization by Azure roles: actions with wildcards, minus exceptions. Everything is allowed until a role is set.
 * The caller is already authenticated.
 *
 *   request                                                    | action
 *   -----------------------------------------------------------|-------------------------------------------
 *   GET …/Microsoft.Network/loadBalancers/x                    | Microsoft.Network/loadBalancers/read
 *   PUT …/loadBalancers/x/backendAddressPools/p                | …/loadBalancers/backendAddressPools/write
 *   POST …/loadBalancers/x/migrateToIpBased                    | …/loadBalancers/migrateToIpBased/action
 *   PUT /subscriptions/s/resourcegroups/g                      | Microsoft.Resources/subscriptions/resourceGroups/write
 *   GET /subscriptions/s/providers/Microsoft.Compute           | Microsoft.Resources/subscriptions/providers/read
 */

export interface Role {
  readonly actions: readonly string[];
  readonly notActions: readonly string[];
}

export const FULL_ROLE: Role = { actions: ["*"], notActions: [] };

export interface Access {
  readonly action: string;
  readonly scope: string;
}

const VERBS: Readonly<Record<string, string>> = {
  GET: "read",
  HEAD: "read",
  PUT: "write",
  PATCH: "write",
  DELETE: "delete",
  POST: "action",
};

/** The action and scope of a request; the scope is its path without a trailing collection or action. */
export function accessOf(method: string, path: string): Access {
  const segments = path.split("/").filter((segment) => segment !== "");
  const verb = VERBS[method] ?? "action";
  const providers = segments.findLastIndex((segment) => segment.toLowerCase() === "providers");
  if (providers < 0 || segments.length <= providers + 2) return resourceGroupAccess(segments, verb);
  const [namespace, ...rest] = segments.slice(providers + 1);
  const types = rest.filter((_, index) => index % 2 === 0);
  const named = rest.length - (rest.length % 2);
  const scope = segments.slice(0, rest.length % 2 === 0 || named > 0 ? providers + 2 + named : providers);
  return { action: [namespace, ...types, verb].join("/"), scope: `/${scope.join("/")}` };
}

function resourceGroupAccess(segments: readonly string[], verb: string): Access {
  const inGroup = segments[2]?.toLowerCase() === "resourcegroups";
  const isProvider = segments[2]?.toLowerCase() === "providers";
  const type = inGroup ? "subscriptions/resourceGroups" : isProvider ? "subscriptions/providers" : "subscriptions";
  return { action: `Microsoft.Resources/${type}/${verb}`, scope: `/${segments.slice(0, 4).join("/")}` };
}

export function allows(role: Role, action: string): boolean {
  return (
    role.actions.some((pattern) => matches(pattern, action)) &&
    !role.notActions.some((pattern) => matches(pattern, action))
  );
}

function matches(pattern: string, action: string): boolean {
  const escaped = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`, "i").test(action);
}
