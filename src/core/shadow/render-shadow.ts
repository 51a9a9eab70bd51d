/** The report of the shadow as text, and as one page to hand around. */
import { escapeHtml, pageOf } from "../plan/page.ts";
import { entryText, summaryText } from "../plan/render-report.ts";
import { resourceText, withShortIds } from "../plan/resource-text.ts";
import { pluralize } from "../util/text.ts";
import { type JudgedFinding, type KnownText, type ScoredChange, type ShadowReport, VERDICTS } from "./shadow-report.ts";

/** Lines of a list in the text; the page and the JSON have all. */
const MOST_LINES = 20;
const LONGEST_VALUE = 120;

export function renderShadow(report: ShadowReport): string {
  const { clusterName, since, lookedAt, problem, refusedSettings, entries, services } = report;
  const quiet = services - entries.length - (report.pending?.entries.length ?? 0);
  return [
    `Shadow of cluster ${clusterName} since ${since}; Azure last read ${lookedAt ?? "never"}, ${pluralize(report.reads, "read")}`,
    ...(problem === undefined ? [] : [`! ${problem}`]),
    ...refusedSettings.map((message) => `refused: ${message}`),
    "",
    `azlb would write nothing for ${quiet} of ${pluralize(services, "Service")}`,
    ...some(entries.map((entry) => `  ${entry.service}  ${entryText(entry)}`)),
    ...some(report.findings.map((finding) => `  ${findingText(finding, report.home)}`)),
    "",
    ...pendingLines(report),
    changesText(report),
    ...some(
      report.recent.filter(({ verdict }) => verdict !== "agreed").map((change) => changeText(change, report.home)),
    ),
    ...knownLines(report),
    "",
  ].join("\n");
}

/** The change that is under way. */
function pendingLines({ pending, home }: ShadowReport): string[] {
  if (pending === null) return [];
  const entries = pending.entries.map((entry) => `  ${entry.service}  ${entryText(entry)}`);
  const findings = pending.findings.map((finding) => `  ${whereText(finding, home)}`);
  return [`Under way since ${pending.since}, and expected of the incumbent:`, ...some([...entries, ...findings]), ""];
}

function changesText({ changes }: ShadowReport): string {
  const total = VERDICTS.reduce((sum, verdict) => sum + changes[verdict], 0);
  const { agreed, explained, differed, unsettled } = changes;
  return [
    `${pluralize(total, "change")} of the incumbent: ${agreed} as predicted`,
    `${explained} explained by known differences`,
    `${differed} different`,
    ...(unsettled > 0 ? [`${unsettled} not scored, since Azure was never still`] : []),
  ].join(", ");
}

function changeText({ at, verdict, services, findings }: ScoredChange, home: string): string {
  const lines = findings.map((finding) => `    ${findingText(finding, home)}`);
  return [`  ${at} ${verdict}: ${services.join(", ") || "pools"}`, ...some(lines)].join("\n");
}

/** With the id of the known difference. */
export function findingText(finding: JudgedFinding, home: string): string {
  const { kind, path, expected, found, known } = finding;
  const values = `: azlb would write ${valueText(expected, home)}, there is ${valueText(found, home)}`;
  const text = `${WORDS[kind]}: ${whereText(finding, home)}${kind === "field" && path !== "" ? values : ""}`;
  return `${text} [${known?.id ?? "UNEXPLAINED"}]`;
}

function whereText({ resourceId, path }: Pick<JudgedFinding, "resourceId" | "path">, home: string): string {
  return `${resourceText(resourceId, home)}${path === "" ? "" : `, ${path}`}`;
}

const WORDS: Readonly<Record<JudgedFinding["kind"], string>> = {
  missing: "azlb has it, the incumbent does not",
  extra: "the incumbent has it, azlb does not",
  field: "azlb would write",
};

function valueText(value: unknown, home: string): string {
  if (value === undefined) return "nothing";
  const text = withShortIds(JSON.stringify(value), home);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

function some(lines: readonly string[]): string[] {
  const rest = lines.length - MOST_LINES;
  return rest <= 0 ? [...lines] : [...lines.slice(0, MOST_LINES), `  … and ${rest} more; -o json has all`];
}

function knownOf({ findings, recent }: ShadowReport): KnownText[] {
  const all = [...findings, ...recent.flatMap((change) => change.findings)].flatMap(({ known }) => known ?? []);
  return [...new Map(all.map((known) => [known.id, known])).values()];
}

function knownLines(report: ShadowReport): string[] {
  const known = knownOf(report);
  if (known.length === 0) return [];
  const lines = known.map(({ id, incumbent, azlb, why }) => `  [${id}] incumbent: ${incumbent}; azlb: ${azlb}; ${why}`);
  return ["", "Known differences (docs/differences.md):", ...lines];
}

export function renderShadowPage(report: ShadowReport): string {
  const { clusterName, refusedSettings, entries, services, summary, home, recent } = report;
  const list = (texts: readonly string[]): string =>
    texts.length === 0 ? "" : `<ul>${texts.map((text) => `<li>${escapeHtml(text)}</li>`).join("\n")}</ul>`;
  const rows = recent.map(
    (change) =>
      `<tr class="${change.verdict}"><td>${escapeHtml(change.at)}</td><td>${change.verdict}</td>` +
      `<td>${escapeHtml(change.services.join(", ") || "pools")}</td>` +
      `<td>${list(change.findings.map((finding) => findingText(finding, home)))}</td></tr>`,
  );
  return pageOf(
    `azlb shadow of cluster ${clusterName}`,
    [
      ...refusedSettings.map((message) => `<p class="stop">refused: ${escapeHtml(message)}</p>`),
      `<p>Since ${escapeHtml(report.since)}; Azure last read ${escapeHtml(report.lookedAt ?? "never")}.</p>`,
      `<h2>What azlb would write now</h2>`,
      `<p><strong>Nothing for ${services - entries.length - (report.pending?.entries.length ?? 0)} of ${pluralize(services, "Service")}</strong>; ${escapeHtml(summaryText(summary))}</p>`,
      list(entries.map((entry) => `${entry.service}: ${entryText(entry)}`)),
      list(report.findings.map((finding) => findingText(finding, home))),
      ...(report.pending === null ? [] : [`<h2>Under way</h2>`, list(pendingLines(report))]),
      `<h2>Changes of the incumbent</h2>`,
      `<p><strong>${escapeHtml(changesText(report))}</strong></p>`,
      rows.length === 0
        ? ""
        : `<table><tr><th>At</th><th>Verdict</th><th>Services</th><th>Differences</th></tr>\n${rows.join("\n")}\n</table>`,
      list(
        knownOf(report).map(({ id, incumbent, azlb, why }) => `${id}: incumbent: ${incumbent}; azlb: ${azlb}; ${why}`),
      ),
    ].join("\n"),
  );
}
