/**
 * Which pools one network interface, scale set or scale-set instance should be in, as data: with pools of network
 * interfaces, membership is written there and not in the pool.
 * Made by `desired-nic-pools.ts`, put in by `merge-nic-pools.ts`.
 */
import type { Family } from "../../model/arm.ts";

export interface NicPoolsFragment {
  readonly resource: "networkInterface" | "scaleSet" | "instance";
  readonly join: readonly PoolRef[];
  readonly leave: readonly PoolRef[];
  /** Names of the nodes for which it joins: to be in the durable member list first, also where the Node is gone by then. */
  readonly nodes?: readonly string[];
}

/** A pool, and the family of the ipConfiguration that is its member. */
export interface PoolRef {
  readonly pool: string;
  readonly family: Family;
}
