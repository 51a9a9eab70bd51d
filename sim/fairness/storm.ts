/**
 * Azure as one namespace's Services meet it that never settle, while Azure throttles: writes of the namespace's resources
 * fail, and every caller shares a small bucket of reads and one of writes, as Azure's are shared. What that costs another
 * namespace is `measure-fairness.ts`.
 */
import type { ArmRequest, ArmResponse, ArmTransport } from "../../src/azure/arm/transport.ts";
import type { Simulation } from "../environment/simulation.ts";

/**
 *   storm              | what Azure refuses of the namespace's Services
 *   -------------------|---------------------------------------------------------------------------------------------
 *   public-ips         | the public IP of each, for a reason that passes: it is retried
 *   load-balancer      | every load balancer with a part of theirs, without saying whose part is at fault
 *   load-balancer-busy | the same, for a reason that passes
 */
export const STORMS = ["public-ips", "load-balancer", "load-balancer-busy"] as const;
export type Storm = (typeof STORMS)[number];

interface Bucket {
  readonly size: number;
  readonly perSecond: number;
}

const BUCKETS = {
  reads: { size: 40, perSecond: 4 },
  changes: { size: 10, perSecond: 1 },
} as const satisfies Readonly<Record<string, Bucket>>;

/** `isOf`: is a name, as in the body or the id of a request, that of a resource of the namespace? */
export function throughStorm(
  transport: ArmTransport,
  { timeline }: Simulation,
  storm: Storm | undefined,
  isOf: (name: string) => boolean,
): ArmTransport {
  const reads = meter(BUCKETS.reads, () => timeline.elapsedMs);
  const changes = meter(BUCKETS.changes, () => timeline.elapsedMs);
  return {
    send: async (request) => {
      const kind = request.method === "GET" ? reads : changes;
      const left = kind();
      if (left === undefined) return refusal(429, "SubscriptionRequestsThrottled", { "retry-after": "5" });
      const answer = refused(request, storm, isOf) ?? (await transport.send(request));
      const name = request.method === "GET" ? "reads" : request.method === "DELETE" ? "deletes" : "writes";
      return {
        ...answer,
        headers: { ...answer.headers, [`x-ms-ratelimit-remaining-subscription-${name}`]: `${left}` },
      };
    },
    close: () => transport.close(),
  };
}

/** What is left after a call; `undefined`: it is refused. */
function meter({ size, perSecond }: Bucket, nowMs: () => number): () => number | undefined {
  let tokens = size;
  let filledAtMs = 0;
  return () => {
    tokens = Math.min(size, tokens + ((nowMs() - filledAtMs) / 1000) * perSecond);
    filledAtMs = nowMs();
    if (tokens < 1) return undefined;
    tokens -= 1;
    return Math.floor(tokens);
  };
}

function refused(
  { method, url, body = "" }: ArmRequest,
  storm: Storm | undefined,
  isOf: (name: string) => boolean,
): ArmResponse | undefined {
  if (method !== "PUT" || storm === undefined) return undefined;
  if (storm === "public-ips")
    return /\/publicIPAddresses\//i.test(url) && isOf(url) ? refusal(500, "InternalServerError") : undefined;
  if (!/\/loadBalancers\/[^/]+\?/i.test(url) || !isOf(body)) return undefined;
  return storm === "load-balancer" ? refusal(400, "InvalidResource") : refusal(409, "ReferencedResourceNotProvisioned");
}

function refusal(status: number, code: string, headers: Readonly<Record<string, string>> = {}): ArmResponse {
  return { status, headers, body: JSON.stringify({ error: { code, message: "refused" } }) };
}
