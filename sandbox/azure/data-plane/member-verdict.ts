/** Whether a flow gets through to a member: the security groups at its place, and what holds where there are none. */
import type { State } from "../model/index.ts";
import type { Flow, Frontend, Member, Probe } from "./forwarding.ts";
import { inboundVerdict, PROBE_SOURCE, type Verdict } from "./nsg-verdict.ts";
import { groupsAt, networkAt } from "./places.ts";

/** A public Standard load balancer is closed until a security group opens it; the others are open. */
export function flowVerdict(state: State, { place }: Member, flow: Flow, { rule }: Frontend): Verdict {
  const groups = groupsAt(state, place);
  if (groups.length === 0) return { allowed: rule.sku === "Basic" || rule.isInternal, rule: "" };
  return inboundVerdict(groups, flow, networkAt(state, place));
}

/** Probes come from Azure itself: without a security group they always get through. */
export function probeVerdict(state: State, { place, ip }: Member, probe: Probe): Verdict {
  const flow: Flow = {
    transport: "Tcp",
    sourceAddress: PROBE_SOURCE,
    sourcePort: 0,
    destinationAddress: ip,
    destinationPort: probe.port,
  };
  return inboundVerdict(groupsAt(state, place), flow, networkAt(state, place));
}
