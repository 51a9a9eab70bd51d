/**
 * The agent's taints on its Node: which the events ask for, and what is to be written. Pure. An annotation on the Node
 * records the events that were handled and the taints that the agent wrote for them, in the same patch. So the agent
 * removes its own taints only, also after a restart, and does not repeat one that a user has removed.
 *
 *   event               | taint
 *   --------------------|---------------------------------------------------------------------
 *   Preempt             | cloudprovider.azure.microsoft.com/draining=spot-eviction
 *   Terminate           | azlb.io/drain=terminate
 *   Reboot, Redeploy    | azlb.io/drain=reboot, if asked for
 *   Freeze              | none: it lasts seconds
 */
import { DRAIN_TAINT, DRAINING_TAINT, SPOT_EVICTION, TERMINATE } from "../core/admin-state/reconcile-admin-state.ts";
import type { Taint } from "../core/model/kubernetes.ts";
import type { KubeObject } from "../kube/client/resources.ts";
import type { ScheduledEvent } from "./scheduled-events.ts";

export const AGENT_ANNOTATION = "azlb.io/agent-taints";

/** A Node as the API server sends it; other fields are not read. */
export interface TaintedNode extends KubeObject {
  readonly spec?: { readonly taints?: readonly Taint[]; readonly providerID?: string };
}

export interface TaintRules {
  /** Whether a Reboot or Redeploy drains the node. */
  readonly drainOnReboot: boolean;
}

/** By id of the event: the taint that the agent wrote for it, as `key=value`; empty where another client's was there. */
type HandledEvents = Readonly<Record<string, string>>;

export interface NodePatch {
  readonly metadata: { readonly annotations: Readonly<Record<string, string | null>> };
  readonly spec?: { readonly taints: readonly Taint[] };
}

const EFFECT = "NoSchedule";

function taintOf({ type }: ScheduledEvent, { drainOnReboot }: TaintRules): Taint | undefined {
  switch (type) {
    case "Preempt":
      return { key: DRAINING_TAINT, value: SPOT_EVICTION, effect: EFFECT };
    case "Terminate":
      return { key: DRAIN_TAINT, value: TERMINATE, effect: EFFECT };
    case "Reboot":
    case "Redeploy":
      return drainOnReboot ? { key: DRAIN_TAINT, value: "reboot", effect: EFFECT } : undefined;
    case "Freeze":
      return undefined;
  }
}

/**
 * The patch that the Node needs; `undefined` where it is right. `events`: those about this machine; `isComplete`: there are
 * no others, so that the taints of all others are to go.
 */
export function reconcileTaints(
  node: TaintedNode,
  events: readonly ScheduledEvent[],
  isComplete: boolean,
  rules: TaintRules,
): NodePatch | undefined {
  const taints = node.spec?.taints ?? [];
  const recorded = readRecord(node);
  const wanted = new Map(events.flatMap((event) => [[event.id, taintOf(event, rules)] as const]));
  const kept = Object.entries(recorded).filter(([id]) => !isComplete || wanted.get(id) !== undefined);
  const record: Record<string, string> = Object.fromEntries(kept);
  const added: Taint[] = [];
  for (const [id, taint] of wanted) {
    if (taint === undefined || record[id] !== undefined) continue;
    const isOwn = Object.values(record).includes(textOf(taint));
    const isThere = [...taints, ...added].some(({ key, effect }) => key === taint.key && effect === taint.effect);
    if (!isThere) added.push(taint);
    record[id] = isOwn || !isThere ? textOf(taint) : "";
  }
  const owned = Object.values(record);
  const over = Object.values(recorded).filter((text) => text !== "" && !owned.includes(text));
  const left = taints.filter((taint) => taint.effect !== EFFECT || !over.includes(textOf(taint)));
  if (JSON.stringify(record) === JSON.stringify(recorded)) return undefined;
  const annotation = Object.keys(record).length === 0 ? null : JSON.stringify(record);
  const isChanged = added.length > 0 || left.length < taints.length;
  return {
    metadata: { annotations: { [AGENT_ANNOTATION]: annotation } },
    ...(isChanged && { spec: { taints: [...left, ...added] } }),
  };
}

function textOf({ key, value = "" }: Taint): string {
  return `${key}=${value}`;
}

/** Empty where the annotation is missing or malformed: then no taint is known to be the agent's. */
function readRecord({ metadata }: TaintedNode): HandledEvents {
  try {
    const value = JSON.parse(metadata.annotations?.[AGENT_ANNOTATION] ?? "{}") as unknown;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
    return Object.fromEntries(
      Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
    );
  } catch {
    return {};
  }
}
