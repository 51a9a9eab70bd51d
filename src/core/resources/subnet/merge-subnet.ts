/**
 * Turns the network policies for private link services off, which Azure asks for before one may have addresses in the
 * subnet. They are never turned on again: other private link services may have come.
 */
import type { Subnet } from "../../model/arm.ts";
import { answersOf, type Merged, type Owner, unchanged } from "../../outcome.ts";
import { type Reconciled, reconciled } from "../reconciled.ts";
import type { SubnetFragment } from "./fragment.ts";

export function mergeSubnet(seen: Subnet | undefined, fragments: readonly SubnetFragment[]): Merged<Subnet> {
  if (seen === undefined) {
    const answers = fragments.map(() => ({ kind: "stale" }) as const);
    return { outcome: { kind: "unchanged" }, answers };
  }
  if (isOpen(seen)) return unchanged(fragments);
  const properties = { ...seen.properties, privateLinkServiceNetworkPolicies: "Disabled" };
  return { outcome: { kind: "put", body: { ...seen, properties } }, answers: answersOf(fragments) };
}

function isOpen({ properties }: Subnet): boolean {
  return properties.privateLinkServiceNetworkPolicies?.toLowerCase() === "disabled";
}

/** What must be written to a subnet before a private link service may have addresses in it. */
export function reconcileSubnet(id: string, seen: Subnet | undefined, owner: Owner): Reconciled<"subnet"> {
  const fragment: SubnetFragment = { kind: "open", owner };
  const why = `private link service network policies off, for the private link service of ${owner.key}`;
  return reconciled(mergeSubnet(seen, [fragment]), () => ({ kind: "subnet", id, fragment, why }));
}
