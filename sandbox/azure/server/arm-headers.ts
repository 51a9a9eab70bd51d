/** The headers of every Resource Manager answer, and the format of the gateway's errors. */
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

/** Headers that the resource provider adds; the gateway's errors lack them, and the rate headers. */
export function providerHeaders(path: string, guid: string, isRead: boolean): Record<string, string> {
  const [, provider = ""] = /\/providers\/microsoft\.([a-z]+)/i.exec(path) ?? [];
  switch (provider.toLowerCase()) {
    case "network":
      return { "x-ms-arm-service-request-id": guid };
    case "compute":
      return { "x-ms-ratelimit-remaining-resource": isRead ? COMPUTE_READS : COMPUTE_WRITES };
    default:
      return {};
  }
}

/** The values of an idle subscription. */
const COMPUTE_READS = "Microsoft.Compute/LowCostGetSubscriptionMaximum;23999,Microsoft.Compute/LowCostGetResource;35";
const COMPUTE_WRITES = "Microsoft.Compute/UpdateVMSubscriptionMaximum;1499,Microsoft.Compute/UpdateVMResource;11";

export function isGatewayError(reply: HttpReply): boolean {
  return reply.headers["x-ms-failure-cause"] === "gateway";
}

/** An error of the gateway: marked by its header, without the provider's headers. */
export function gatewayError(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return { status, headers: { "x-ms-failure-cause": "gateway", ...headers }, body: { error: { code, message } } };
}
