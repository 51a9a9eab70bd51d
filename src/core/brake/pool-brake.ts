/**
 * Which members a pool keeps although no node stands for them any more: where more than the share of them would go within
 * the window, and more Services than the limit are served by the pool. Nodes that announced that they go never count,
 * neither as lost nor as members: taking a node out that answers no more takes nothing from any Service.
 *
 * Pools of one Service each are judged together. Which nodes go from all of them is measured first, so that the loss of a
 * few nodes never counts, however many small pools had no other; then from how many Services more than the share goes.
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
  const { counted, lost } = lossOf(brake, change);
  if (change.services <= brake.limits.services || !exceedsShare(lost.size, counted.size, brake.limits.members))
    return NONE;
  return lost.intersection(change.present);
}

/** One of many pools that serve few Services each. */
export interface SmallPoolChange extends Omit<PoolChange, "services"> {
  /** `namespace/name`. */
  readonly services: readonly string[];
}

/** By pool: the members that it keeps. */
export function withheldTogether(
  brake: PoolBrake,
  changes: readonly SmallPoolChange[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const { members, services } = brake.limits;
  const losses = changes.map((change) => ({ change, ...lossOf(brake, change) }));
  const counted = new Set(losses.flatMap((loss) => [...loss.counted]));
  const lost = new Set(losses.flatMap((loss) => [...loss.lost]));
  if (!exceedsShare(lost.size, counted.size, members)) return new Map();
  const concerned = losses.filter((loss) =>
    exceedsShare(loss.lost.size, loss.counted.size, { ...members, minimum: 1 }),
  );
  if (new Set(concerned.flatMap(({ change }) => change.services)).size <= services) return new Map();
  return new Map(concerned.map(({ change, lost: names }) => [change.pool, names.intersection(change.present)]));
}

interface Loss {
  /** Members that it has, had within the window, or is to have. */
  readonly counted: ReadonlySet<string>;
  /** Those that go, and that no operator has released. */
  readonly lost: ReadonlySet<string>;
}

function lossOf(brake: PoolBrake, change: Pick<PoolChange, "pool" | "present" | "wanted" | "leaving">): Loss {
  const pool = change.pool.toLowerCase();
  const counted = change.present
    .union(change.wanted)
    .union(brake.recent.get(pool) ?? NONE)
    .difference(change.leaving)
    .difference(brake.departed);
  const lost = [...counted.difference(change.wanted)].filter((name) => !brake.released.has(memberWrite(pool, name)));
  return { counted, lost: new Set(lost) };
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
