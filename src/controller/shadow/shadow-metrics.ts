/** What the shadow counts, beside what every controller process counts. */
import { Counter, Gauge, type Registry } from "prom-client";

import { KNOWN_DIFFERENCES } from "../../core/shadow/known-differences.ts";
import { type JudgedFinding, VERDICTS, type Verdict } from "../../core/shadow/shadow-report.ts";

const UNEXPLAINED = "none";

export class ShadowMetrics {
  readonly #services: Gauge<"would">;
  readonly #changes: Counter<"verdict">;
  readonly #differences: Gauge<"known">;
  readonly looks: Counter<"outcome">;
  readonly #lookedAt: Gauge;

  static registerIn(registry: Registry): ShadowMetrics {
    return new ShadowMetrics(registry);
  }

  private constructor(registry: Registry) {
    const registers = [registry];
    this.#services = new Gauge({
      name: "azlb_shadow_services",
      help: "Services by whether azlb would write for them: nothing; something; what it expects of the incumbent, too (expected); refused or not to be looked at (other).",
      labelNames: ["would"],
      registers,
    });
    this.#changes = new Counter({
      name: "azlb_shadow_changes_total",
      help: "Changes of the incumbent, by how Azure compared with the prediction: agreed, explained by known differences, differed, unsettled.",
      labelNames: ["verdict"],
      registers,
    });
    this.#differences = new Gauge({
      name: "azlb_shadow_differences",
      help: "What azlb would write now, by the known difference that explains it (none: unexplained).",
      labelNames: ["known"],
      registers,
    });
    this.looks = new Counter({
      name: "azlb_shadow_looks_total",
      help: "Reads of Azure's state: done, failed, or given up because Azure throttles.",
      labelNames: ["outcome"],
      registers,
    });
    this.#lookedAt = new Gauge({
      name: "azlb_shadow_last_look_timestamp_seconds",
      help: "When Azure's state was last read, in seconds since 1970.",
      registers,
    });
    for (const verdict of VERDICTS) this.#changes.inc({ verdict }, 0);
  }

  scored(verdict: Verdict): void {
    this.#changes.inc({ verdict });
  }

  looked(nowMs: number): void {
    this.looks.inc({ outcome: "done" });
    this.#lookedAt.set(nowMs / 1000);
  }

  set(services: Readonly<Record<"nothing" | "something" | "expected" | "other", number>>): void {
    for (const [would, count] of Object.entries(services)) this.#services.set({ would }, count);
  }

  differ(findings: readonly JudgedFinding[]): void {
    for (const known of [...KNOWN_DIFFERENCES.map(({ id }) => id), UNEXPLAINED]) {
      const count = findings.filter((finding) => (finding.known?.id ?? UNEXPLAINED) === known).length;
      this.#differences.set({ known }, count);
    }
  }
}
