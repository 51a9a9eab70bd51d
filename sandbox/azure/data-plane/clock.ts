/** The data plane's clock. The caller passes it in, so that probes and idle timeouts are tested without waiting. */

export interface Timer {
  /** Harmless once the timer has fired. */
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Calls back once. */
  setTimer(afterMs: number, callback: () => void): Timer;
}
