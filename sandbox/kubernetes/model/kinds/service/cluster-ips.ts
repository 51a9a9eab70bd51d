/** Allocates families and cluster IPs: checks the requested ones, draws the others from the cluster's ranges. */
import { contains, formatBlock, parseAddress } from "../../../../shared/cidr.ts";
import type { KubeObject } from "../../contract.ts";
import type { Allocated, DecisionContext } from "../../resource.ts";
import { familyOf, freeAddress, type IpFamily } from "../../service-ranges.ts";
import { type Cause, invalidValue } from "../../status-error.ts";
import { isHeadless, needsClusterIP, type ServiceSpec, specOf, withSpec } from "./spec.ts";

const SINGLE = "SingleStack";
const REQUIRE_DUAL = "RequireDualStack";

export function allocateFamilies(service: KubeObject, { ranges }: DecisionContext): Allocated {
  const spec = specOf(service);
  if (!needsClusterIP(spec)) return { object: service, causes: [] };
  const asked = spec.ipFamilies ?? (spec.clusterIPs ?? []).map(familyOf).filter((family) => family !== undefined);
  // The author of such a Service manages its endpoints, and may use both families on any cluster.
  const unbound = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  const policy = spec.ipFamilyPolicy ?? (unbound || asked.length > 1 ? REQUIRE_DUAL : SINGLE);
  const first = asked[0] ?? ranges.families[0] ?? "IPv4";
  const both = policy !== SINGLE && (ranges.families.length > 1 || unbound);
  const ipFamilies: IpFamily[] = both ? [first, first === "IPv4" ? "IPv6" : "IPv4"] : [first];
  return {
    object: withSpec(service, { ipFamilyPolicy: policy, ipFamilies }),
    causes: unbound ? [] : familyProblems(asked, policy, ranges.families),
  };
}

function familyProblems(asked: readonly IpFamily[], policy: string, available: readonly IpFamily[]): Cause[] {
  const causes: Cause[] = [];
  const missing = asked.findIndex((family) => !available.includes(family));
  if (missing >= 0) {
    causes.push(invalidValue(`spec.ipFamilies[${missing}]`, asked[missing], "not configured on this cluster"));
  }
  if (policy === REQUIRE_DUAL && available.length < 2) {
    causes.push(invalidValue("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services"));
  }
  if (policy === SINGLE && asked.length > 1) {
    const why = "may not be SingleStack when multiple ipFamilies are specified";
    causes.push(invalidValue("spec.ipFamilyPolicy", policy, why));
  }
  return causes;
}

export function allocateClusterIPs(service: KubeObject, context: DecisionContext): Allocated {
  const spec = specOf(service);
  if (!needsClusterIP(spec)) return { object: service, causes: [] };
  if (isHeadless(spec)) return { object: withSpec(service, { clusterIPs: ["None"] }), causes: [] };
  const asked = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP]);
  const causes: Cause[] = [];
  const clusterIPs = (spec.ipFamilies ?? []).flatMap((family, index) => {
    const given = asked[index];
    if (given !== undefined) causes.push(...addressProblems(service, given, family, context));
    const ip = given ?? drawn(family, context);
    if (ip === undefined) causes.push(invalidValue("spec.clusterIPs", [], "failed to allocate IP: range is full"));
    return ip === undefined ? [] : [ip];
  });
  return { object: withSpec(service, { clusterIP: clusterIPs[0], clusterIPs }), causes };
}

function drawn(family: IpFamily, { ranges, state, draws }: DecisionContext): ServiceSpec["clusterIP"] {
  return freeAddress(ranges, family, (ip) => state.indexes.clusterIPs.has(ip), draws);
}

function addressProblems(
  service: KubeObject,
  ip: string,
  family: IpFamily,
  { ranges, state }: DecisionContext,
): Cause[] {
  const range = ranges.cidrs[family];
  const refused = (why: string): Cause[] => [
    invalidValue("spec.clusterIPs", [ip], `failed to allocate IP ${ip}: ${why}`),
  ];
  const address = parseAddress(ip);
  if (range === undefined || address === undefined || !contains(range, address)) {
    const valid = range && formatBlock(range);
    return refused(`the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${valid}`);
  }
  const holder = state.indexes.clusterIPs.get(ip);
  return holder === undefined || holder === service.metadata.uid ? [] : refused("provided IP is already allocated");
}
