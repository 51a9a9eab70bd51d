/**
 * What clients look up about rights, read only: the caller's permissions on a scope, its role assignment, and the
 * definitions of roles. The roles are those of the settings; the model knows none.
 */
import type { Caller } from "../identity/tokens.ts";
import { gatewayError } from "./arm-headers.ts";
import type { HttpReply, HttpRequest } from "./http-message.ts";
import { FULL_ROLE, type Role } from "./role.ts";

const PATH =
  /^(.*)\/providers\/microsoft\.authorization\/(permissions|roleassignments|roledefinitions)(?:\/([^/]+))?\/?$/i;

interface Definition {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly role: Role;
}

/** Roles of Azure with their ids, as far as load balancing uses them. */
const BUILT_IN: readonly Definition[] = [
  {
    id: "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
    name: "Owner",
    description: "Full access to all resources, including the right to assign roles.",
    role: FULL_ROLE,
  },
  {
    id: "b24988ac-6180-42a0-ab88-20f7382dd24c",
    name: "Contributor",
    description: "Full access to all resources, without the right to assign roles.",
    role: {
      actions: ["*"],
      notActions: ["Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write"],
    },
  },
  {
    id: "acdd72a7-3385-48ef-bd42-f606fba81ae7",
    name: "Reader",
    description: "May see all resources and change none.",
    role: { actions: ["*/read"], notActions: [] },
  },
  {
    id: "4d97b98b-1d4f-4787-a291-c67834d212e7",
    name: "Network Contributor",
    description: "May manage networks.",
    role: { actions: ["Microsoft.Authorization/*/read", "Microsoft.Network/*"], notActions: [] },
  },
];
const OWN_ROLE = "5a9db0c5-0000-4000-8000-000000000001";
const ASSIGNMENT = "5a9db0c5-0000-4000-8000-000000000002";

/** `undefined`: the request is about something else. */
export function answerAuthorization(request: HttpRequest, caller: Caller, role: Role): HttpReply | undefined {
  const [, scope = "", kind = "", name] = PATH.exec(request.path) ?? [];
  if (kind === "") return undefined;
  if (request.method !== "GET") {
    return gatewayError(405, "HttpMethodNotAllowed", `'${request.method}' is not allowed on '${request.path}'.`);
  }
  switch (kind.toLowerCase()) {
    case "permissions":
      return { status: 200, headers: {}, body: { value: [permissionOf(role)] } };
    case "roleassignments":
      return answer([assignment(scope, caller, role)], name, "RoleAssignmentNotFound");
    default:
      return answer(definitions(scope, role, request.query["$filter"] ?? ""), name, "RoleDefinitionDoesNotExist");
  }
}

function answer(items: readonly { readonly name: string }[], name: string | undefined, absent: string): HttpReply {
  if (name === undefined) return { status: 200, headers: {}, body: { value: items } };
  const found = items.find((item) => item.name === name.toLowerCase());
  return found === undefined
    ? gatewayError(404, absent, `'${name}' is not found.`)
    : { status: 200, headers: {}, body: found };
}

function permissionOf({ actions, notActions }: Role): object {
  return { actions: [...actions], notActions: [...notActions], dataActions: [], notDataActions: [] };
}

/** The caller has one role, on its subscription. */
function assignment(scope: string, { objectId }: Caller, role: Role): { name: string } {
  const subscription = scope.split("/").slice(0, 3).join("/");
  return {
    id: `${subscription}/providers/Microsoft.Authorization/roleAssignments/${ASSIGNMENT}`,
    name: ASSIGNMENT,
    type: "Microsoft.Authorization/roleAssignments",
    properties: {
      roleDefinitionId: `${subscription}/providers/Microsoft.Authorization/roleDefinitions/${role === FULL_ROLE ? (BUILT_IN[0]?.id ?? "") : OWN_ROLE}`,
      principalId: objectId,
      principalType: "ServicePrincipal",
      scope: subscription,
    },
  } as { name: string };
}

function definitions(scope: string, role: Role, filter: string): { name: string }[] {
  const wanted = /^roleName eq '([^']*)'$/i.exec(filter.trim())?.[1]?.toLowerCase();
  const own = { id: OWN_ROLE, name: "Sandbox caller", description: "The caller's role, as the settings say.", role };
  const all = role === FULL_ROLE ? BUILT_IN : [...BUILT_IN, own];
  const subscription = scope.split("/").slice(0, 3).join("/");
  return all
    .filter(({ name }) => wanted === undefined || name.toLowerCase() === wanted)
    .map(({ id, name, description, role: granted }) => ({
      id: `${subscription}/providers/Microsoft.Authorization/roleDefinitions/${id}`,
      name: id,
      type: "Microsoft.Authorization/roleDefinitions",
      properties: {
        roleName: name,
        type: id === OWN_ROLE ? "CustomRole" : "BuiltInRole",
        description,
        assignableScopes: ["/"],
        permissions: [permissionOf(granted)],
      },
    }));
}
