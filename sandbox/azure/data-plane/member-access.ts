/** Decides whether a flow may reach a member: its security groups, and the default where it has none. */
import type { State } from "../model/index.ts";
import type { Flow, Frontend, Member, Probe } from "./forwarding.ts";
import { evaluateInbound, PROBE_SOURCE, type Access } from "./security-rules.ts";
import { securityRulesOf, addressSpaceOf } from "./member-attachment.ts";

/** Without a security group a public Standard load balancer denies all flows; other load balancers allow them. */
export function flowAccess(state: State, { attachment }: Member, flow: Flow, { rule }: Frontend): Access {
  const groups = securityRulesOf(state, attachment);
  if (groups.length === 0) return { allowed: rule.sku === "Basic" || rule.isInternal, rule: "" };
  return evaluateInbound(groups, flow, addressSpaceOf(state, attachment));
}

/** Probes originate in Azure: without a security group they are always allowed. */
export function probeAccess(state: State, { attachment, ip }: Member, probe: Probe): Access {
  const flow: Flow = {
    transport: "Tcp",
    sourceAddress: PROBE_SOURCE,
    sourcePort: 0,
    destinationAddress: ip,
    destinationPort: probe.port,
  };
  return evaluateInbound(securityRulesOf(state, attachment), flow, addressSpaceOf(state, attachment));
}
