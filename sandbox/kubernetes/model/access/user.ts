/** Users as authorization sees them, and the user that a service account is. */
import type { ApiRequest, JsonObject, User } from "../contract.ts";
import { asObject, asString } from "../json.ts";
import { objectAt, type State } from "../state.ts";

export const ADMINISTRATORS = "system:masters";
export const AUTHENTICATED = "system:authenticated";

/** A caller in the same process. */
const IN_PROCESS: User = { username: "system:apiserver", groups: [ADMINISTRATORS, AUTHENTICATED] };

/** As whom a request is treated. */
export function actingUser({ user = IN_PROCESS, impersonated }: ApiRequest): User {
  return impersonated ?? user;
}

export function serviceAccountUser(namespace: string, name: string, uid?: string): User {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    ...(uid === undefined ? {} : { uid }),
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, AUTHENTICATED],
  };
}

/** The user that a token's claims name, as long as its service account exists and the token is not over; else why not. */
export function userOfClaims(state: State, claims: JsonObject, nowMs: number): User | string {
  if (Number(claims["exp"] ?? 0) * 1000 <= nowMs) return "service account token has expired";
  const bound = asObject(claims["kubernetes.io"]);
  const namespace = asString(bound["namespace"]);
  const { name, uid } = asObject(bound["serviceaccount"]);
  const account = objectAt(state, "serviceaccounts", `${namespace}/${asString(name)}`);
  if (account === undefined || account.metadata.deletionTimestamp !== undefined)
    return "service account token has been invalidated";
  if (account.metadata.uid !== uid) return "service account UID does not match claim";
  const secret = asString(asObject(bound["secret"])["name"]);
  if (secret !== "" && objectAt(state, "secrets", `${namespace}/${secret}`) === undefined) {
    return "service account token has been invalidated";
  }
  const user = serviceAccountUser(namespace, asString(name), asString(uid));
  const id = asString(claims["jti"]);
  return id === "" ? user : { ...user, extra: { "authentication.kubernetes.io/credential-id": [`JTI=${id}`] } };
}
