/**
 * The account of a drain: when its eviction was announced, when the controller knew, when Down was in effect in every pool,
 * and how much of the notice was left then. It is kept as an annotation on the Node, so that it outlives the controller, and
 * tells other processes that the node is out of its load balancers. The annotation goes when the drain is over.
 */
import type { Node } from "../model/kubernetes.ts";
import { announcementsOf, type EventTrust, type PreemptionEvent } from "./preemption-events.ts";
import { DRAIN_REASONS, type DrainReason, drainReasons } from "./reconcile-admin-state.ts";

export const ACCOUNT_ANNOTATION = "azlb.io/drained";

/** What an Event `PreemptScheduled` or `TerminateScheduled` says. */
export interface EvictionNotice {
  readonly announcedMs: number;
  /** The machine goes no earlier. */
  readonly dueMs: number;
}

export interface DrainAccount {
  readonly reasons: readonly DrainReason[];
  /** When the controller saw the taint. */
  readonly seenMs: number;
  /** When Down was in effect in every pool, as far as the controller knows: no earlier than it was. */
  readonly downMs: number;
  /** `load balancer/pool` of each. */
  readonly pools: readonly string[];
  readonly notice?: EvictionNotice | undefined;
}

/** Seconds of the notice that were left when Down was in effect; negative: it came too late. */
export function noticeLeft({ downMs, notice }: DrainAccount): number | undefined {
  return notice && (notice.dueMs - downMs) / 1000;
}

/** An agent that was not there may tell of an eviction that was due, as long as the machine is still there. */
const TOLD_LATE_MS = 15 * 60_000;

/** The newest notice of the node that says when. One that was due long before it was announced is not believed. */
export function evictionNotice(
  node: Node,
  events: readonly PreemptionEvent[],
  trust: EventTrust,
): EvictionNotice | undefined {
  const notices = announcementsOf(node, events, trust).flatMap(({ message, firstMs }) => {
    const dueMs = Date.parse(/^(?:Preempt|Terminate) Scheduled: (.+? GMT)\b/.exec(message)?.[1] ?? "");
    return Number.isNaN(dueMs) || dueMs < firstMs - TOLD_LATE_MS ? [] : [{ announcedMs: firstMs, dueMs }];
  });
  return notices.sort((one, other) => other.announcedMs - one.announcedMs)[0];
}

export function renderAccount({ reasons, seenMs, downMs, pools, notice }: DrainAccount): string {
  return JSON.stringify({
    reasons,
    ...(notice && { announced: timeOf(notice.announcedMs), due: timeOf(notice.dueMs) }),
    seen: timeOf(seenMs),
    down: timeOf(downMs),
    pools,
  });
}

/** The account of the drain that the node is in; `undefined` where there is none, or it is of an earlier drain. */
export function accountOf(node: Node): DrainAccount | undefined {
  const account = parseAccount(node.metadata.annotations?.[ACCOUNT_ANNOTATION]);
  const reasons = drainReasons(node);
  return account !== undefined && account.reasons.some((reason) => reasons.includes(reason)) ? account : undefined;
}

function parseAccount(text: string | undefined): DrainAccount | undefined {
  try {
    const value = JSON.parse(text ?? "") as Readonly<Record<string, unknown>> | null;
    const [seenMs, downMs, announcedMs, dueMs] = ["seen", "down", "announced", "due"].map((key) => msOf(value?.[key]));
    const { reasons, pools } = value ?? {};
    if (seenMs === undefined || downMs === undefined || !isTexts(reasons) || !isTexts(pools)) return undefined;
    const notice = announcedMs === undefined || dueMs === undefined ? undefined : { announcedMs, dueMs };
    return { reasons: reasons.filter(isReason), seenMs, downMs, pools, notice };
  } catch {
    return undefined;
  }
}

function isReason(text: string): text is DrainReason {
  return (DRAIN_REASONS as readonly string[]).includes(text);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function msOf(value: unknown): number | undefined {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
