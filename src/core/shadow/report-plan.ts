/** The part of the shadow's report that is about now: what azlb would write, and what it expects of the incumbent. */
import { serviceKey } from "../model/kubernetes.ts";
import type { Observed } from "../observed.ts";
import type { ClusterPlan } from "../plan/plan-cluster.ts";
import { reportPlan, type ServiceEntry, type Unreadable } from "../plan/plan-report.ts";
import {
  changedServices,
  contextOf,
  type Prediction,
  type Present,
  type ShownPlan,
  type StateBefore,
  wouldWrite,
} from "./change.ts";
import { identityOf } from "./findings.ts";
import { judged, type KnownText, type ShadowReport } from "./shadow-report.ts";

export interface ReportedPlan extends ShownPlan, ClusterPlan {
  readonly before: readonly Observed[];
  readonly unreadable: readonly Unreadable[];
}

export interface PlanState {
  readonly before: StateBefore;
  readonly prediction: Prediction<ReportedPlan>;
  readonly present: Present;
  /** Since when a change is under way, RFC 3339; `undefined`: none is. */
  readonly openSince: string | undefined;
  /** Of what stands, by its identity: how it was explained when it was scored. */
  readonly explained: ReadonlyMap<string, KnownText | undefined>;
}

type PlanPart = Pick<ShadowReport, "services" | "entries" | "summary" | "findings" | "pending">;

export function reportShadowPlan({ before, prediction, present, openSince, explained }: PlanState): PlanPart {
  const { plan } = prediction;
  const { entries, summary } = reportPlan({ ...plan, drift: { services: [], steps: [] } });
  const changing = new Set(openSince === undefined ? [] : changedServices(before, plan.services));
  const isPending = ({ service, outlook }: ServiceEntry): boolean =>
    changing.has(service) && outlook !== "refused" && outlook !== "unreadable";
  const standing = wouldWrite(before, prediction, present).filter((one) => before.standing.has(identityOf(one)));
  const concerned = new Set(plan.services.map(serviceKey));
  const context = { ...contextOf(before, [plan], present), concerned, isUntouched: false };
  return {
    services: plan.before.length + plan.unreadable.length,
    entries: entries.filter((entry) => !isPending(entry)),
    summary,
    findings: judged(standing, context).map((finding) => {
      const known = explained.get(identityOf(finding)) ?? finding.known;
      return { ...finding, ...(known && { known }) };
    }),
    pending:
      openSince === undefined
        ? null
        : { since: openSince, entries: entries.filter(isPending), findings: prediction.expected },
  };
}

const NO_PLAN: ReportedPlan = {
  steps: [],
  ends: new Map(),
  before: [],
  after: [],
  placeholders: new Set(),
  losses: [],
  withheld: { services: [], members: [] },
  unreadable: [],
  services: [],
};

/** Before the first look. */
export const NO_PREDICTION: Prediction<ReportedPlan> = { plan: NO_PLAN, parts: new Map(), expected: [], text: "" };
export const NO_STATE: StateBefore = {
  remembered: new Map(),
  parts: new Map(),
  versions: "",
  nodes: [],
  standing: new Set(),
};
