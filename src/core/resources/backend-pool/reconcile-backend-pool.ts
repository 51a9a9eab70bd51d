/** What one pool of addresses must have written: the nodes that it should hold, where it does not hold them. */
import type { BackendPool } from "../../model/arm.ts";
import { pluralize } from "../../util/text.ts";
import { reconciled, type Reconciled } from "../reconciled.ts";
import type { BackendPoolFragment } from "./fragment.ts";
import { mergeBackendPool } from "./merge-backend-pool.ts";

export function reconcileBackendPool(
  id: string,
  seen: BackendPool,
  fragment: BackendPoolFragment,
): Reconciled<"backendPool"> {
  const why = `to hold ${pluralize(fragment.members.length, "node")}`;
  return reconciled(mergeBackendPool(seen, [fragment]), () => ({ kind: "backendPool", id, fragment, why }));
}
