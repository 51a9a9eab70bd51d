/** Who may talk to the embedded API: whoever shows its token or a certificate of its authority. */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";

export function isAuthenticated(message: IncomingMessage, token: string): boolean {
  if ((message.socket as TLSSocket).authorized) return true;
  const given = /^Bearer (.+)$/.exec(message.headers.authorization ?? "")?.[1] ?? "";
  return given.length === token.length && timingSafeEqual(Buffer.from(given), Buffer.from(token));
}

export const UNAUTHORIZED = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: "Unauthorized",
  reason: "Unauthorized",
  code: 401,
};
