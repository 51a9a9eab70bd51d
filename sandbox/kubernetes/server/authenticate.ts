/**
 * Finds out who sends a request. Authorization is the model's.
 *
 *   the kubeconfig's token           | an administrator
 *   a certificate of the authority   | its common name, and its organizations as groups
 *   a service account's token        | that account
 *   anything else                    | nobody: 401
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { PeerCertificate, TLSSocket } from "node:tls";

import { ADMINISTRATORS, AUTHENTICATED, serviceAccountUser, userOfClaims } from "../model/access/user.ts";
import type { TokenAuthority, User } from "../model/contract.ts";
import type { State } from "../model/state.ts";

export interface Credentials {
  /** The kubeconfig's. */
  readonly token: string;
  readonly tokens: TokenAuthority;
  readonly state: State;
}

const ADMINISTRATOR: User = { username: "azlb-admin", groups: [ADMINISTRATORS, AUTHENTICATED] };

export function authenticate(message: IncomingMessage, credentials: Credentials): User | undefined {
  const socket = message.socket as TLSSocket;
  if (socket.authorized) return userOfCertificate(socket.getPeerCertificate());
  const given = /^Bearer (.+)$/.exec(message.headers.authorization ?? "")?.[1] ?? "";
  const { token, tokens, state } = credentials;
  if (given.length === token.length && timingSafeEqual(Buffer.from(given), Buffer.from(token))) return ADMINISTRATOR;
  const claims = tokens.read(given);
  if (claims === undefined || !(claims["aud"] as string[]).includes(tokens.issuer)) return undefined;
  const user = userOfClaims(state, claims, Date.now());
  return typeof user === "string" ? undefined : user;
}

function userOfCertificate({ subject }: PeerCertificate): User {
  const several = (name: string | string[] | undefined): string[] => (name === undefined ? [] : [name].flat());
  return { username: several(subject.CN)[0] ?? "", groups: [...several(subject.O), AUTHENTICATED] };
}

/** As whom the client wants to be treated: `kubectl --as`, `--as-group`. */
export function impersonation({ headers }: IncomingMessage): User | undefined {
  const username = headers["impersonate-user"];
  if (typeof username !== "string" || username === "") return undefined;
  const given = headers["impersonate-group"];
  const asked = (typeof given === "string" ? given.split(", ") : (given ?? [])).filter((group) => group !== "");
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(username) ?? [];
  const implied =
    namespace === undefined || name === undefined ? [AUTHENTICATED] : serviceAccountUser(namespace, name).groups;
  const groups = asked.length > 0 ? [...asked, AUTHENTICATED] : implied;
  return { username, groups: [...new Set(groups)] };
}
