/** Gives a valid Service its families, cluster IPs, node ports and health-check port. */
import { contains, familyOf } from "../../cidr.ts";
import type { KubeObject } from "../../contract.ts";
import type { Deciding } from "../../resource.ts";
import { FIRST_NODE_PORT, freeAddress, freeNodePort, type IpFamily, LAST_NODE_PORT } from "../../service-ranges.ts";
import { type Cause, invalidValue, required } from "../../status-error.ts";
import {
  isHeadless,
  needsClusterIP,
  needsHealthPort,
  type ServicePort,
  specOf,
  wantsNodePorts,
  withSpec,
} from "./spec.ts";

interface Allocated {
  readonly object: KubeObject;
  readonly causes: Cause[];
}

export function allocateService(service: KubeObject, _old: KubeObject | undefined, deciding: Deciding): Allocated {
  const steps = [allocateFamilies, allocateClusterIPs, allocateNodePorts, allocateHealthPort];
  let object = service;
  for (const step of steps) {
    const allocated = step(object, deciding);
    if (allocated.causes.length > 0) return allocated;
    object = allocated.object;
  }
  return { object, causes: [] };
}

const SINGLE = "SingleStack";
const REQUIRE_DUAL = "RequireDualStack";

function allocateFamilies(service: KubeObject, { ranges }: Deciding): Allocated {
  const spec = specOf(service);
  if (!needsClusterIP(spec)) return { object: service, causes: [] };
  const fromIPs = (spec.clusterIPs ?? []).map(familyOf).filter((family) => family !== undefined);
  const selectorless = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  const asked = spec.ipFamilies ?? fromIPs;
  const dual = asked.length > 1;
  const policy = spec.ipFamilyPolicy ?? (selectorless || dual ? REQUIRE_DUAL : SINGLE);
  const first = asked[0] ?? ranges.families[0] ?? "IPv4";
  const causes: Cause[] = [];
  const unavailable = asked.findIndex((family) => !ranges.families.includes(family));
  if (unavailable >= 0 && !selectorless) {
    const why = "not configured on this cluster";
    causes.push(invalidValue(`spec.ipFamilies[${unavailable}]`, asked[unavailable], why));
  }
  if (policy === REQUIRE_DUAL && ranges.families.length < 2 && !selectorless) {
    causes.push(invalidValue("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services"));
  }
  if (policy === SINGLE && dual && spec.ipFamilyPolicy !== undefined) {
    causes.push(
      invalidValue("spec.ipFamilyPolicy", policy, "may not be SingleStack when multiple ipFamilies are specified"),
    );
  }
  const wantsBoth = policy !== SINGLE && (ranges.families.length > 1 || selectorless);
  const families: IpFamily[] = wantsBoth ? [first, first === "IPv4" ? "IPv6" : "IPv4"] : [first];
  return { object: withSpec(service, { ipFamilyPolicy: policy, ipFamilies: families }), causes };
}

function allocateClusterIPs(service: KubeObject, deciding: Deciding): Allocated {
  const spec = specOf(service);
  if (!needsClusterIP(spec)) return { object: service, causes: [] };
  if (isHeadless(spec)) return { object: withSpec(service, { clusterIPs: ["None"] }), causes: [] };
  const { ranges, state, draws } = deciding;
  const uid = service.metadata.uid ?? "";
  const asked = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP]);
  const causes: Cause[] = [];
  const addresses: string[] = [];
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    const given = asked[index];
    if (given === undefined) {
      const free = freeAddress(
        ranges,
        family,
        (ip) => state.indexes.clusterIPs.has(ip) || addresses.includes(ip),
        draws,
      );
      if (free === undefined) causes.push(invalidValue("spec.clusterIPs", [], `failed to allocate IP: range is full`));
      else addresses.push(free);
      continue;
    }
    const range = ranges.cidrs[family];
    const holder = state.indexes.clusterIPs.get(given);
    if (range === undefined || !contains(range, given)) {
      const why = `failed to allocate IP ${given}: the provided IP (${given}) is not in the valid range. The range of valid IPs is ${range?.text}`;
      causes.push(invalidValue("spec.clusterIPs", asked, why));
    } else if (holder !== undefined && holder !== uid) {
      causes.push(
        invalidValue("spec.clusterIPs", asked, `failed to allocate IP ${given}: provided IP is already allocated`),
      );
    }
    addresses.push(given);
  }
  return { object: withSpec(service, { clusterIP: addresses[0], clusterIPs: addresses }), causes };
}

function allocateNodePorts(service: KubeObject, deciding: Deciding): Allocated {
  const spec = specOf(service);
  const uid = service.metadata.uid ?? "";
  const causes: Cause[] = [];
  const mine = new Map<string, number>();
  const takenBy = (port: number, protocol = "TCP"): boolean => {
    const holder = deciding.state.indexes.nodePorts.get(`${port}/${protocol}`);
    return (holder !== undefined && holder !== uid) || mine.has(`${port}/${protocol}`);
  };
  const given = spec.ports?.map((port) => port.nodePort);
  spec.ports?.forEach((port, index) => {
    if (port.nodePort === undefined) return;
    const field = `spec.ports[${index}].nodePort`;
    causes.push(...nodePortProblems(field, port.nodePort, takenBy(port.nodePort, port.protocol)));
    mine.set(`${port.nodePort}/${port.protocol}`, port.port ?? 0);
  });
  if (causes.length > 0 || !wantsNodePorts(spec)) return { object: service, causes };
  const ports = spec.ports?.map((port): ServicePort => {
    if (port.nodePort !== undefined) return port;
    // One port in two protocols shares its node port where it can.
    const shared = sharedNodePort(spec.ports ?? [], port, given ?? []);
    const free =
      shared !== undefined && !takenBy(shared, port.protocol)
        ? shared
        : freeNodePort((candidate) => takenBy(candidate, port.protocol) || takenBy(candidate), deciding.draws);
    if (free === undefined) {
      causes.push(required("spec.ports", "no free node port is left"));
      return port;
    }
    mine.set(`${free}/${port.protocol}`, port.port ?? 0);
    if (given !== undefined) given[spec.ports?.indexOf(port) ?? 0] = free;
    return { ...port, nodePort: free };
  });
  return { object: withSpec(service, { ports }), causes };
}

function sharedNodePort(
  ports: readonly ServicePort[],
  port: ServicePort,
  given: readonly (number | undefined)[],
): number | undefined {
  const twin = ports.findIndex((other, index) => other.port === port.port && given[index] !== undefined);
  return twin < 0 ? undefined : given[twin];
}

function nodePortProblems(field: string, port: number, taken: boolean): Cause[] {
  if (port < FIRST_NODE_PORT || port > LAST_NODE_PORT) {
    const range = `${FIRST_NODE_PORT}-${LAST_NODE_PORT}`;
    return [invalidValue(field, port, `provided port is not in the valid range. The range of valid ports is ${range}`)];
  }
  return taken ? [invalidValue(field, port, "provided port is already allocated")] : [];
}

function allocateHealthPort(service: KubeObject, { state, draws }: Deciding): Allocated {
  const spec = specOf(service);
  if (!needsHealthPort(spec)) return { object: service, causes: [] };
  const uid = service.metadata.uid ?? "";
  const own = new Set(spec.ports?.map((port) => port.nodePort));
  const taken = (port: number): boolean => {
    const holder = state.indexes.nodePorts.get(`${port}/TCP`);
    return (holder !== undefined && holder !== uid) || own.has(port);
  };
  const given = spec.healthCheckNodePort;
  if (given !== undefined) {
    return { object: service, causes: nodePortProblems("spec.healthCheckNodePort", given, taken(given)) };
  }
  const free = freeNodePort((port) => taken(port) || state.indexes.nodePorts.has(`${port}/TCP`), draws);
  const causes = free === undefined ? [required("spec.healthCheckNodePort", "no free node port is left")] : [];
  return { object: withSpec(service, { healthCheckNodePort: free }), causes };
}
