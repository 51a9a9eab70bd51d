/**
 * Additional addresses appear in a Service's status, and nodes send what is meant for an address in a status to the
 * Service that shows it. So a Service may not show an address that a load balancer of the cluster gives to others:
 * whoever may write a Service would take over their traffic from inside the cluster (CVE-2020-8554).
 */
import type { Frontend, LoadBalancer } from "../arm.ts";
import { indexOf } from "../load-balancer/load-balancer-index.ts";
import type { Observed } from "../world.ts";
import { PLACEMENT } from "./annotations.ts";
import type { Rejection, ServiceIntent } from "./service-intent.ts";
import { addressesOn, frontendsOf } from "./service-parts.ts";

export function refuseTakenAddresses(observed: Observed, intent: ServiceIntent): Rejection | undefined {
  if (intent.additionalPublicIPs.length === 0) return undefined;
  for (const loadBalancer of observed.loadBalancers) {
    for (const frontend of othersOn(loadBalancer, intent.owner.base)) {
      const [address = ""] = addressesOn(observed, [frontend]);
      if (intent.additionalPublicIPs.includes(address)) return rejectionOf(address, frontend, loadBalancer);
    }
  }
  return undefined;
}

function othersOn(loadBalancer: LoadBalancer, base: string): Frontend[] {
  const own = new Set(frontendsOf(loadBalancer, base));
  return [...indexOf(loadBalancer).frontends.values()].filter((frontend) => !own.has(frontend));
}

function rejectionOf(address: string, frontend: Frontend, loadBalancer: LoadBalancer): Rejection {
  const message =
    `${PLACEMENT.additionalPublicIPs.key}: "${address}" is the address of frontend "${frontend.name}" on load balancer ` +
    `"${loadBalancer.name}", which is not this Service's: leave it out, or share it by ${PLACEMENT.ipv4.key}`;
  return { kind: "rejection", reason: "AddressTaken", message };
}
