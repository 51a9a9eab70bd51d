/** Records flows: a bounded log of flow events with their reasons, and counters per frontend and member. */
import type { RefusalReason } from "./admit-flow.ts";
import type { Frontend, Member } from "./forwarding.ts";

/**
 *   listening, gone | a frontend opened or closed
 *   opened, closed  | a flow was forwarded to a member; it ended (`reason`)
 *   refused         | a flow was not forwarded (`reason`)
 *   joined, left    | a member joined or left a pool
 *   adminState      | a member's admin state changed (`from`, `to`)
 *   probe           | a member's health changed (`from`, `to`)
 */
type FlowEvent = "listening" | "gone" | "opened" | "closed" | "refused" | "joined" | "left" | "adminState" | "probe";

export interface FlowEntry {
  readonly sequence: number;
  readonly time: string;
  readonly event: FlowEvent;
  /** `203.0.113.7:80/tcp`. */
  readonly frontend?: string;
  readonly member?: string;
  readonly node?: string;
  /** Id of the pool or probe concerned. */
  readonly about?: string;
  readonly client?: string;
  readonly source?: string;
  readonly reason?: string;
  readonly securityRule?: string;
  readonly from?: string;
  readonly to?: string;
}

export interface FlowQuery {
  readonly after?: number;
  readonly limit?: number;
  readonly event?: string;
  readonly frontend?: string;
  readonly member?: string;
}

export interface MemberCounts {
  /** Flows forwarded to it. */
  total: number;
  open: number;
  /** Forwarded flows whose connection it refused. */
  refused: number;
  /** Flows forwarded to it while its admin state was `Down`: none, but on a rule without a probe. */
  openedWhileDown: number;
}

export interface FrontendCounts {
  /** Flows that arrived. */
  total: number;
  open: number;
  readonly refused: Partial<Record<RefusalReason, number>>;
  /** By address, including members that have left the pool. */
  readonly members: Map<string, MemberCounts>;
}

/** A flow's origin: the loopback socket, and the source address that the emulated network sees. */
export interface Client {
  readonly client: string;
  readonly source: string;
}

const KEPT_ENTRIES = 20_000;

export interface FlowTable {
  note(entry: Omit<FlowEntry, "sequence" | "time">): void;
  opened(frontend: Frontend, member: Member, client: Client): void;
  closed(frontend: Frontend, member: Member, client: Client, reason: string): void;
  refused(
    frontend: Frontend,
    client: Client,
    refusal: { reason: RefusalReason; member?: Member; securityRule?: string },
  ): void;
  countsOf(frontendKey: string): FrontendCounts;
  /** Drops the counters of a closed frontend; the log keeps its events. */
  forget(frontendKey: string): void;
  entries(query?: FlowQuery): readonly FlowEntry[];
  /** Empties the log; counters are kept. */
  clear(): void;
}

export function createFlowTable(nowMs: () => number): FlowTable {
  let log: FlowEntry[] = [];
  let sequence = 0;
  const counts = new Map<string, FrontendCounts>();

  const note: FlowTable["note"] = (entry) => {
    log.push({ sequence: ++sequence, time: new Date(nowMs()).toISOString(), ...entry });
    if (log.length > 2 * KEPT_ENTRIES) log = log.slice(-KEPT_ENTRIES);
  };
  const countsOf = (key: string): FrontendCounts => {
    const known = counts.get(key) ?? { total: 0, open: 0, refused: {}, members: new Map() };
    counts.set(key, known);
    return known;
  };

  return {
    note,
    countsOf,
    opened({ key }, member, client) {
      const [frontend, own] = [countsOf(key), memberCounts(countsOf(key), member)];
      frontend.total++;
      frontend.open++;
      own.total++;
      own.open++;
      if (member.adminState === "Down") own.openedWhileDown++;
      note({ event: "opened", frontend: key, ...memberNames(member), ...client });
    },
    closed({ key }, member, client, reason) {
      countsOf(key).open--;
      memberCounts(countsOf(key), member).open--;
      note({ event: "closed", frontend: key, ...memberNames(member), ...client, reason });
    },
    refused({ key }, client, { reason, member, securityRule }) {
      const counted = countsOf(key);
      counted.refused[reason] = (counted.refused[reason] ?? 0) + 1;
      if (reason === "memberRefused" && member !== undefined) countAsRefused(counted, member);
      else counted.total++;
      const rule = securityRule === undefined ? {} : { securityRule };
      note({ event: "refused", frontend: key, ...(member && memberNames(member)), ...client, reason, ...rule });
    },
    forget(key) {
      counts.delete(key);
    },
    entries(query = {}) {
      const found = log.slice(-KEPT_ENTRIES).filter((entry) => isWanted(entry, query));
      return query.limit === undefined ? found : found.slice(0, query.limit);
    },
    clear() {
      log = [];
    },
  };
}

function memberCounts({ members }: FrontendCounts, { ip }: Member): MemberCounts {
  const known = members.get(ip) ?? { total: 0, open: 0, refused: 0, openedWhileDown: 0 };
  members.set(ip, known);
  return known;
}

/** `opened` has counted the flow already; it turns into a refusal. */
function countAsRefused(counts: FrontendCounts, member: Member): void {
  const own = memberCounts(counts, member);
  counts.open--;
  own.open--;
  own.refused++;
}

export function memberNames({ ip, node }: Member): { member: string; node?: string } {
  return { member: ip, ...(node !== undefined && { node }) };
}

function isWanted(entry: FlowEntry, { after, event, frontend, member }: FlowQuery): boolean {
  return (
    (after === undefined || entry.sequence > after) &&
    (event === undefined || entry.event === event) &&
    (frontend === undefined || entry.frontend === frontend) &&
    (member === undefined || entry.member === member || entry.node === member)
  );
}
