/** A state machine whose transitions are data. */
export type Transitions<State extends string, Event extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Event, State>>>>
>;

/** Ends the wait of a state early. */
interface Interrupt {
  abort(): void;
}

/** The current state, and what ends its wait early. Throws where an event has no place in the state, which is a bug. */
export class StateMachine<State extends string, Event extends string> {
  readonly #transitions: Transitions<State, Event>;
  #state: State;
  #interrupt: Interrupt | undefined;

  constructor(transitions: Transitions<State, Event>, start: State) {
    this.#transitions = transitions;
    this.#state = start;
  }

  get state(): State {
    return this.#state;
  }

  /** Of the current state; absent where it cannot be ended early. */
  get interrupt(): Interrupt | undefined {
    return this.#interrupt;
  }

  /** `interrupt`: of the state that follows. */
  on(event: Event, interrupt?: Interrupt): void {
    const next = this.#transitions[this.#state][event];
    if (next === undefined) throw new Error(`"${event}" has no place in state "${this.#state}"`);
    this.#state = next;
    this.#interrupt = interrupt;
  }
}
