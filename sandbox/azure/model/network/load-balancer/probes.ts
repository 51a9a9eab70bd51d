/** Health probes: validation and defaults. */
import { invalid } from "../../errors.ts";
import { numberOf, stringOf, type Json } from "../../json.ts";
import { childId } from "../../lookups.ts";
import { storedChild, writtenProperties } from "../fields.ts";
import type { Draft } from "./draft.ts";

const READ_ONLY = new Set(["loadBalancingRules"]);
const PROTOCOLS = new Set(["Tcp", "Http", "Https"]);
/** Ports that HTTP probes refuse [documented]. */
const HTTP_REFUSED = new Set([19, 21, 25, 70, 110, 119, 143, 220, 993]);
const LONGEST_SECONDS = 120;

export function probeForm(draft: Draft, item: Json): Json {
  const name = stringOf(item["name"]) ?? "";
  const id = childId(draft.input.id, "probes", name);
  const properties = writtenProperties(item, READ_ONLY);
  properties["intervalInSeconds"] ??= 15;
  properties["probeThreshold"] ??= 1;
  const fault = faultOf(properties, draft.sku);
  if (fault !== undefined) throw invalid("InvalidProbe", `Probe ${id} is invalid: ${fault}`);
  return storedChild(name, item, properties);
}

function faultOf(properties: Json, sku: string): string | undefined {
  const protocol = String(properties["protocol"]);
  const port = numberOf(properties["port"]) ?? 0;
  const interval = numberOf(properties["intervalInSeconds"]) ?? 0;
  const count = numberOf(properties["numberOfProbes"]) ?? 1;
  const http = protocol !== "Tcp";
  if (!PROTOCOLS.has(protocol)) return `protocol ${protocol} is not one of Tcp, Http, Https.`;
  if (protocol === "Https" && sku === "Basic") return "protocol Https needs a Standard load balancer.";
  if (port < 1 || port > 65_535) return `port ${String(properties["port"])} is not between 1 and 65535.`;
  if (http && HTTP_REFUSED.has(port)) return `port ${port} cannot be probed by ${protocol}.`;
  if (http !== (stringOf(properties["requestPath"]) !== undefined)) {
    return http ? `protocol ${protocol} needs requestPath.` : "protocol Tcp takes no requestPath.";
  }
  if (interval < 5) return `intervalInSeconds ${interval} is below 5.`;
  if (interval * count > LONGEST_SECONDS)
    return `intervalInSeconds ${interval} times numberOfProbes ${count} is above ${LONGEST_SECONDS}.`;
  if ((numberOf(properties["probeThreshold"]) ?? 0) < 1)
    return `probeThreshold ${String(properties["probeThreshold"])} is below 1.`;
  return undefined;
}
