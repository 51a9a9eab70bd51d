/**
 * The checks of the ARM gateway, in its order: transport, token, method, role, throttle. Decides whether a request is
 * admitted and which rate headers the answer carries; the answer itself is left to the pipeline.
 */
import type { Account } from "../identity/account.ts";
import { isRefusal, type Caller, type TokenAuthority } from "../identity/tokens.ts";
import { gatewayError } from "./arm-headers.ts";
import type { HttpReply, HttpRequest } from "./http-message.ts";
import { linkedAccesses } from "./linked-access.ts";
import { FULL_ROLE, accessOf, allows, type Role } from "./role.ts";
import { kindOfMethod, type Throttle } from "./throttle.ts";

export interface Gateway {
  readonly account: Account;
  readonly tokens: TokenAuthority;
  readonly roleOf: (caller: Caller) => Role;
  readonly throttle: Throttle;
  readonly authorityUrl: () => string;
  readonly allowsPlainHttp: boolean;
}

const METHODS = ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"];
const POLL_PATH = /\/operation(?:s|results)\/[^/]+\/?$/i;

/** A poll of an operation is neither counted as a read nor subject to a role. */
export function isPoll(path: string): boolean {
  return POLL_PATH.test(path);
}

export interface Admission {
  readonly refusal?: HttpReply;
  readonly caller?: Caller;
  /** Rate headers for the answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function admit(gateway: Gateway, request: HttpRequest): Admission {
  const { method, path } = request;
  if (!request.secure && !gateway.allowsPlainHttp) {
    return {
      refusal: gatewayError(403, "SslRequired", "SSL is required. Use the https endpoint, or start with --http."),
    };
  }
  const caller = gateway.tokens.verify(request.headers["authorization"]);
  if (isRefusal(caller)) {
    const uri = `${gateway.authorityUrl()}/${gateway.account.tenantId}`;
    const challenge = `Bearer authorization_uri="${uri}", error="invalid_token", error_description="${caller.message}"`;
    return { refusal: gatewayError(401, caller.code, caller.message, { "www-authenticate": challenge }) };
  }
  if (!METHODS.includes(method)) {
    return { refusal: gatewayError(405, "MethodNotAllowed", `The HTTP method '${method}' is not supported.`), caller };
  }
  const refusal = isPoll(path) ? undefined : unauthorized(gateway.roleOf(caller), request, caller);
  return refusal === undefined ? throttled(gateway, request, caller) : { refusal, caller };
}

function unauthorized(role: Role, { method, path, text }: HttpRequest, caller: Caller): HttpReply | undefined {
  if (role === FULL_ROLE) return undefined;
  const client = `The client '${caller.clientId}' with object id '${caller.objectId}'`;
  const { action, scope } = accessOf(method, path);
  if (!allows(role, action)) {
    const message =
      `${client} does not have authorization to perform action '${action}' over scope '${scope}' or the scope is invalid. ` +
      `If access was recently granted, please refresh your credentials.`;
    return gatewayError(403, "AuthorizationFailed", message);
  }
  const missing = linkedAccesses(method, text).find((linked) => !allows(role, linked.action));
  if (missing === undefined) return undefined;
  const message =
    `${client} has permission to perform action '${action}' on scope '${scope}'; however, it does not have permission to ` +
    `perform action '${missing.action}' on the linked scope(s) '${missing.scope}' or the linked scope(s) are invalid.`;
  return gatewayError(403, "LinkedAuthorizationFailed", message);
}

function throttled(gateway: Gateway, { method, path }: HttpRequest, caller: Caller): Admission {
  const subscription = path.split("/")[2] ?? "";
  const decision = gateway.throttle.check({
    principal: caller.clientId,
    subscription: subscription.toLowerCase(),
    kind: kindOfMethod(method),
    networkRegion: /\/providers\/microsoft\.network\//i.test(path) ? gateway.account.location : undefined,
  });
  if (decision.retryAfterSeconds === undefined) return { caller, headers: decision.headers };
  const seconds = String(decision.retryAfterSeconds);
  const message =
    `Number of requests for subscription '${subscription}' and operation '${method}${path.toUpperCase()}' exceeded ` +
    `the backend storage limit. Please try again after '${seconds}' seconds.`;
  const headers = { ...decision.headers, "retry-after": seconds };
  return { caller, refusal: gatewayError(429, "SubscriptionRequestsThrottled", message, headers) };
}
