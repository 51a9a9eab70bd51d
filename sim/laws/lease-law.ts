/** A process that does not hold the lease sends nothing but reads and the calls of the leader election. */
import type { OutgoingCall } from "../network/network.ts";
import type { Law, Report } from "./law.ts";

export class LeaseLaw implements Law {
  readonly #report: Report;
  readonly #holder: () => string | undefined;
  readonly #isElected: (process: string) => boolean;

  constructor(report: Report, holder: () => string | undefined, isElected: (process: string) => boolean) {
    this.#report = report;
    this.#holder = holder;
    this.#isElected = isElected;
  }

  onSend({ process, call, what }: OutgoingCall): void {
    if (call !== "write" || !this.#isElected(process.name)) return;
    const holder = this.#holder();
    if (holder !== process.name)
      this.#report("lease", `${process.name} sent ${what} while ${holder || "no process"} holds the lease`);
  }
}
