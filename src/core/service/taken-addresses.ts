/**
 * Additional addresses appear in a Service's status, and nodes send what is meant for an address in a status to the
 * Service that shows it; they are opened in the security group, too. So a Service may not name an address that others
 * have: a user who may write a Service would take over their traffic from inside the cluster (CVE-2020-8554), or open and
 * close their ports.
 *
 *   the address is of                                                          | the Service is
 *   ---------------------------------------------------------------------------|-----------------------------------
 *   a frontend that serves others, on the cluster's load balancers             | refused
 *   a node                                                                     | refused
 *   a security rule that no Service of the cluster can have made: of another   | refused, unless its status shows
 *   cluster on the same security group                                         | the address already (taken over)
 */
import type { Frontend, LoadBalancer } from "../model/arm.ts";
import { nodeAddresses } from "../backends/eligible-nodes.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { baseName, baseOf } from "../model/names.ts";
import { keyIn } from "../resources/load-balancer/part-user.ts";
import { securityGroupIndex } from "../resources/security-group/security-group-index.ts";
import { kindOf } from "../resources/security-group/security-rules.ts";
import type { Observed } from "../observed.ts";
import { PLACEMENT } from "../intent/annotations.ts";
import type { ServiceIntent } from "../intent/service-intent.ts";
import type { Rejection } from "../outcome.ts";
import { canonicalAddress } from "../util/cidr.ts";
import { addressesOn, frontendsOf, publishedAddresses } from "./service-parts.ts";

export function refuseTakenAddresses(observed: Observed, intent: ServiceIntent): Rejection | undefined {
  if (intent.additionalPublicIPs.length === 0) return undefined;
  for (const loadBalancer of observed.loadBalancers) {
    for (const frontend of othersOn(loadBalancer, intent.owner.base)) {
      const [address = ""] = addressesOn(observed, [frontend]);
      if (intent.additionalPublicIPs.includes(address))
        return rejectionOf(address, `the address of ${ownerOf(frontend, loadBalancer, observed)}`);
    }
  }
  for (const address of intent.additionalPublicIPs) {
    const node = nodeAddresses(observed.nodes).get(canonicalAddress(address));
    if (node !== undefined) return rejectionOf(address, `the address of node ${node.metadata.name}`);
    const rule = foreignRule(observed, intent, canonicalAddress(address));
    if (rule !== undefined) {
      const whose = `in security rule "${rule}", which no Service of this cluster has made for it`;
      return rejectionOf(address, whose);
    }
  }
  return undefined;
}

/** Rules under the name of a Service are that Service's; of others' only the status tells. */
function foreignRule(observed: Observed, { owner }: ServiceIntent, address: string): string | undefined {
  const { securityGroup, service, otherServices } = observed;
  const isShownBy = (one: Pick<Observed, "service">): boolean => publishedAddresses(one).includes(address);
  if (securityGroup === undefined || isShownBy({ service })) return undefined;
  const { holders, legacyShared, managed } = securityGroupIndex(securityGroup);
  const names = [...(holders.get(address) ?? []), ...(legacyShared.get(address) ?? [])];
  if (names.length === 0) return undefined;
  const bases = new Set([owner.base, ...otherServices.map(({ metadata }) => baseName(metadata.uid))].map(lower));
  const isShown = otherServices.some((other) => isShownBy({ service: other }));
  const foreign = names.find((name) => {
    const kind = kindOf(name);
    return kind.kind === "own" ? !bases.has(kind.base) : !isShown;
  });
  return foreign === undefined ? undefined : (managed.get(foreign)?.rule.name ?? foreign);
}

function lower(text: string): string {
  return text.toLowerCase();
}

function othersOn(loadBalancer: LoadBalancer, base: string): Frontend[] {
  const own = new Set(frontendsOf(loadBalancer, base));
  return [...loadBalancerIndex(loadBalancer).frontends.values()].filter((frontend) => !own.has(frontend));
}

function ownerOf(frontend: Frontend, { name }: LoadBalancer, observed: Observed): string {
  const key = keyIn(observed.otherServices, baseOf(frontend.name));
  return key === undefined
    ? `frontend "${frontend.name}" on load balancer "${name}", which is not this Service's`
    : `Service ${key}`;
}

function rejectionOf(address: string, whose: string): Rejection {
  const message =
    `${PLACEMENT.additionalPublicIPs.key}: "${address}" is ${whose}: ` +
    `leave it out, or share it by ${PLACEMENT.ipv4.key}`;
  return { kind: "rejection", reason: "AddressTaken", message };
}
