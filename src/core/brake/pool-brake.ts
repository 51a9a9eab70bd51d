/**
 * Which members a pool keeps although no node stands for them any more: where more than the share of them would go within
 * the window, and more Services than the limit are served by the pool. Nodes that announced that they go never count,
 * neither as lost nor as members: taking a node out that answers no more takes nothing from any Service.
 */
import type { Node, Taint } from "../model/kubernetes.ts";
import type { BrakeLimits } from "./brake-limits.ts";
import { exceedsShare } from "./share-limit.ts";
import { memberWrite } from "./withheld-writes.ts";

/** What the brake knows besides the pool itself. Names are in lower case; pools are named by their ids in lower case. */
export interface PoolBrake {
  readonly limits: BrakeLimits;
  /** Members that each pool had within the window. */
  readonly recent: ReadonlyMap<string, ReadonlySet<string>>;
  /** Members whose going counts for nothing: nodes that announced it before they vanished, and what was released. */
  readonly departed: ReadonlySet<string>;
  /** Writes that an operator has released: see `memberWrite`. */
  readonly released: ReadonlySet<string>;
}

/** One pool as it is and as it would be. Names are in lower case. */
export interface PoolChange {
  readonly pool: string;
  /** Its members that are the cluster's. */
  readonly present: ReadonlySet<string>;
  /** Those of the nodes that should be in it. */
  readonly wanted: ReadonlySet<string>;
  /** Of nodes that announce that they go. */
  readonly leaving: ReadonlySet<string>;
  /** How many Services it serves. */
  readonly services: number;
}

const NONE: ReadonlySet<string> = new Set();

export function withheldMembers(brake: PoolBrake, change: PoolChange): ReadonlySet<string> {
  const pool = change.pool.toLowerCase();
  const counted = change.present
    .union(change.wanted)
    .union(brake.recent.get(pool) ?? NONE)
    .difference(change.leaving)
    .difference(brake.departed);
  const lost = [...counted.difference(change.wanted)].filter((name) => !brake.released.has(memberWrite(pool, name)));
  if (change.services <= brake.limits.services || !exceedsShare(lost.length, counted.size, brake.limits.members))
    return NONE;
  return new Set(lost).intersection(change.present);
}

/** Set by Kubernetes, autoscalers and this project on nodes that go. */
const LEAVING: ReadonlySet<string> = new Set([
  "node.kubernetes.io/unschedulable",
  "node.kubernetes.io/out-of-service",
  "node.cloudprovider.kubernetes.io/shutdown",
  "cloudprovider.azure.microsoft.com/draining",
  "azlb.io/drain",
  "ToBeDeletedByClusterAutoscaler",
  "karpenter.sh/disrupted",
  "karpenter.sh/disruption",
]);

/** Set with the effect NoExecute on nodes that answer no more. With another effect, every new Node may have them. */
const SILENT: ReadonlySet<string> = new Set(["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]);

export function isLeaving({ spec }: Pick<Node, "spec">): boolean {
  const isLeavingTaint = ({ key, effect }: Taint): boolean =>
    LEAVING.has(key) || (SILENT.has(key) && effect === "NoExecute");
  return spec.unschedulable === true || (spec.taints ?? []).some(isLeavingTaint);
}
