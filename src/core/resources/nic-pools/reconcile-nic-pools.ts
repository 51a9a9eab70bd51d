/**
 * What must be written so that machines join and leave pools of network interfaces. Scale sets come first, in a round of
 * their own, so that new instances are created in the pool and no write meets another.
 */
import { nameOfId } from "../../model/ids.ts";
import { type Reconciled, SETTLED } from "../reconciled.ts";
import type { DesiredNicPools } from "./desired-nic-pools.ts";

export function reconcileNicPools(desired: readonly DesiredNicPools[]): Reconciled<"nicPools"> {
  if (desired.length === 0) return SETTLED;
  const scaleSets = desired.filter(({ fragment }) => fragment.resource === "scaleSet");
  const now = scaleSets.length > 0 ? scaleSets : desired;
  const steps = now.map((each) => ({ kind: "nicPools" as const, ...each, why: whyOf(each) }));
  return { kind: "act", steps, deletes: false };
}

function whyOf({ id, fragment: { join, leave } }: DesiredNicPools): string {
  const names = [...join, ...leave].map(({ pool }) => nameOfId(pool)).join(", ");
  return `${nameOfId(id)} ${join.length > 0 ? "joins" : "leaves"} ${names}`;
}
