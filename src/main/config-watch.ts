/**
 * Looks whether the cloud config has changed since the process started. A change that can be applied ends the process in good
 * order, so that it is started anew with it; any other is reported, and what is in force stays. A file is believed once two
 * looks in a row found the same: it may be read while it is written. Credentials are no part of this: they are read again for
 * each sign-in (`azure-access.ts`).
 */
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import { liveChange, type LiveChange } from "../core/guard/live-change.ts";
import type { Clock } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import { CloudConfigError } from "./load-cloud-config.ts";

export interface ConfigWatchOptions {
  readonly inForce: ClusterConfig;
  /** Throws `CloudConfigError` where it is invalid. */
  readonly load: () => Promise<ClusterConfig>;
  readonly clock: Clock;
  readonly log: Log;
  readonly periodMs: number;
  /** A change can be applied: by a new start. */
  readonly onChange: () => void;
  /** The config that is there is not the one in force; `undefined`: it is again. */
  readonly onProblem: (problem: string | undefined) => void;
}

export class ConfigWatch {
  readonly #options: ConfigWatchOptions;
  /** Of the last look, as text. */
  #last: string | undefined;
  #problem: string | undefined;

  constructor(options: ConfigWatchOptions) {
    this.#options = options;
  }

  /** Why the config that is there is not in force; `undefined` where it is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Until the signal is aborted, or a change can be applied. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, periodMs, onChange, log } = this.#options;
    for (;;) {
      await clock.sleep(periodMs, signal).catch(() => {});
      if (signal.aborted) return;
      const change = await this.#look();
      if (change?.kind === "apply") {
        log.info(
          `the cloud config has changed (${change.settings.join(", ")}): this process ends, to be started with it`,
        );
        return onChange();
      }
      if (change !== undefined) this.#report(change.kind === "refuse" ? change.message : undefined);
    }
  }

  /** `undefined`: nothing is known, or the look before found something else. */
  async #look(): Promise<LiveChange | undefined> {
    const change = await this.#read();
    const text = change && JSON.stringify(change);
    const isConfirmed = text === this.#last;
    this.#last = text;
    return isConfirmed ? change : undefined;
  }

  async #read(): Promise<LiveChange | undefined> {
    const { load, inForce } = this.#options;
    try {
      return liveChange(inForce, await load());
    } catch (error) {
      // a Secret that cannot be read for now says nothing about the config
      return error instanceof CloudConfigError ? { kind: "refuse", message: error.message } : undefined;
    }
  }

  #report(problem: string | undefined): void {
    const { log, onProblem } = this.#options;
    if (problem === this.#problem) return;
    this.#problem = problem;
    onProblem(problem);
    if (problem === undefined) log.info("the cloud config is again the one in force");
    else log.error(`the cloud config has changed and is not applied; the one before stays in force: ${problem}`);
  }
}
