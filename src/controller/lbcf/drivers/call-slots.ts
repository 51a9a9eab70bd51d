/**
 * How many webhooks are called at a time, and which waits. Deregistrations come first and have slots that no other call
 * takes, so that slow registrations do not keep a dead backend in a load balancer. Drivers take turns.
 *
 *   calls at a time    | of one driver | of the drivers of one namespace | of all drivers
 *   -------------------|---------------|---------------------------------|---------------
 *   deregistrations    | 16            | 48                              | 256
 *   all other calls    | 12            | 36                              | 192
 *
 * Drivers in kube-system are installed by administrators, and have no bound of their namespace.
 */
import { SYSTEM_NAMESPACE } from "../../../core/lbcf/objects/names.ts";

export interface Call {
  readonly namespace: string;
  /** `namespace/name`. */
  readonly driver: string;
  readonly isUrgent: boolean;
}

const MOST = { driver: 16, namespace: 48, all: 256 };
/** Of each bound, what calls that are not urgent may take. */
const SHARE = 0.75;

interface Line {
  readonly namespace: string;
  readonly urgent: (() => void)[];
  readonly others: (() => void)[];
}

export class CallSlots {
  /** By driver; the one whose turn is next comes first. */
  readonly #lines = new Map<string, Line>();
  readonly #ofDriver = new Map<string, number>();
  readonly #ofNamespace = new Map<string, number>();
  #running = 0;

  async run<T>(call: Call, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => this.#wait(call, resolve));
    try {
      return await work();
    } finally {
      this.#count(call, -1);
      this.#dispatch();
    }
  }

  #wait({ namespace, driver, isUrgent }: Call, start: () => void): void {
    const line = this.#lines.get(driver) ?? { namespace, urgent: [], others: [] };
    this.#lines.set(driver, line);
    (isUrgent ? line.urgent : line.others).push(start);
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#startNext(true) || this.#startNext(false));
  }

  #startNext(isUrgent: boolean): boolean {
    for (const [driver, line] of this.#lines) {
      const call = { namespace: line.namespace, driver, isUrgent };
      const waiting = isUrgent ? line.urgent : line.others;
      if (waiting.length === 0 || !this.#isFree(call)) continue;
      const start = waiting.shift();
      this.#lines.delete(driver);
      if (line.urgent.length + line.others.length > 0) this.#lines.set(driver, line); // last from now on
      this.#count(call, 1);
      start?.();
      return true;
    }
    return false;
  }

  #isFree({ namespace, driver, isUrgent }: Call): boolean {
    const most = (bound: number): number => (isUrgent ? bound : bound * SHARE);
    return (
      this.#running < most(MOST.all) &&
      (this.#ofDriver.get(driver) ?? 0) < most(MOST.driver) &&
      (namespace === SYSTEM_NAMESPACE || (this.#ofNamespace.get(namespace) ?? 0) < most(MOST.namespace))
    );
  }

  #count({ namespace, driver }: Call, change: number): void {
    this.#running += change;
    add(this.#ofDriver, driver, change);
    add(this.#ofNamespace, namespace, change);
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
