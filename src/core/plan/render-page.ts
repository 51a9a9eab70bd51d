/**
 * A plan as one page to hand around: summary, a row for each Service, and every write with its differences. It loads
 * nothing, runs no script, and everything in it is escaped: names and annotations are chosen by users.
 */
import type { PlanReport, ServiceEntry } from "./plan-report.ts";
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

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1b1f24; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #d8dee4; }
pre { background: #f6f8fa; padding: .8rem; overflow-x: auto; font-size: 13px; }
.stop, .moves, .goes, .loses, .destructive { color: #b3261e; }
.refused, .unreadable { color: #8a5a00; }
summary { cursor: pointer; }
`;

export function renderPage({ changes, steps, drift, home, report }: PagePlan, title: string): string {
  const details = (list: readonly PlannedStep[]): string => list.map((step) => stepDetails(step, home)).join("\n");
  const destructive = steps.filter((step) => step.destructive);
  const others = steps.filter((step) => !step.destructive);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escape(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escape(title)}</h1>
${changes.map(({ message }) => `<p class="stop">refused: ${escape(message)}</p>`).join("\n")}
<p><strong>${escape(summaryText(report.summary))}</strong></p>
${report.entries.length === 0 ? "<p>Nothing to do for any Service.</p>" : entryTable(report.entries)}
${destructive.length > 0 ? `<h2>Writes that take something away</h2>\n${details(destructive)}` : ""}
${others.length > 0 ? `<h2>Writes</h2>\n${details(others)}` : ""}
${drift.length > 0 ? `<h2>Left as found by the drift policy</h2>\n${details(drift)}` : ""}
</body>
</html>
`;
}

function entryTable(entries: readonly ServiceEntry[]): string {
  const rows = entries.map(
    (entry) =>
      `<tr class="${entry.outlook}"><td>${escape(entry.service)}</td><td>${escape(entryText(entry))}</td></tr>`,
  );
  return `<table>\n<tr><th>Service</th><th>What awaits it</th></tr>\n${rows.join("\n")}\n</table>`;
}

function stepDetails(step: PlannedStep, home: string): string {
  const heading = `${step.verb} ${resourceText(step.id, home)}`;
  const mark = step.destructive ? ' class="destructive"' : "";
  return `<details><summary${mark}>${escape(heading)}</summary><pre>${escape(renderStep(step, home))}</pre></details>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
