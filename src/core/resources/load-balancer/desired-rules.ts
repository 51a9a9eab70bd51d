/**
 * The rules and probes that one Service asks for in one family, field by field as the incumbent writes them: another
 * value in any of these fields would rewrite every rule of a cluster that is taken over.
 */
import type { Family, LoadBalancingRule, Probe, ProbeProperties } from "../../model/arm.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { loadBalancerPartId } from "../../model/ids.ts";
import type { Protocol } from "../../model/kubernetes.ts";
import { localProbeName, namingOf, ownPoolName, poolName, ruleName, SHARED_PROBE_NAME } from "../../model/names.ts";
import type { PortIntent, ProbeIntent, ServiceIntent } from "../../intent/service-intent.ts";

export interface RuleInput {
  readonly intent: ServiceIntent;
  readonly config: ClusterConfig;
  readonly loadBalancerId: string;
  readonly family: Family;
  /** Name of the frontend that the rules stand on. */
  readonly frontend: string;
}

export interface RulesAndProbes {
  readonly rules: readonly LoadBalancingRule[];
  readonly probes: readonly Probe[];
}

const SHARED_PROBE_INTERVAL_SECONDS = 5;
const SHARED_PROBE_THRESHOLD = 2;
/** Azure has no SCTP: it passes with `All`. */
const ARM_PROTOCOL: Readonly<Record<Protocol, string>> = { TCP: "Tcp", UDP: "Udp", SCTP: "All" };

export function desiredRules(input: RuleInput): RulesAndProbes {
  const pairs = input.intent.highAvailabilityPorts ? [allPortsRule(input)] : onePortRules(input);
  const probes = new Map(pairs.flatMap(({ probe }) => (probe === undefined ? [] : [[probe.name, probe]])));
  return { rules: pairs.map(({ rule }) => rule), probes: [...probes.values()] };
}

interface Pair {
  readonly rule: LoadBalancingRule;
  readonly probe: Probe | undefined;
}

function onePortRules(input: RuleInput): Pair[] {
  const { intent, family } = input;
  const floating = intent.floatingIP && !isInternalIPv6(intent, family);
  return intent.ports
    .filter(({ rule }) => rule)
    .map((port) => {
      const name = ruleName(namingOf(intent), port.protocol, port.port, family);
      const probe = probeOf(input, port, name);
      const rule = ruleOf(input, name, probe, {
        protocol: ARM_PROTOCOL[port.protocol],
        frontendPort: port.port,
        backendPort: floating ? port.port : port.nodePort,
        enableFloatingIP: floating,
        ...(port.protocol === "TCP" && input.config.sku === "standard" && { enableTcpReset: intent.tcpReset }),
      });
      return { rule, probe };
    });
}

/** One rule for everything, named as the first port's; watched by the first probe that any port has. */
function allPortsRule(input: RuleInput): Pair {
  const { intent, family } = input;
  const [first] = intent.ports;
  const name = ruleName(namingOf(intent), first?.protocol ?? "TCP", first?.port ?? 0, family);
  const probed = intent.ports.find(({ probe }) => probe.kind !== "none");
  const probe = probed && probeOf(input, probed, name);
  const rule = ruleOf(input, name, probe, {
    protocol: "All",
    frontendPort: 0,
    backendPort: 0,
    enableFloatingIP: !isInternalIPv6(intent, family),
    enableTcpReset: intent.tcpReset,
  });
  return { rule, probe };
}

/** The pool that the rules of a Service send to. */
export function poolOf({ owner, hasOwnPool }: ServiceIntent, { clusterName }: ClusterConfig, family: Family): string {
  return hasOwnPool ? ownPoolName(owner.key, family) : poolName(clusterName, family);
}

/** Azure has no floating IP for IPv6 behind an internal frontend. */
function isInternalIPv6(intent: ServiceIntent, family: Family): boolean {
  return intent.scope === "internal" && family === "IPv6";
}

function ruleOf(
  { intent, config, loadBalancerId, family, frontend }: RuleInput,
  name: string,
  probe: Probe | undefined,
  properties: LoadBalancingRule["properties"],
): LoadBalancingRule {
  const pool = poolOf(intent, config, family);
  return {
    name,
    properties: {
      ...properties,
      frontendIPConfiguration: { id: loadBalancerPartId(loadBalancerId, "frontendIPConfigurations", frontend) },
      backendAddressPool: { id: loadBalancerPartId(loadBalancerId, "backendAddressPools", pool) },
      ...(probe && { probe: { id: loadBalancerPartId(loadBalancerId, "probes", probe.name) } }),
      loadDistribution: intent.distribution,
      idleTimeoutInMinutes: intent.idleTimeoutMinutes,
      disableOutboundSnat: config.sku === "standard" && config.disableOutboundSnat,
    },
  };
}

function probeOf({ intent, config, family }: RuleInput, { probe }: PortIntent, ownName: string): Probe | undefined {
  switch (probe.kind) {
    case "none":
      return undefined;
    case "shared":
      return config.sharedProbe && sharedProbe(config.sharedProbe);
    case "local":
      return {
        name: localProbeName(namingOf(intent), probe.probe.port, family),
        properties: probeProperties(probe.probe),
      };
    case "own":
      return { name: ownName, properties: probeProperties(probe.probe) };
  }
}

function sharedProbe({ port, path }: NonNullable<ClusterConfig["sharedProbe"]>): Probe {
  const properties = probeProperties({
    protocol: "Http",
    port,
    path,
    intervalSeconds: SHARED_PROBE_INTERVAL_SECONDS,
    threshold: SHARED_PROBE_THRESHOLD,
  });
  return { name: SHARED_PROBE_NAME, properties };
}

function probeProperties(intent: ProbeIntent): ProbeProperties {
  const { protocol, port, path, intervalSeconds, threshold, noHealthyBackends } = intent;
  return {
    protocol,
    port,
    ...(path !== undefined && { requestPath: path }),
    intervalInSeconds: intervalSeconds,
    probeThreshold: threshold,
    ...(noHealthyBackends !== undefined && { noHealthyBackendsBehavior: noHealthyBackends }),
  };
}
