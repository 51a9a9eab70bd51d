/** The headers that every answer of Resource Manager carries, and the shape of the front door's own errors. */
import type { HttpReply } from "./http-message.ts";

export interface ReplyIds {
  /** One draw per answer. */
  readonly guid: string;
  readonly nowMs: number;
  /** What the client sent as `x-ms-correlation-request-id`, if anything. */
  readonly correlationId: string | undefined;
}

const ROUTING_REGION = "WESTUS2";

export function armHeaders(ids: ReplyIds): Record<string, string> {
  const stamp = `${new Date(ids.nowMs).toISOString().replace(/[-:]/g, "").slice(0, 15)}Z`;
  return {
    "cache-control": "no-cache",
    pragma: "no-cache",
    expires: "-1",
    "strict-transport-security": "max-age=31536000; includeSubDomains",
    "x-content-type-options": "nosniff",
    date: new Date(ids.nowMs).toUTCString(),
    "x-ms-request-id": ids.guid,
    "x-ms-correlation-request-id": ids.correlationId ?? ids.guid,
    "x-ms-routing-request-id": `${ROUTING_REGION}:${stamp}:${ids.guid}`,
  };
}

/** An error of the front door: marked as such, and without the provider's headers. */
export function gatewayError(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return { status, headers: { "x-ms-failure-cause": "gateway", ...headers }, body: { error: { code, message } } };
}
