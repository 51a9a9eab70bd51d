/**
 * A plan as one page to hand around: summary, a row for each Service, and every write with its differences. It loads
 * nothing, runs no script, and everything in it is escaped: names and annotations are chosen by users.
 */
import type { PlanReport, ServiceEntry } from "./plan-report.ts";
import { escapeHtml, pageOf } from "./page.ts";
import { type PlannedStep, renderStep } from "./render-plan.ts";
import { entryText, summaryText } from "./render-report.ts";
import { resourceText } from "./resource-text.ts";

export interface PagePlan {
  /** Settings that keep the controller from its work. */
  readonly changes: readonly { readonly message: string }[];
  readonly steps: readonly PlannedStep[];
  readonly drift: readonly PlannedStep[];
  /** The cluster's resource group, which goes without saying. */
  readonly home: string;
  readonly report: PlanReport;
}

export function renderPage({ changes, steps, drift, home, report }: PagePlan, title: string): string {
  const details = (list: readonly PlannedStep[]): string => list.map((step) => stepDetails(step, home)).join("\n");
  const destructive = steps.filter((step) => step.destructive);
  const others = steps.filter((step) => !step.destructive);
  const body = `${changes.map(({ message }) => `<p class="stop">refused: ${escapeHtml(message)}</p>`).join("\n")}
<p><strong>${escapeHtml(summaryText(report.summary))}</strong></p>
${report.entries.length === 0 ? "<p>Nothing to do for any Service.</p>" : entryTable(report.entries)}
${destructive.length > 0 ? `<h2>Writes that take something away</h2>\n${details(destructive)}` : ""}
${others.length > 0 ? `<h2>Writes</h2>\n${details(others)}` : ""}
${drift.length > 0 ? `<h2>Left as found by the drift policy</h2>\n${details(drift)}` : ""}`;
  return pageOf(title, body);
}

function entryTable(entries: readonly ServiceEntry[]): string {
  const rows = entries.map(
    (entry) =>
      `<tr class="${entry.outlook}"><td>${escapeHtml(entry.service)}</td><td>${escapeHtml(entryText(entry))}</td></tr>`,
  );
  return `<table>\n<tr><th>Service</th><th>What awaits it</th></tr>\n${rows.join("\n")}\n</table>`;
}

function stepDetails(step: PlannedStep, home: string): string {
  const heading = `${step.verb} ${resourceText(step.id, home)}`;
  const mark = step.destructive ? ' class="destructive"' : "";
  return `<details><summary${mark}>${escapeHtml(heading)}</summary><pre>${escapeHtml(renderStep(step, home))}</pre></details>`;
}
