/**
 * Issues and verifies access tokens: JWTs signed with the emulator's key. A token survives a restart if the key does.
 * Roles, not this file, decide what the caller may do.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

import type { Account } from "./account.ts";

export interface Caller {
  readonly clientId: string;
  readonly objectId: string;
}

interface AccessToken {
  readonly token: string;
  readonly expiresAtSeconds: number;
  readonly lifetimeSeconds: number;
}

/** Why a token was refused, with the ARM gateway's code and message. */
export interface TokenRefusal {
  readonly code:
    | "AuthenticationFailed"
    | "InvalidAuthenticationToken"
    | "ExpiredAuthenticationToken"
    | "InvalidAuthenticationTokenAudience";
  readonly message: string;
}

export interface TokenAuthority {
  issue(clientId: string, audience: string): AccessToken;
  /** Verifies the value of an `Authorization` header. */
  verify(authorization: string | undefined): Caller | TokenRefusal;
}

export interface TokenAuthorityOptions {
  readonly account: Account;
  readonly key: Buffer;
  readonly lifetimeSeconds: number;
  readonly nowMs: () => number;
  /** Whether this is the audience of the emulated Resource Manager. */
  readonly accepts: (audience: string) => boolean;
}

interface Claims {
  readonly aud: string;
  readonly iss: string;
  readonly appid: string;
  readonly oid: string;
  readonly tid: string;
  readonly iat: number;
  readonly exp: number;
}

const MICROSOFT_AUDIENCES = ["https://management.azure.com", "https://management.core.windows.net"];

/** Ignores a trailing slash; `localhost` equals the loopback address. */
export function acceptsAudience(audience: string, ownUrls: readonly string[]): boolean {
  const plain = audience.replace(/\/+$/, "").replace("//localhost:", "//127.0.0.1:").toLowerCase();
  return MICROSOFT_AUDIENCES.includes(plain) || ownUrls.includes(plain);
}

const HEADER = encode({ typ: "JWT", alg: "HS256" });

export function isRefusal(result: Caller | TokenRefusal): result is TokenRefusal {
  return "code" in result;
}

export function tokenAuthority(options: TokenAuthorityOptions): TokenAuthority {
  const { account, key, lifetimeSeconds, nowMs, accepts } = options;
  return {
    issue(clientId, audience) {
      const iat = Math.floor(nowMs() / 1000);
      const claims: Claims = {
        aud: audience,
        iss: `https://sts.windows.net/${account.tenantId}/`,
        appid: clientId,
        oid: objectIdOf(clientId),
        tid: account.tenantId,
        iat,
        exp: iat + lifetimeSeconds,
      };
      const signed = `${HEADER}.${encode(claims)}`;
      return { token: `${signed}.${signature(signed, key)}`, expiresAtSeconds: claims.exp, lifetimeSeconds };
    },

    verify(authorization) {
      if (authorization === undefined || authorization === "") {
        return refusal("AuthenticationFailed", "Authentication failed. The 'Authorization' header is missing.");
      }
      const claims = claimsOf(authorization, key);
      if (claims === undefined) {
        return refusal("InvalidAuthenticationToken", "The access token is invalid.");
      }
      if (claims.exp * 1000 <= nowMs()) {
        const expiry = new Date(claims.exp * 1000).toUTCString();
        return refusal(
          "ExpiredAuthenticationToken",
          `The access token expiry UTC time '${expiry}' is earlier than current UTC time '${new Date(nowMs()).toUTCString()}'.`,
        );
      }
      if (!accepts(claims.aud)) {
        return refusal(
          "InvalidAuthenticationTokenAudience",
          `The access token has been obtained for wrong audience or resource '${claims.aud}'.`,
        );
      }
      return { clientId: claims.appid, objectId: claims.oid };
    },
  };
}

function refusal(code: TokenRefusal["code"], message: string): TokenRefusal {
  return { code, message };
}

/** The claims of a bearer token with a valid signature; otherwise `undefined`. */
function claimsOf(authorization: string, key: Buffer): Claims | undefined {
  const [scheme, token] = authorization.split(" ");
  if (scheme?.toLowerCase() !== "bearer" || token === undefined) return undefined;
  const [header, payload, given] = token.split(".");
  if (header === undefined || payload === undefined || given === undefined) return undefined;
  const wanted = Buffer.from(signature(`${header}.${payload}`, key));
  const seen = Buffer.from(given);
  if (wanted.length !== seen.length || !timingSafeEqual(wanted, seen)) return undefined;
  return JSON.parse(Buffer.from(payload, "base64url").toString()) as Claims;
}

function signature(text: string, key: Buffer): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** A stable object id, derived from the client id and different from it. */
function objectIdOf(clientId: string): string {
  const hex = createHash("sha256").update(`object:${clientId}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
