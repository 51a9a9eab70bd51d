/**
 * What the shadow of the incumbent has found: what azlb would write now, and how each change of the incumbent compared with
 * its prediction. Plain data, as it is served, printed and counted.
 */
import type { PlanSummary, ServiceEntry } from "../plan/plan-report.ts";
import type { Finding } from "./findings.ts";
import { explain, type ChangeContext } from "./known-differences.ts";

/** A finding with the known difference that explains it. */
export interface JudgedFinding extends Finding {
  /** Its id, what the two controllers do, and why. */
  readonly known?: KnownText;
}

export interface KnownText {
  readonly id: string;
  readonly incumbent: string;
  readonly azlb: string;
  readonly why: string;
}

export const VERDICTS = ["agreed", "explained", "differed", "unsettled"] as const;
/** `explained`: it differs, and known differences explain all of it. `unsettled`: Azure was never still. */
export type Verdict = (typeof VERDICTS)[number];

export interface ScoredChange {
  /** When it was over, RFC 3339. */
  readonly at: string;
  readonly verdict: Verdict;
  /** Services that it is about, `namespace/name`, sorted; none where it is about pools alone. */
  readonly services: readonly string[];
  /** What differed, at most some. */
  readonly findings: readonly JudgedFinding[];
}

export interface ShadowReport {
  readonly clusterName: string;
  /** The cluster's resource group. */
  readonly home: string;
  readonly since: string;
  /** When Azure was last read; `null`: not yet. */
  readonly lookedAt: string | null;
  /** Why the last look failed, or what it waits for. */
  readonly problem?: string;
  /** Settings that differ from what published Services have in Azure: azlb would not start. */
  readonly refusedSettings: readonly string[];
  /** Services with a load balancer. */
  readonly services: number;
  /** Of these, those for which azlb would write something, is refused, or could not be looked at. */
  readonly entries: readonly ServiceEntry[];
  readonly summary: PlanSummary;
  /** What azlb would write to Azure now, with the known differences. */
  readonly findings: readonly JudgedFinding[];
  /** The change that is under way: what azlb would write for it, and expects of the incumbent. `null`: none is. */
  readonly pending: {
    readonly since: string;
    readonly entries: readonly ServiceEntry[];
    readonly findings: readonly Finding[];
  } | null;
  readonly changes: Readonly<Record<Verdict, number>>;
  /** By Service. */
  readonly scores: Readonly<Record<string, Readonly<Record<Verdict, number>>>>;
  /** The newest first. */
  readonly recent: readonly ScoredChange[];
  readonly reads: number;
}

export const NO_VERDICTS: Readonly<Record<Verdict, number>> = { agreed: 0, explained: 0, differed: 0, unsettled: 0 };

export function judged(findings: readonly Finding[], context: ChangeContext): JudgedFinding[] {
  return findings.map((finding) => {
    const known = explain(finding, context);
    if (known === undefined) return finding;
    const { explains: _, ...text } = known;
    return { ...finding, known: text };
  });
}

/** Of a change that is over. */
export function verdictOf(findings: readonly JudgedFinding[]): Verdict {
  if (findings.length === 0) return "agreed";
  return findings.every(({ known }) => known !== undefined) ? "explained" : "differed";
}

/** Of one Service in a change: its own findings count, and those that are of no Service in particular. */
export function verdictFor(service: string, { verdict, findings }: ScoredChange): Verdict {
  if (verdict === "unsettled") return verdict;
  return verdictOf(findings.filter((finding) => (finding.service ?? service) === service));
}
