/**
 * How a Service stands, as the read-only API shows it: the state that its last sync led to, what there is to say about it,
 * since when, and when it is tried again. The controller tells it; what follows from it for a person is decided here.
 *
 *   state    | attention                                                        | means
 *   ---------|------------------------------------------------------------------|---------------------------------------
 *   refused  | needsYou                                                         | a user must change something
 *   failing  | needsYou; inProgress where Azure only told to wait               | the last attempt failed, and is repeated
 *   deleting | inProgress; needsYou where the last attempt failed               | what it has in Azure goes
 *   pending  | inProgress                                                       | it has no address yet, or a change is under way
 *   served   | fine; needsYou where Azure differs and is left so                | everything is as it asks
 */
import type { EventReason } from "../events/event-reasons.ts";
import type { Warning } from "../outcome.ts";

export const SERVICE_STATES = ["served", "pending", "failing", "refused", "deleting"] as const;
export type ServiceState = (typeof SERVICE_STATES)[number];

/** What there is to say about a state. */
export interface Told {
  readonly reason?: EventReason;
  /** Names the key, the value and the fix. */
  readonly message?: string;
  /** The Service is served all the same. */
  readonly warnings?: readonly Warning[];
  /** Of a Service that Azure differs from: from what is there to what is asked for. */
  readonly differences?: string;
  /** Azure told to wait: there is nothing for a person to do. */
  readonly isThrottled?: boolean;
}

export interface Standing extends Told {
  readonly state: ServiceState;
  /** Since when it is served, or is not; milliseconds since 1970. */
  readonly sinceMs: number;
  readonly nextTryMs?: number;
}

export const ATTENTIONS = ["needsYou", "inProgress", "fine"] as const;
export type Attention = (typeof ATTENTIONS)[number];

export function attentionOf({ state, reason, isThrottled = false }: Standing): Attention {
  if (isThrottled) return "inProgress";
  switch (state) {
    case "refused":
    case "failing":
      return "needsYou";
    case "pending":
      return "inProgress";
    case "deleting":
      return reason === undefined ? "inProgress" : "needsYou";
    case "served":
      return isDrifted({ reason }) ? "needsYou" : "fine";
  }
}

/** Azure was changed by another client, and the drift policy says to leave it. */
export function isDrifted({ reason }: { readonly reason?: EventReason | undefined }): boolean {
  return reason === "DriftDetected";
}
