/** Nothing leaves a process while another one holds the lease, but reads and what the election itself asks. */
import type { Leaving } from "../network/network.ts";
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

  onSend({ process, call, what }: Leaving): void {
    if (call !== "write" || !this.#isElected(process.name)) return;
    const holder = this.#holder();
    if (holder !== process.name)
      this.#report("lease", `${process.name} sent ${what} while ${holder || "nobody"} holds the lease`);
  }
}
