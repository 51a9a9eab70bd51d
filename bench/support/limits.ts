/**
 * Azure's limits end at some hundreds of Services per load balancer. A benchmark beyond them raises them in the emulator and
 * reports that.
 */

export interface RaisedLimits {
  readonly flags: readonly string[];
  readonly notes: readonly string[];
}

/** A Service has a frontend, a rule on every node, and a public IP: so many fit into the limits. */
const WITHIN_LIMITS = 500;

export function limitsFor(services: number): RaisedLimits {
  if (services <= WITHIN_LIMITS) return { flags: [], notes: [] };
  const raised = [
    "frontendsPerLoadBalancer",
    "rulesPerLoadBalancer",
    "rulesPerNic",
    "backendIpConfigurationsPerFrontend",
    "backendIpConfigurationsPerLoadBalancer",
    "addressesOrPortsPerSecurityGroup",
    "publicIps",
    "staticPublicIps",
    "standardPublicIps",
  ];
  return {
    flags: ["--limits", raised.map((name) => `${name}=100000000`).join(","), "--max-body-bytes", "100000000"],
    notes: [`beyond Azure's limits, raised in the emulator: ${raised.join(", ")}`],
  };
}
