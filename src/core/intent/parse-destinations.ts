/**
 * Where packets of a Service arrive at the nodes themselves, security rules name every node's address; ranges that the
 * user names stand for them instead, so that the rules do not grow with the cluster. Each family by itself: one without a
 * range has the nodes' addresses. What is no range refuses the Service, since another list would open other machines.
 */
import type { Family } from "../model/arm.ts";
import { aggregate, type Cidr, formatCidr, parseCidr } from "../util/cidr.ts";
import { type AnnotationReader, MOST_ITEMS } from "./annotation-reader.ts";
import { ACCESS } from "./annotations/access.ts";
import { RULES } from "./annotations/rules.ts";
import type { AccessIntent, ServiceIntent } from "./service-intent.ts";

const NONE: AccessIntent["destinations"] = { IPv4: [], IPv6: [] };
const KEY = ACCESS.destinationRanges;

/**
 * Without a floating IP a packet arrives at the node's own address, and that is what the security group sees. Internal
 * IPv6 never has one; the rule for all ports has one whatever the annotation says.
 */
export function landsOnNodes(
  intent: Pick<ServiceIntent, "scope" | "floatingIP" | "highAvailabilityPorts">,
  family: Family,
): boolean {
  if (intent.scope === "internal" && family === "IPv6") return true;
  return !intent.floatingIP && !intent.highAvailabilityPorts;
}

export function parseDestinations(
  intent: Pick<ServiceIntent, "scope" | "families" | "floatingIP" | "highAvailabilityPorts">,
  read: AnnotationReader,
): AccessIntent["destinations"] {
  const items = read.get(KEY)?.filter((item) => item.trim() !== "");
  if (items === undefined) return NONE;
  if (items.length > MOST_ITEMS) {
    read.reject("InvalidAnnotation", `${KEY.key} has ${items.length} ranges, more than ${MOST_ITEMS}: name fewer`);
    return NONE;
  }
  const ranges = items.flatMap((item) => rangeOf(item.trim(), read));
  const lands = intent.families.filter((family) => landsOnNodes(intent, family));
  const of = (family: Family): readonly string[] =>
    lands.includes(family) ? aggregate(ranges.filter((range) => range.family === family)).map(formatCidr) : [];
  const found = { IPv4: of("IPv4"), IPv6: of("IPv6") };
  if (found.IPv4.length + found.IPv6.length === 0) {
    const why =
      lands.length === 0
        ? `its packets keep their frontend's address; only with ${RULES.disableFloatingIP.key}, or over internal IPv6, do they arrive at nodes`
        : `it names no range of ${lands.join(" or ")}`;
    read.warnOfNoEffect(KEY, why);
  }
  return found;
}

function rangeOf(text: string, read: AnnotationReader): Cidr[] {
  const parsed = parseCidr(text);
  if ("problem" in parsed) {
    read.reject("InvalidAnnotation", `${KEY.key}: "${text}" ${parsed.problem}`);
    return [];
  }
  if (parsed.length === 0) {
    read.reject("InvalidAnnotation", `${KEY.key}: "${text}" is every address: name the subnets of the nodes`);
    return [];
  }
  return [parsed];
}
