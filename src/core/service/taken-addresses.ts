/**
 * Additional addresses appear in a Service's status, and nodes send what is meant for an address in a status to the
 * Service that shows it. So a Service may not show an address that a load balancer of the cluster gives to others:
 * a user who may write a Service would take over their traffic from inside the cluster (CVE-2020-8554).
 */
import type { Frontend, LoadBalancer } from "../model/arm.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { baseOf } from "../model/names.ts";
import { keyIn } from "../resources/load-balancer/part-user.ts";
import type { Observed } from "../observed.ts";
import { PLACEMENT } from "../intent/annotations.ts";
import type { ServiceIntent } from "../intent/service-intent.ts";
import type { Rejection } from "../outcome.ts";
import { addressesOn, frontendsOf } from "./service-parts.ts";

export function refuseTakenAddresses(observed: Observed, intent: ServiceIntent): Rejection | undefined {
  if (intent.additionalPublicIPs.length === 0) return undefined;
  for (const loadBalancer of observed.loadBalancers) {
    for (const frontend of othersOn(loadBalancer, intent.owner.base)) {
      const [address = ""] = addressesOn(observed, [frontend]);
      if (intent.additionalPublicIPs.includes(address)) return rejectionOf(address, frontend, loadBalancer, observed);
    }
  }
  return undefined;
}

function othersOn(loadBalancer: LoadBalancer, base: string): Frontend[] {
  const own = new Set(frontendsOf(loadBalancer, base));
  return [...loadBalancerIndex(loadBalancer).frontends.values()].filter((frontend) => !own.has(frontend));
}

function rejectionOf(address: string, frontend: Frontend, { name }: LoadBalancer, observed: Observed): Rejection {
  const key = keyIn(observed.otherServices, baseOf(frontend.name));
  const whose =
    key === undefined
      ? `frontend "${frontend.name}" on load balancer "${name}", which is not this Service's`
      : `Service ${key}`;
  const message =
    `${PLACEMENT.additionalPublicIPs.key}: "${address}" is the address of ${whose}: ` +
    `leave it out, or share it by ${PLACEMENT.ipv4.key}`;
  return { kind: "rejection", reason: "AddressTaken", message };
}
