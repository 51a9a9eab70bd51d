/** What must be written to a subnet before a private link service may have addresses in it. */
import type { Subnet } from "../../model/arm.ts";
import type { Owner } from "../../outcome.ts";
import { type Reconciled, reconciled } from "../reconciled.ts";
import type { SubnetFragment } from "./fragment.ts";
import { mergeSubnet } from "./merge-subnet.ts";

export function reconcileSubnet(id: string, seen: Subnet | undefined, owner: Owner): Reconciled<"subnet"> {
  const fragment: SubnetFragment = { kind: "open", owner };
  const why = `private link service network policies off, for the private link service of ${owner.key}`;
  return reconciled(mergeSubnet(seen, [fragment]), () => ({ kind: "subnet", id, fragment, why }));
}
