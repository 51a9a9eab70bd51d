/**
 * A plan on one screen: a line for each Service that is not settled, then a summary. Where there are more than fit, like
 * lines are collapsed into the first of them and a count.
 */
import { pluralize } from "../util/text.ts";
import { lostOf, type PlanReport, type PlanSummary, type ServiceEntry } from "./plan-report.ts";
import type { PlannedStep } from "./render-plan.ts";
import { resourceText } from "./resource-text.ts";

/** Fit on a screen, with what stands around them. */
const MOST_LINES = 24;
/** Of like lines, where they are collapsed: as many as fit. */
const SHOWN = [3, 2, 1] as const;

const MARKS: Readonly<Record<ServiceEntry["outlook"], string>> = {
  moves: "!",
  goes: "-",
  loses: "!",
  refused: "x",
  unreadable: "?",
  changes: "~",
  new: "+",
  waits: ".",
  drifted: "=",
};

interface Line {
  readonly mark: string;
  readonly subject: string;
  readonly text: string;
  /** Equal for like lines. */
  readonly group: string;
}

/** `home`: the cluster's resource group, which goes without saying. */
export function renderReport(report: PlanReport, steps: readonly PlannedStep[], home: string): string {
  const lines = [...report.entries.map(entryLine), ...clusterLines(steps, home)];
  if (lines.length === 0) return "Nothing to do.\n";
  const width = Math.min(40, Math.max(...lines.map(({ subject }) => subject.length)));
  const shown = lines.length <= MOST_LINES ? lines : collapse(lines);
  const text = shown.map(({ mark, subject, text: what }) => `${mark} ${subject.padEnd(width)}  ${what}`.trimEnd());
  return [...text, "", summaryText(report.summary), ""].join("\n");
}

function entryLine(entry: ServiceEntry): Line {
  const group = [entry.outlook, entry.message?.split(":")[0] ?? "", entry.writes].join("|");
  return { mark: MARKS[entry.outlook], subject: entry.service, text: entryText(entry), group };
}

/** What awaits a Service, without its name. */
export function entryText(entry: ServiceEntry): string {
  const { outlook, before, after, writes, message } = entry;
  const then = writes === "" ? "" : `: ${writes}`;
  switch (outlook) {
    case "moves":
      return `ADDRESS CHANGES, ${before.join(", ")} -> ${after.join(", ") || "none"}${then}`;
    case "goes":
      return `goes${lostOf(entry).length > 0 ? `, no longer at ${lostOf(entry).join(", ")}` : ""}${then}`;
    case "loses":
      return `LOSES a part of what it has, its address stays${then}`;
    case "refused":
      return `refused, ${message}`;
    case "unreadable":
      return `cannot be looked at, ${message}`;
    case "changes":
      return writes === "" ? "changes in Kubernetes only" : `changes${then}`;
    case "new":
      return `new, at ${after.join(", ") || "no address yet"}${then}`;
    case "waits":
      return `waits, ${message}`;
    case "drifted":
      return `differs in Azure and is left so by the drift policy; to repair it${then}`;
  }
}

/** What is written for no Service in particular: pools. */
function clusterLines(steps: readonly PlannedStep[], home: string): Line[] {
  const own = steps.filter(({ owners, verb }) => owners.length === 0 && verb !== "patch");
  return [...new Map(own.map((step) => [step.id.toLowerCase(), step])).values()].map((step) => ({
    mark: step.destructive ? "!" : "~",
    subject: resourceText(step.id, home),
    text: step.why,
    group: `cluster|${step.verb}|${step.destructive}`,
  }));
}

function collapse(lines: readonly Line[]): readonly Line[] {
  const groups = [...Map.groupBy(lines, ({ group }) => group).values()];
  const tries = SHOWN.map((shown) => groups.flatMap((alike) => firstOf(alike, shown)));
  return tries.find(({ length }) => length <= MOST_LINES) ?? tries.at(-1) ?? lines;
}

function firstOf(alike: readonly Line[], shown: number): readonly Line[] {
  const rest = alike.length - shown;
  if (rest <= 1) return alike;
  const text = `… and ${rest} more like this; --details lists them`;
  return [...alike.slice(0, shown), { mark: " ", subject: text, text: "", group: "" }];
}

/** `200 public IPs to create, 1 load balancer and 1 security group to update, 0 addresses change, 12 refused`. */
export function summaryText(summary: PlanSummary): string {
  const resources = (["delete", "create", "update"] as const).flatMap((verb) => {
    const counts = Object.entries(summary[verb]).map(([noun, count]) => pluralize(count, noun));
    return counts.length === 0 ? [] : [`${joined(counts)} to ${verb === "update" ? "change" : verb}`];
  });
  const more: readonly (readonly [number, string])[] = [
    [summary.addressesGo, `${addresses(summary.addressesGo)} with Services that go`],
    [summary.unreadable, `${summary.unreadable} cannot be looked at`],
    [summary.drifted, `${pluralize(summary.drifted, "Service")} left as found by the drift policy`],
  ];
  const change = summary.addressesChange;
  return [
    ...(resources.length === 0 ? ["no Azure resource to write"] : resources),
    `${addresses(change)} ${change === 1 ? "changes" : "change"}`,
    `${summary.refused} refused`,
    ...more.flatMap(([count, text]) => (count > 0 ? [text] : [])),
    ...(summary.settled > 0 ? [`${pluralize(summary.settled, "Service")} unchanged`] : []),
  ].join(", ");
}

function addresses(count: number): string {
  return count === 1 ? "1 address" : `${count} addresses`;
}

function joined(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}
