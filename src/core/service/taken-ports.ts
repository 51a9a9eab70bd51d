/**
 * Which ports of a shared address another Service has. The load balancer's merge refuses a port that has a rule there;
 * here stand the ports that it cannot see: one that a Service opens in the security group without a rule
 * (`port_N_no_lb_rule`), and one whose rule was removed by hand. To open such a port for one Service would open it for
 * the other, whatever sources that one allows.
 *
 *   the other Service is served at the address, asks for the port, and | this Service is
 *   --------------------------------------------------------------------|----------------
 *   has a rule for it                                                   | refused
 *   has none, and this Service is not served at the address yet         | refused
 *   has none, both are served there, and the other is older             | refused
 */
import { ageOf, serviceKey, type Service } from "../model/kubernetes.ts";
import { canonicalAddress } from "../util/cidr.ts";
import { baseName } from "../model/names.ts";
import { parseService } from "../intent/parse-service.ts";
import type { PortIntent, ServiceIntent } from "../intent/service-intent.ts";
import type { Rejection } from "../outcome.ts";
import { partsOf, loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { sharersOf } from "../resources/security-group/shared-addresses.ts";
import type { Placement } from "../resources/load-balancer/get-service-load-balancer.ts";
import type { Observed } from "../observed.ts";

export interface PortsInput {
  readonly observed: Observed;
  readonly intent: ServiceIntent;
  readonly placement: Placement;
  /** Where the Service is, or is going to be. */
  readonly addresses: readonly string[];
}

export function refuseTakenPorts(input: PortsInput): Rejection | undefined {
  const { observed, intent } = input;
  const open = intent.ports.filter((port) => !hasRule(input, intent.owner.base, port));
  if (open.length === 0) return undefined;
  const addresses = new Set(input.addresses.map(canonicalAddress));
  for (const other of sharersOf(observed, intent.owner.uid, addresses)) {
    const theirs = [...addresses].find((address) => isServedAt(other, address));
    if (theirs === undefined) continue;
    const parsed = parseService(other, observed.config);
    const ports = "intent" in parsed ? parsed.intent.ports : [];
    const taken = open.find((port) => ports.some((one) => isSame(one, port) && isFirst(input, other, one, theirs)));
    if (taken !== undefined) return rejectionOf(taken, other);
  }
  return undefined;
}

function isFirst(input: PortsInput, other: Service, port: PortIntent, address: string): boolean {
  const { service } = input.observed;
  if (hasRule(input, baseName(other.metadata.uid), port) || !isServedAt(service, address)) return true;
  return ageOf(other) < ageOf(service);
}

function isServedAt({ status }: Service, address: string): boolean {
  return (status.loadBalancer.ingress ?? []).some(({ ip }) => ip !== undefined && canonicalAddress(ip) === address);
}

function hasRule({ placement }: PortsInput, base: string, port: PortIntent): boolean {
  if (placement.seen === undefined) return false;
  return partsOf(loadBalancerIndex(placement.seen), base).rules.some(({ properties }) => {
    const isOfProtocol = [port.protocol.toLowerCase(), "all"].includes(properties.protocol.toLowerCase());
    return isOfProtocol && [port.port, 0].includes(properties.frontendPort);
  });
}

function isSame(one: PortIntent, other: PortIntent): boolean {
  return one.port === other.port && one.protocol === other.protocol;
}

function rejectionOf({ protocol, port }: PortIntent, other: Service): Rejection {
  const message =
    `${protocol} port ${port} is taken on the address that it shares by Service ${serviceKey(other)}: ` +
    "use another port in spec.ports, or another address";
  return { kind: "rejection", reason: "PortConflict", message };
}
