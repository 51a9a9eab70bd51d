/**
 * The law `thrift`: no more writes than needed. Controllers that restart in a settled cluster write nothing, and a whole
 * history costs no more than twice what its actions need one by one. Actions that overlap cost less; faults cost repeated
 * writes.
 */
import type { TimedAction, History } from "../campaign/history.ts";

const FACTOR = 2;

/** Writes that one action of the kind may need: of public IPs, load balancers, pools, security groups. */
const WRITES: Readonly<Record<TimedAction["do"], number>> = {
  apply: 4,
  delete: 3,
  retype: 3,
  node: 2, // pools of two load balancers
  edit: 1,
  crash: 1,
  restart: 0,
  pause: 1,
  jump: 0,
  fault: 0,
  outage: 2, // what was refused is decided anew
  calm: 0,
  cutWatches: 0,
  holdWatches: 0,
  compact: 0,
  slow: 0,
  pod: 2,
  group: 2,
  balancer: 2,
  dropGroup: 2,
  dropBalancer: 2,
  endpoints: 2,
  label: 12, // of every Service of the namespace, on two load balancers
  bind: 4,
  dropBind: 4,
};

/** How many writes a history may cost. */
export function mostWrites({ actions, setup }: History): number {
  const machines = setup.backendPool === "nodeIP" ? 1 : 3; // a write per machine, and its scale set's model
  const several = setup.several === undefined ? 1 : 3; // pools of six load balancers, and moves between them
  const writesOf = (action: TimedAction): number => {
    if (action.do === "fault") return action.fault.times;
    const isWide = action.do === "node" || action.do === "apply";
    return WRITES[action.do] * (isWide ? machines * several : 1);
  };
  return FACTOR * actions.reduce((sum, action) => sum + writesOf(action), 0);
}
