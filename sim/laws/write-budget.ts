/**
 * No more is written than needed: nothing at all by controllers that are started anew where all is settled, and over a
 * whole history no more than twice what its deeds call for one by one. Deeds that come together cost less, troubles
 * cost repeated writes.
 */
import type { Action, History } from "../campaign/history.ts";

const FACTOR = 2;

/** Resources that one such deed has written, at the least: public IP, load balancer, pool, security group. */
const LEAST_WRITES: Readonly<Record<Action["do"], number>> = {
  apply: 4,
  delete: 3,
  retype: 3,
  node: 2, // pools of two load balancers
  meddle: 1,
  crash: 1,
  restart: 0,
  pause: 1,
  jump: 0,
  trouble: 0,
  cutWatches: 0,
  holdWatches: 0,
  compact: 0,
  slow: 0,
  pod: 2,
  group: 2,
  balancer: 2,
  dropGroup: 2,
  dropBalancer: 2,
  bind: 4,
  dropBind: 4,
};

/** How many writes a history may lead to. */
export function mostWrites({ actions, setup }: History): number {
  const machines = setup.backendPool === "nodeIP" ? 1 : 3; // a write per machine, and its scale set's model
  const leastOf = (action: Action): number => {
    if (action.do === "trouble") return action.trouble.times;
    return LEAST_WRITES[action.do] * (action.do === "node" || action.do === "apply" ? machines : 1);
  };
  return FACTOR * actions.reduce((sum, action) => sum + leastOf(action), 0);
}
