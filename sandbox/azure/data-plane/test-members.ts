/** Rules, members and flows for tests of the data plane, with complete defaults. */
import type { AdminState, Flow, ForwardingRule, Frontend, Member, Probe } from "./forwarding.ts";
import { frontendKey } from "./forwarding.ts";

export function member(ip: string, adminState: AdminState = "None"): Member {
  return {
    pool: "pool",
    name: `entry-${ip}`,
    ip,
    node: `node-${ip}`,
    adminState,
    attachment: { nic: undefined, subnet: undefined },
  };
}

export const PROBE: Probe = {
  id: "probe",
  protocol: "Tcp",
  port: 30_080,
  path: "/",
  intervalMs: 5_000,
  threshold: 2,
  allDownMeansUp: false,
};

export function rule(more: Partial<ForwardingRule> = {}): ForwardingRule {
  return {
    id: "lb/loadBalancingRules/web",
    loadBalancer: "lb",
    sku: "Standard",
    isInternal: false,
    address: "20.0.0.7",
    protocol: "Tcp",
    frontendPort: 80,
    backendPort: 30_080,
    floatingIp: false,
    distribution: "Default",
    idleTimeoutMs: 240_000,
    tcpReset: false,
    probe: PROBE,
    members: [member("10.240.0.4"), member("10.240.0.5"), member("10.240.0.6")],
    ...more,
  };
}

export function frontend(of: ForwardingRule = rule()): Frontend {
  const transport = of.protocol === "Udp" ? "Udp" : "Tcp";
  const key = frontendKey(of.address, of.frontendPort, transport);
  return { key, transport, port: of.frontendPort, backendPort: of.backendPort, rule: of };
}

export function flow(more: Partial<Flow> = {}): Flow {
  return {
    transport: "Tcp",
    sourceAddress: "203.0.113.1",
    sourcePort: 50_000,
    destinationAddress: "20.0.0.7",
    destinationPort: 80,
    ...more,
  };
}
