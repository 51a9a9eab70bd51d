/**
 * One call from a process to a server and back: latency, and the fault that affects it. A call that has been sent arrives
 * even if its sender dies or is paused meanwhile (except a slow one: a connection does not outlive a dead sender by a
 * minute); its answer is delivered to a live sender only.
 */
import type { Random } from "../environment/random.ts";
import type { Process, Timeline } from "../environment/timeline.ts";
import { SLOW_MS, type CallKind, type Side, type Fault, type FaultInjector } from "./faults.ts";

export interface NetworkOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly faults: FaultInjector;
  readonly process: Process;
  /** Kills the process. */
  readonly crash: (process: Process) => void;
  /** Called when a call is sent. */
  readonly onSend: (call: OutgoingCall) => void;
  /** Called when a fault affects a call. */
  readonly onFault: (call: OutgoingCall, fault: Fault) => void;
}

export interface OutgoingCall {
  readonly process: Process;
  readonly side: Side;
  readonly call: CallKind;
  readonly what: string;
}

export interface Call<Answer> {
  readonly side: Side;
  readonly call: CallKind;
  /** Text for the trace: `PUT loadBalancers/kubernetes`. */
  readonly what: string;
  readonly signal: AbortSignal | undefined;
  readonly serve: (fault: Fault | undefined) => Answer;
  /** Builds the server's refusal with that status. */
  readonly refuse: (status: number) => Answer;
  /** Builds the error of a broken connection; `maybeSent` is false if the call certainly had no effect. */
  readonly broken: (maybeSent: boolean) => Error;
}

/** One-way latency without a fault. */
const USUAL_MS = { low: 0.2, high: 25 } as const;

export function sendCall<Answer>(options: NetworkOptions, request: Call<Answer>): Promise<Answer> {
  const { timeline, random, faults, process, crash, onSend, onFault } = options;
  const { side, call, what, signal } = request;
  return new Promise((resolve, reject) => {
    if (process.isDead) return;
    if (signal?.aborted) return reject(signal.reason);
    const fault = faults.take({ side, call, what });
    if (fault !== undefined) onFault({ process, side, call, what }, fault);
    if (fault?.kind === "crashBefore") return crash(process);
    onSend({ process, side, call, what });
    const giveUp = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", giveUp, { once: true });
    const latencyMs = (): number =>
      fault?.kind === "slow" ? random.between(SLOW_MS.low, SLOW_MS.high) : random.between(USUAL_MS.low, USUAL_MS.high);
    const respond = (deliver: () => void): void => {
      timeline.after(
        latencyMs(),
        () => {
          signal?.removeEventListener("abort", giveUp);
          deliver();
        },
        process,
      );
    };
    if (fault?.kind === "unreachable") return respond(() => reject(request.broken(false)));
    if (fault?.kind === "lost") return respond(() => reject(request.broken(true)));
    timeline.after(latencyMs(), () => {
      if (process.isDead && fault?.kind === "slow") return;
      if (fault?.kind === "refused") {
        const refusal = request.refuse(fault.status ?? 500);
        return respond(() => resolve(refusal));
      }
      const answer = request.serve(fault);
      if (fault?.kind === "crashAfter") return crash(process);
      if (fault?.kind === "answerLost") return respond(() => reject(request.broken(true)));
      respond(() => resolve(answer));
    });
  });
}
