/** Renders `azlb explain node/NAME`: whether load balancers send it new connections, where, why, and how its drain went. */
import { poolText } from "../core/admin-state/admin-state-events.ts";
import { accountOf, type DrainAccount, noticeLeft } from "../core/admin-state/drain-account.ts";
import { entriesOfNode, type NodeEntry } from "../core/admin-state/drain-taint.ts";
import { desiredAdminState, drainReasons, hasAdminState } from "../core/admin-state/reconcile-admin-state.ts";
import { isEligible } from "../core/backends/eligible-nodes.ts";
import { internalAddresses, nodeStateOf } from "../core/view/node-list.ts";
import { projectNode, type CachedNode } from "../controller/projections.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { EVENTS, NODES, type KubeObject } from "../kube/client/resources.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { KnownConnections } from "./known-connections.ts";

interface Event extends KubeObject {
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
}

/** The command names a Node that does not exist. */
class NoSuchNode extends Error {
  override readonly name = "NoSuchNode";
}

const MOST_EVENTS = 8;

export async function explainNode(
  view: ClusterView,
  name: string,
): Promise<{ readonly text: string; readonly data: object }> {
  const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${name}`;
  const events = await view.client.list<Event>(EVENTS, { namespace: "default", fieldSelector });
  const node = await readNode(view, name);
  if (node === undefined) {
    if (events.items.length === 0) throw new NoSuchNode(`there is no Node ${name}`);
    const text = ["state       there is no such Node any more", ...eventLines(events.items), ""].join("\n");
    return { text, data: { name, state: "gone", events: lastOf(events.items).map(eventOf) } };
  }
  const { places, nodeOf } = await view.pools();
  const entries = entriesOfNode(name, places, nodeOf);
  const account = accountOf(node);
  const isDrained = account !== undefined;
  const connections = isDrained ? await view.connections(internalAddresses(node)) : undefined;
  const text = [
    ...stateLines(view, node, entries),
    ...entries.map(
      ({ place, state }) => `  ${state.padEnd(6)}    ${poolText(place.loadBalancer.name, place.pool.name)}`,
    ),
    ...accountLines(account),
    ...connectionLines(connections),
    ...eventLines(events.items),
    "",
  ].join("\n");
  const data = { ...lineOf(view, node, entries), ...(connections && { connections }) };
  return { text, data: { ...data, events: lastOf(events.items).map(eventOf) } };
}

/** Named as the API names them. */
function lineOf({ config }: ClusterView, node: CachedNode, entries: readonly NodeEntry[]): object {
  const drain = drainReasons(node);
  const { notice, seenMs, downMs } = accountOf(node) ?? {};
  return {
    name: node.metadata.name,
    addresses: internalAddresses(node),
    state: nodeStateOf(node, config, entries.length > 0),
    drain,
    ...(notice && { announced: time(notice.announcedMs), due: time(notice.dueMs) }),
    ...(seenMs !== undefined && { known: time(seenMs) }),
    ...(downMs !== undefined && { down: time(downMs) }),
    pools: entries.map(({ place, state }) => ({
      loadBalancer: place.loadBalancer.name,
      pool: place.pool.name,
      adminState: state,
    })),
  };
}

function lastOf(events: readonly Event[]): readonly Event[] {
  const sorted = events.toSorted((one, other) => (one.lastTimestamp ?? "").localeCompare(other.lastTimestamp ?? ""));
  return sorted.slice(-MOST_EVENTS);
}

function eventOf({ reason, message, lastTimestamp }: Event): object {
  return { reason, message, last: lastTimestamp ?? undefined };
}

async function readNode({ client, config }: ClusterView, name: string): Promise<CachedNode | undefined> {
  try {
    return projectNode(await client.get(NODES, { name }), config.adminStateTaints);
  } catch (error) {
    if (isFailure(error, "notFound")) return undefined;
    throw error;
  }
}

function stateLines({ config }: ClusterView, node: CachedNode, entries: readonly NodeEntry[]): string[] {
  const reasons = drainReasons(node);
  if (!isEligible(node, config))
    return ["state       kept out of load balancers: it is being deleted, or excluded by a label or taint"];
  if (entries.length === 0) return ["state       in no pool of a load balancer"];
  if (!hasAdminState(config)) return ["state       serves; admin states are not set in this cluster"];
  if (desiredAdminState(node) === "None") {
    const waits = entries.some(({ state }) => state === "Down");
    return [
      waits ? "state       not draining any more; waits to be restored in" : "state       takes new connections in",
    ];
  }
  const waits = entries.some(({ state }) => state !== "Down");
  return [`state       draining (${reasons.join(", ")}): ${waits ? "waits for Down in" : "no new connections in"}`];
}

function accountLines(account: DrainAccount | undefined): string[] {
  if (account === undefined) return [];
  const { notice, seenMs, downMs } = account;
  const left = noticeLeft(account) ?? 0;
  const verdict = left >= 0 ? `${seconds(left)} before it was due` : `${seconds(-left)} too late`;
  return [
    ...(notice === undefined
      ? []
      : [`announced   ${time(notice.announcedMs)}, the machine goes at ${time(notice.dueMs)} or later`]),
    `known       ${time(seenMs)}`,
    `Down        ${time(downMs)} in every pool${notice === undefined ? "" : `, ${verdict}`}`,
  ];
}

function connectionLines(connections: KnownConnections | undefined): string[] {
  if (connections === undefined) return [];
  const { open, openedWhileDown } = connections;
  return [
    `connections ${openedWhileDown} begun while it was Down; left of earlier ones: ${open} (the emulator's data plane)`,
  ];
}

function eventLines(events: readonly Event[]): string[] {
  const last = lastOf(events);
  if (last.length === 0) return ["events      none"];
  return [
    "events",
    ...last.map(({ reason, message, lastTimestamp }) => `  ${lastTimestamp ?? ""} ${reason}: ${message}`),
  ];
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}

function seconds(count: number): string {
  return `${Math.round(count * 10) / 10} s`;
}
