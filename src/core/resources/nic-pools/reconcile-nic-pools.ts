/**
 * What must be written so that machines join and leave pools of network interfaces. Scale sets come first, in a round of
 * their own, so that new instances are created in the pool and no write meets another. One decision writes a resource
 * once: of two writes of it that wait, only the later one leaves.
 */
import { nameOfId } from "../../model/ids.ts";
import type { StepOf } from "../azure-step.ts";
import { type Reconciled, SETTLED } from "../reconciled.ts";
import { absentModelPools, type ModelsSeen } from "./absent-model-pools.ts";
import type { DesiredNicPools } from "./desired-nic-pools.ts";

/** The models among them leave the pools that are gone as well. */
export function reconcileNicPools(desired: readonly DesiredNicPools[], seen: ModelsSeen): Reconciled<"nicPools"> {
  if (desired.length === 0) return SETTLED;
  const scaleSets = desired.filter(({ fragment }) => fragment.resource === "scaleSet");
  const written = new Set(scaleSets.map(({ id }) => id.toLowerCase()));
  const gone = scaleSets.length > 0 ? absentModelPools(seen).filter(({ id }) => written.has(id.toLowerCase())) : [];
  const now = scaleSets.length > 0 ? [...scaleSets, ...gone] : desired;
  return { kind: "act", steps: onePerResource(now.map(stepOf)), deletes: false };
}

/** Also for the decisions of several load balancers, each of which may write the same resource. */
export function onePerResource(steps: readonly StepOf<"nicPools">[]): StepOf<"nicPools">[] {
  const byId = Map.groupBy(steps, ({ id }) => id.toLowerCase());
  return [...byId.values()].flatMap(([first, ...more]) => {
    if (first === undefined || more.length === 0) return first ?? [];
    const fragments = [first, ...more].map(({ fragment }) => fragment);
    const nodes = [...new Set(fragments.flatMap((fragment) => fragment.nodes ?? []))];
    const fragment = {
      ...first.fragment,
      join: distinct(fragments.flatMap(({ join }) => join)),
      leave: distinct(fragments.flatMap(({ leave }) => leave)),
      ...(nodes.length > 0 && { nodes }),
    };
    return stepOf({ id: first.id, fragment });
  });
}

function stepOf({ id, fragment }: DesiredNicPools): StepOf<"nicPools"> {
  const names = (pools: readonly { readonly pool: string }[]): string =>
    pools.map(({ pool }) => nameOfId(pool)).join(", ");
  const { join, leave } = fragment;
  const joins = join.length > 0 ? [`joins ${names(join)}`] : [];
  const leaves = leave.length > 0 ? [`leaves ${names(leave)}`] : [];
  return { kind: "nicPools", id, fragment, why: `${nameOfId(id)} ${[...joins, ...leaves].join(" and ")}` };
}

function distinct<Ref extends { readonly pool: string }>(pools: readonly Ref[]): Ref[] {
  return [...new Map(pools.map((ref) => [ref.pool.toLowerCase(), ref])).values()];
}
