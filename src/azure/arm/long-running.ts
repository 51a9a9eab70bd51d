/**
 * Follows an operation to its end by reading the polls' bodies, since the reason of a cancelled one stands nowhere
 * else. Decides when it is polled, when it is over and how it ended; what that means for the write is decided by the
 * caller.
 *
 *   the answer has                | followed by
 *   ------------------------------|---------------------------------------------------------------
 *   Azure-AsyncOperation          | its `status`, until that is Succeeded, Failed or Canceled
 *   Location only                 | its HTTP status: 202 is still running
 *   neither, state not terminal   | the resource's own provisioningState
 */
import { MOST, readAgainMs, RETRY } from "../../core/retry.ts";
import type { Clock } from "../../core/util/clock.ts";
import type { Ask } from "./arm-exchange.ts";
import { jsonOf, provisioningStateOf, textField } from "./response-body.ts";
import { ArmError, failureOfOperation, retryAfterMsOf, transient } from "./failures.ts";
import type { ArmResponse } from "./transport.ts";

export interface Followed {
  /** The path of the resource that is written. */
  readonly id: string;
  readonly first: ArmResponse;
  /** What is written, for the pace: operations of one kind take alike. */
  readonly type: string;
  readonly ask: Pick<Ask, "priority" | "namespace" | "signal" | "onHeld" | "spans">;
}

export interface FollowOptions {
  readonly send: (ask: Ask) => Promise<ArmResponse>;
  readonly clock: Clock;
  readonly pace: PollPace;
  /** Of the budget for polls, from 0 to 1. */
  readonly plenty: () => number;
  readonly withinMs: number;
}

/** The last answer, once the operation has succeeded; throws `ArmError` when it did not. */
export async function followOperation(followed: Followed, options: FollowOptions): Promise<ArmResponse> {
  if (isOver(followed.first)) return followed.first;
  const { clock, pace } = options;
  const url = addressOf(followed);
  const startMs = clock.monotonicMs();
  const firstWaitMs = pace.firstWaitMs(followed.type);
  let waitMs = firstWaitMs;
  let waitedMs = 0;
  for (;;) {
    await clock.sleep(waitMs, followed.ask.signal);
    waitedMs += waitMs;
    const answer = await pollOnce(url, followed, options);
    const state = stateOf(answer);
    if (state !== "running") pace.learn(followed.type, firstWaitMs, waitedMs);
    if (state === "succeeded") return answer;
    if (state === "failed") throw failed(followed, answer);
    const elapsedMs = clock.monotonicMs() - startMs;
    if (elapsedMs > options.withinMs) throw stillRunning(followed, options.withinMs);
    waitMs = nextWaitMs(elapsedMs, options.plenty(), retryAfterMsOf(answer.headers, clock.nowMs()));
  }
}

/**
 * Azure suggests ten seconds however soon an operation will be over, and all writes to the same resource wait
 * for it. So the polls come earlier than suggested, until the operation has run for as long as that: what is still
 * running then is polled as suggested.
 */
function nextWaitMs(elapsedMs: number, plenty: number, suggestedMs: number | undefined): number {
  const oursMs = laterWaitMs(elapsedMs, plenty);
  if (suggestedMs === undefined) return oursMs;
  return elapsedMs < suggestedMs ? Math.min(suggestedMs, oursMs) : suggestedMs;
}

type State = "running" | "succeeded" | "failed";

/** Over with the first answer: nothing to poll, or already said to have succeeded. */
function isOver(first: ArmResponse): boolean {
  const state = provisioningStateOf(jsonOf(first));
  if (state === "succeeded") return true;
  const hasAddress = first.headers["azure-asyncoperation"] !== undefined || first.headers["location"] !== undefined;
  return !hasAddress && state === undefined && first.status !== 202;
}

function addressOf({ first, id }: Followed): string {
  return first.headers["azure-asyncoperation"] ?? (first.status === 202 ? first.headers["location"] : undefined) ?? id;
}

function stateOf(answer: ArmResponse): State {
  const status = textField(jsonOf(answer), "status") ?? provisioningStateOf(jsonOf(answer));
  switch (status?.toLowerCase()) {
    case undefined:
      return answer.status === 202 ? "running" : "succeeded";
    case "succeeded":
      return "succeeded";
    case "failed":
    case "canceled":
    case "cancelled":
      return "failed";
    default:
      return "running";
  }
}

/** A poll that gets no proper answer says nothing about the operation: it is repeated. */
async function pollOnce(path: string, { ask, id }: Followed, { send, clock }: FollowOptions): Promise<ArmResponse> {
  for (let tries = 0; ; tries++) {
    try {
      return await send({ verb: "poll", method: "GET", path, ...ask });
    } catch (error) {
      if (!(error instanceof ArmError) || ask.signal?.aborted) throw error;
      const rule = RETRY[error.failure.kind].poll;
      if (rule === "fail") throw error;
      if (rule === "lost" || tries >= MOST.polls) throw lost(id, error);
      await clock.sleep(readAgainMs(tries), ask.signal);
    }
  }
}

function lost(id: string, cause: ArmError): ArmError {
  const failure = transient(`its operation cannot be followed any more: ${cause.failure.message}`, true);
  return new ArmError(failure, `following ${id}`, { cause });
}

function stillRunning({ id }: Followed, withinMs: number): ArmError {
  return new ArmError(transient(`its operation still runs after ${withinMs / 1000} s`, true), `following ${id}`);
}

function failed({ id, first }: Followed, answer: ArmResponse): ArmError {
  const failure = failureOfOperation(jsonOf(answer), first.headers["x-ms-request-id"]);
  const error = new ArmError(failure, `writing ${id}`);
  error.accepted = jsonOf(first);
  return error;
}

const FIRST_GUESS_MS = 250;
const SHORTEST_MS = 20;
const LONGEST_MS = 3_000;
const DOWN = 0.95;
const MOST_UP = 1.5;
const LEAST_SHARE = 0.25;
const LONGEST_LATER_MS = 5_000;

/**
 * When to poll an operation. Each poll takes a read of the budget; each moment between the end of an operation and the next
 * poll delays all writes to the same resource. So:
 *
 *   the first wait | is learned per type of write: shorter after a poll that found it over; else towards what that
 *                  | operation took, but not far, since a few take a hundred times as long as the rest
 *   later waits    | a share of the time that the operation has taken so far, so its end is noticed late by at most that
 *                  | share: a quarter while the budget of reads is full, all of it as that runs out
 */
export class PollPace {
  readonly #waits = new Map<string, number>();

  firstWaitMs(type: string): number {
    return this.#waits.get(type) ?? FIRST_GUESS_MS;
  }

  /** An operation was found to be over after so long, first asked after `waitedMs`. Many of one wait teach as much as one. */
  learn(type: string, waitedMs: number, tookMs: number): void {
    const nowMs = this.firstWaitMs(type);
    const isFirst = tookMs <= waitedMs;
    const upMs = Math.min((waitedMs + tookMs) / 2, waitedMs * MOST_UP, LONGEST_MS);
    if (!isFirst) this.#waits.set(type, Math.max(nowMs, upMs));
    else if (waitedMs <= nowMs) this.#waits.set(type, Math.max(SHORTEST_MS, waitedMs * DOWN));
  }
}

/** Until the next poll of an operation that still runs after so long. `plenty`: of the budget, from 0 to 1. */
function laterWaitMs(elapsedMs: number, plenty: number): number {
  const share = 1 - (1 - LEAST_SHARE) * plenty;
  return Math.min(LONGEST_LATER_MS, Math.max(SHORTEST_MS, elapsedMs * share));
}
