/**
 * `POST /{tenant}/oauth2/v2.0/token` (and the older `/oauth2/token`, and ADFS's): a service principal signs in with its
 * secret, or with an assertion, which is not verified. Errors have Entra ID's format.
 */
import type { HttpReply, HttpRequest } from "../server/http-message.ts";
import { jsonReply } from "../server/http-message.ts";
import type { Account } from "./account.ts";
import type { TokenAuthority } from "./tokens.ts";

const PATH = /^\/([^/]+)\/oauth2(?:\/v2\.0)?\/token\/?$/i;
const NO_STORE = { "cache-control": "no-store, no-cache", pragma: "no-cache" };

export function answerTokenRequest(
  request: HttpRequest,
  account: Account,
  authority: TokenAuthority,
): HttpReply | undefined {
  const tenant = PATH.exec(request.path)?.[1];
  if (tenant === undefined) return undefined;
  if (request.method !== "POST")
    return entraError(405, "invalid_request", 900561, "The endpoint only accepts POST requests.");
  if (tenant !== account.tenantId && tenant.toLowerCase() !== "adfs") {
    return entraError(400, "invalid_request", 90002, `Tenant '${tenant}' not found. Check the tenant ID.`);
  }
  return signIn(new URLSearchParams(request.text), account, authority);
}

function signIn(form: URLSearchParams, account: Account, authority: TokenAuthority): HttpReply {
  const grant = form.get("grant_type");
  if (grant === null) return missing("grant_type");
  if (grant !== "client_credentials") {
    return entraError(400, "unsupported_grant_type", 70003, `The app requested an unsupported grant type '${grant}'.`);
  }
  const clientId = form.get("client_id");
  if (clientId === null) return missing("client_id");
  const audience = audienceOf(form);
  if (audience === undefined) return missing("scope");
  if (clientId !== account.clientId) {
    return entraError(400, "unauthorized_client", 700016, `Application with identifier '${clientId}' was not found.`);
  }
  const secret = form.get("client_secret");
  if (secret === null && form.get("client_assertion") === null) {
    return entraError(
      401,
      "invalid_client",
      7000218,
      "The request body must contain 'client_assertion' or 'client_secret'.",
    );
  }
  if (secret !== null && secret !== account.clientSecret) {
    return entraError(401, "invalid_client", 7000215, `Invalid client secret provided for app '${clientId}'.`);
  }
  const issued = authority.issue(clientId, audience);
  const { lifetimeSeconds } = issued;
  return jsonReply(
    200,
    { token_type: "Bearer", expires_in: lifetimeSeconds, ext_expires_in: lifetimeSeconds, access_token: issued.token },
    NO_STORE,
  );
}

/** v2 requests have a scope (`<audience>/.default`), v1 and ADFS requests a resource. */
function audienceOf(form: URLSearchParams): string | undefined {
  const scope = form.get("scope")?.split(" ")[0];
  return scope === undefined ? (form.get("resource") ?? undefined) : scope.replace(/\/\.default$/, "");
}

function missing(field: string): HttpReply {
  return entraError(
    400,
    "invalid_request",
    900144,
    `The request body must contain the following parameter: '${field}'.`,
  );
}

function entraError(status: number, error: string, number: number, message: string): HttpReply {
  return jsonReply(
    status,
    { error, error_description: `AADSTS${number}: ${message}`, error_codes: [number] },
    NO_STORE,
  );
}
