/**
 * The way of one call from a process to a server and back, with what may go wrong on it. A call that has left arrives
 * even if its sender dies or sleeps meanwhile (not a slow one: connections do not outlive a dead sender by a minute); its
 * answer is only ever heard by a sender that lives.
 */
import type { Chance } from "../environment/random.ts";
import type { Process, Timeline } from "../environment/timeline.ts";
import { SLOW_MS, type CallKind, type Side, type Trouble, type TroubleBoard } from "./faults.ts";

export interface WireOptions {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly troubles: TroubleBoard;
  readonly process: Process;
  /** The process dies now. */
  readonly crash: (process: Process) => void;
  /** Told right when a call leaves. */
  readonly onSend: (leaving: Leaving) => void;
}

export interface Leaving {
  readonly process: Process;
  readonly side: Side;
  readonly call: CallKind;
  readonly what: string;
}

export interface Journey<Answer> {
  readonly side: Side;
  readonly call: CallKind;
  /** For people: `PUT loadBalancers/kubernetes`. */
  readonly what: string;
  readonly signal: AbortSignal | undefined;
  readonly serve: (trouble: Trouble | undefined) => Answer;
  /** The server's refusal with that status. */
  readonly refuse: (status: number) => Answer;
  /** No answer; `maybeSent` is false where it surely had no effect. */
  readonly broken: (maybeSent: boolean) => Error;
}

/** Usual one-way times. */
const USUAL_MS = { low: 0.2, high: 25 } as const;

export function travel<Answer>(options: WireOptions, journey: Journey<Answer>): Promise<Answer> {
  const { timeline, chance, troubles, process, crash, onSend } = options;
  const { side, call, what, signal } = journey;
  return new Promise((resolve, reject) => {
    if (process.isDead) return;
    if (signal?.aborted) return reject(signal.reason);
    const trouble = troubles.meet({ side, call });
    if (trouble?.kind === "crashBefore") return crash(process);
    onSend({ process, side, call, what });
    const giveUp = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", giveUp, { once: true });
    const wayMs = (): number =>
      trouble?.kind === "slow"
        ? chance.between(SLOW_MS.low, SLOW_MS.high)
        : chance.between(USUAL_MS.low, USUAL_MS.high);
    const home = (tell: () => void): void => {
      timeline.after(
        wayMs(),
        () => {
          signal?.removeEventListener("abort", giveUp);
          tell();
        },
        process,
      );
    };
    if (trouble?.kind === "unreachable") return home(() => reject(journey.broken(false)));
    if (trouble?.kind === "lost") return home(() => reject(journey.broken(true)));
    timeline.after(wayMs(), () => {
      if (process.isDead && trouble?.kind === "slow") return;
      if (trouble?.kind === "refused") {
        const refusal = journey.refuse(trouble.status ?? 500);
        return home(() => resolve(refusal));
      }
      const answer = journey.serve(trouble);
      if (trouble?.kind === "crashAfter") return crash(process);
      if (trouble?.kind === "answerLost") return home(() => reject(journey.broken(true)));
      home(() => resolve(answer));
    });
  });
}
