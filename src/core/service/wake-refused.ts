/**
 * What makes a Service that cannot be served worth another look before its next one is due. The rule: what would make it
 * valid wakes it, where the controller can see that; what only Azure knows is read again within `DELAY.refusedMs`.
 *
 *   it is refused, or fails, because of           | woken by
 *   ----------------------------------------------|---------------------------------------------------------------------
 *   its own spec or annotations                   | its own change
 *   what another Service has: an address, a port, | a Service that changed, was written to Azure, or went
 *   a DNS label, a private link service, room on  |
 *   a load balancer or in the security group      |
 *   a quota, or something that is still in use    | a Service that went; else the retry of its failure
 *   the labels of its namespace                   | a change of these
 *   a VM set or address of nodes                  | a change of a node, once the pools are right
 *   the brake                                     | its release
 *   what users make in Azure: subnets, public IPs,| nothing: read again within `DELAY.refusedMs`
 *   resource groups, the security group           |
 *
 * Here stand the rows about other Services; the others are carried out where the change is seen
 * (`controller/service/service-controller.ts`, `controller/controller.ts`).
 */
import type { Service } from "../model/kubernetes.ts";
import type { Rejection } from "../outcome.ts";
import { APPLIED_ANNOTATION } from "./applied-state.ts";

const WAIT_FOR_SERVICES: ReadonlySet<Rejection["reason"]> = new Set([
  "AddressTaken",
  "DNSLabelConflict",
  "FrontendShared",
  "LoadBalancerFull",
  "NoLoadBalancer",
  "PortConflict",
  "PrivateLinkServiceTaken",
  "SecurityGroupFull",
  "TooManyRules",
  "TooManyServices",
]);

/** Whether another Service may be what stands in the way of a refused one. */
export function waitsForServices(reason: Rejection["reason"]): boolean {
  return WAIT_FOR_SERVICES.has(reason);
}

/** Whether one whose write failed in this way (`retry.ts`) may succeed once another Service has gone. */
export function waitsForRelease(kind: string): boolean {
  return kind === "quota" || kind === "inUse";
}

/** The part of a Service that decides what others may have. Its status follows with what is written for it. */
export function askedOf({ metadata, spec }: Service): unknown {
  const { [APPLIED_ANNOTATION]: _, ...annotations } = metadata.annotations ?? {};
  return [metadata.uid, metadata.deletionTimestamp, annotations, spec];
}
