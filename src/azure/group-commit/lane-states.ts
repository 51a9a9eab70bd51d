/**
 * The states of a lane, and of a drain on the fast path, with their transitions as data. `lane.ts` and
 * `drain-fast-path.ts` raise the events; what is not in the table cannot happen. Shown, with what each state is for, in
 * `docs/architecture.md`.
 */
export type Transitions<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Event, State>>>>
>;

export type LaneState =
  | "idle"
  | "gathering"
  | "selecting"
  | "choosingBase"
  | "awaitingTurn"
  | "inFlight"
  | "pausing"
  | "overtaken";
export type LaneEvent =
  | "submitted"
  | "windowClosed"
  | "batchTaken"
  | "noneDue"
  | "queueEmpty"
  | "baseChosen"
  | "left"
  | "wholeRepaired"
  | "settled"
  | "interrupted"
  | "setApart"
  | "failed"
  | "retryLater"
  | "pauseOver"
  | "drainsOver";

export const LANE: Transitions<LaneState, LaneEvent> = {
  idle: { submitted: "gathering" },
  gathering: { windowClosed: "selecting" },
  selecting: { batchTaken: "choosingBase", noneDue: "pausing", queueEmpty: "idle" },
  choosingBase: {
    baseChosen: "awaitingTurn",
    settled: "overtaken",
    interrupted: "overtaken",
    setApart: "overtaken",
    failed: "overtaken",
    retryLater: "overtaken",
  },
  awaitingTurn: {
    left: "inFlight",
    interrupted: "overtaken",
    setApart: "overtaken",
    failed: "overtaken",
    retryLater: "overtaken",
  },
  inFlight: {
    left: "inFlight",
    wholeRepaired: "choosingBase",
    settled: "overtaken",
    setApart: "overtaken",
    failed: "overtaken",
    retryLater: "overtaken",
  },
  pausing: { pauseOver: "selecting" },
  overtaken: { drainsOver: "selecting" },
};

export type DrainState =
  | "readingPart"
  | "composing"
  | "awaitingTurn"
  | "inFlight"
  | "readingBack"
  | "settled"
  | "returned";
export type DrainEvent =
  | "partRead"
  | "composed"
  | "joined"
  | "left"
  | "written"
  | "wholeRead"
  | "unsuitable"
  | "failed";

export const DRAIN: Transitions<DrainState, DrainEvent> = {
  readingPart: { partRead: "composing", unsuitable: "returned" },
  composing: { composed: "awaitingTurn", unsuitable: "returned" },
  awaitingTurn: { joined: "composing", left: "inFlight", failed: "returned" },
  inFlight: { left: "inFlight", written: "readingBack", failed: "returned" },
  readingBack: { wholeRead: "settled", failed: "returned" },
  settled: {},
  returned: {},
};

/** The current state, and what ends its wait early. Throws where an event has no place in the state, which is a bug. */
export class Machine<State extends string, Event extends string> {
  readonly #transitions: Transitions<State, Event>;
  #state: State;
  #interrupt: AbortController | undefined;

  constructor(transitions: Transitions<State, Event>, start: State) {
    this.#transitions = transitions;
    this.#state = start;
  }

  get state(): State {
    return this.#state;
  }

  /** Of the current state; absent where it cannot be ended early. */
  get interrupt(): AbortController | undefined {
    return this.#interrupt;
  }

  /** `interrupt`: of the state that follows. */
  on(event: Event, interrupt?: AbortController): void {
    const next = this.#transitions[this.#state][event];
    if (next === undefined) throw new Error(`"${event}" has no place in state "${this.#state}"`);
    this.#state = next;
    this.#interrupt = interrupt;
  }
}
