/**
 * Managed identity in the two forms that clients use, over plain HTTP too:
 *
 *   form        | path                            | required header
 *   ------------|---------------------------------|-----------------------------
 *   App Service | /msi/token (IDENTITY_ENDPOINT)  | X-IDENTITY-HEADER: <secret>
 *   IMDS        | /metadata/identity/oauth2/token | Metadata: true
 *
 * A request may name a user-assigned identity, which then is the caller in the audit log.
 */
import type { HttpReply, HttpRequest } from "../server/http-message.ts";
import { jsonReply } from "../server/http-message.ts";
import type { Account } from "./account.ts";
import type { TokenAuthority } from "./tokens.ts";

export const IDENTITY_ENDPOINT_PATH = "/msi/token";
const IMDS_PATH = "/metadata/identity/oauth2/token";
const IDENTITY_PARAMETERS = ["client_id", "principal_id", "object_id", "msi_res_id", "mi_res_id"];

export function answerManagedIdentity(
  request: HttpRequest,
  account: Account,
  authority: TokenAuthority,
): HttpReply | undefined {
  const path = request.path.toLowerCase().replace(/\/$/, "");
  if (path !== IDENTITY_ENDPOINT_PATH && path !== IMDS_PATH) return undefined;
  if (request.method !== "GET") return jsonReply(405, { error: "invalid_request", error_description: "Use GET." });
  if (path === IMDS_PATH && request.headers["metadata"]?.toLowerCase() !== "true") {
    return jsonReply(400, {
      error: "invalid_request",
      error_description: "Required metadata header not specified",
    });
  }
  if (path === IDENTITY_ENDPOINT_PATH && request.headers["x-identity-header"] !== account.identityHeader) {
    return jsonReply(401, { statusCode: 401, message: "X-IDENTITY-HEADER is missing or wrong." });
  }
  const resource = request.query["resource"];
  if (resource === undefined) {
    return jsonReply(400, {
      error: "invalid_resource",
      error_description: "AADSTS500011: The query must name a 'resource'.",
    });
  }
  return token(request, resource, account, authority);
}

function token(request: HttpRequest, resource: string, account: Account, authority: TokenAuthority): HttpReply {
  const named = IDENTITY_PARAMETERS.map((parameter) => request.query[parameter]).find((value) => value !== undefined);
  const clientId = named ?? account.managedIdentityClientId;
  const issued = authority.issue(clientId, resource);
  return jsonReply(200, {
    access_token: issued.token,
    client_id: clientId,
    expires_in: String(issued.lifetimeSeconds),
    expires_on: String(issued.expiresAtSeconds),
    resource,
    token_type: "Bearer",
  });
}
