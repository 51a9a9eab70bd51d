/** Resource Manager without a client library: for what no client would send, and for answers as they are on the wire. */
import type { RunningAzure } from "../../../sandbox/azure/index.ts";

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** `undefined` for an empty body. */
  readonly body: unknown;
}

export interface WireRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string;
}

export interface ArmHttp {
  send(method: string, path: string, request?: WireRequest): Promise<WireAnswer>;
}

/** Sends with a token of its own; `caller` shows in the audit log. The process must trust the emulator's CA. */
export async function armHttp(azure: RunningAzure, caller?: string): Promise<ArmHttp> {
  const token = await managedIdentityToken(azure, caller);
  return {
    send: (method, path, request = {}) =>
      wire(`${azure.armEndpoint}${path}`, method, {
        ...request,
        headers: { authorization: `Bearer ${token}`, ...request.headers },
      }),
  };
}

export async function managedIdentityToken(azure: RunningAzure, caller?: string): Promise<string> {
  const endpoint = azure.env["IDENTITY_ENDPOINT"] ?? "";
  const query = new URLSearchParams({ "api-version": "2019-08-01", resource: "https://management.azure.com/" });
  if (caller !== undefined) query.set("client_id", caller);
  const answer = await wire(`${endpoint}?${query.toString()}`, "GET", {
    headers: { "x-identity-header": azure.env["IDENTITY_HEADER"] ?? "" },
  });
  return (answer.body as { access_token: string }).access_token;
}

export async function wire(url: string, method: string, request: WireRequest = {}): Promise<WireAnswer> {
  const text = request.text ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
  const response = await fetch(url, {
    method,
    headers: { ...(text === undefined ? {} : { "content-type": "application/json" }), ...request.headers },
    ...(text === undefined ? {} : { body: text }),
  });
  const answer = await response.text();
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: answer,
    body: parsed(answer),
  };
}

function parsed(text: string): unknown {
  try {
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}

export function errorCode(answer: WireAnswer): string | undefined {
  return (answer.body as { error?: { code?: string } } | undefined)?.error?.code;
}
