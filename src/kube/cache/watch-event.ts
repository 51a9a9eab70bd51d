/** One line of a watch. */
import { failureOfStatus, KubeFailure, type KubeStatus } from "../client/kube-failure.ts";
import type { KubeObject } from "../client/resources.ts";

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  /** Of a bookmark: nothing but a resourceVersion, and perhaps annotations. */
  readonly object: KubeObject;
}

/** Marks the bookmark that ends a streaming list. */
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** A line of the stream makes no sense; only a new list is sure to help. */
export class UnreadableEvent extends KubeFailure {
  constructor(what: string, line: string) {
    super("transient", `${what}: not a watch event: ${line.slice(0, 100)}`);
  }
}

/** Throws the failure of an ERROR event (status 410: the version to resume from is too old), and `UnreadableEvent`. */
export function parseWatchEvent(what: string, line: string): WatchEvent {
  const event = parse(line);
  if (event?.type === "ERROR") {
    const status = (event.object ?? {}) as KubeStatus;
    throw failureOfStatus(what, status.code ?? 500, status);
  }
  if (!isWatchEvent(event)) throw new UnreadableEvent(what, line);
  return event;
}

function isWatchEvent(event: { type?: string; object?: KubeObject } | undefined): event is WatchEvent {
  const { name, resourceVersion } = event?.object?.metadata ?? {};
  if (typeof resourceVersion !== "string") return false;
  if (event?.type === "BOOKMARK") return true;
  return typeof name === "string" && ["ADDED", "MODIFIED", "DELETED"].includes(event?.type ?? "");
}

export function endsInitialEvents(bookmark: KubeObject): boolean {
  return bookmark.metadata.annotations?.[INITIAL_EVENTS_END] === "true";
}

function parse(line: string): { type?: string; object?: KubeObject } | undefined {
  try {
    return JSON.parse(line) as { type?: string; object?: KubeObject };
  } catch {
    return undefined;
  }
}
