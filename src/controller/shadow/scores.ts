/** The verdicts so far: in all, by Service, and the newest changes. Bounded, whatever the cluster does. */
import { NO_VERDICTS, type ScoredChange, type Verdict, verdictFor } from "../../core/shadow/shadow-report.ts";

const MOST_RECENT = 100;
const MOST_SERVICES = 10_000;
const MOST_FINDINGS = 50;

type Counts = Readonly<Record<Verdict, number>>;

export class Scores {
  #changes: Counts = NO_VERDICTS;
  /** The Service whose last change is the oldest comes first. */
  readonly #byService = new Map<string, Counts>();
  readonly #recent: ScoredChange[] = [];

  add(change: ScoredChange): void {
    this.#changes = plus(this.#changes, change.verdict);
    for (const service of change.services) {
      const counts = this.#byService.get(service) ?? NO_VERDICTS;
      this.#byService.delete(service);
      this.#byService.set(service, plus(counts, verdictFor(service, change)));
    }
    for (const oldest of this.#byService.keys()) {
      if (this.#byService.size <= MOST_SERVICES) break;
      this.#byService.delete(oldest);
    }
    this.#recent.unshift({ ...change, findings: change.findings.slice(0, MOST_FINDINGS) });
    this.#recent.splice(MOST_RECENT);
  }

  get changes(): Counts {
    return this.#changes;
  }

  get byService(): Readonly<Record<string, Counts>> {
    return Object.fromEntries([...this.#byService].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** The newest first. */
  get recent(): readonly ScoredChange[] {
    return [...this.#recent];
  }
}

function plus(counts: Counts, verdict: Verdict): Counts {
  return { ...counts, [verdict]: counts[verdict] + 1 };
}
