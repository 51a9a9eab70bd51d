/**
 * Alerts and dashboard read metrics and labels that the controller has, and every alert has its page in `docs/runbooks`. What the
 * rules do is tested with Prometheus' own tool (`test/e2e/alerts.e2e.ts`).
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { suite, test } from "node:test";

import { DASHBOARD } from "../../build/chart-files.ts";
import { renderDashboard } from "../../build/grafana-dashboard.ts";
import { registeredMetrics, type RegisteredMetric } from "../../src/controller/metric-docs.ts";
import { readAlerts } from "../support/alerts.ts";
import { partsOf } from "../support/promql.ts";

const RUNBOOKS = resolve(import.meta.dirname, "../../docs/runbooks");
const HEADINGS = ["What it means", "How to look", "What to do"];
const BY_NAME = new Map(Object.values(registeredMetrics()).flatMap((group) => group.flatMap(seriesOf)));

test("the dashboard is the one that its table makes (npm run chart)", () => {
  assert.deepEqual(JSON.parse(readFileSync(DASHBOARD, "utf8")), JSON.parse(renderDashboard()));
});

suite("queries of the dashboard", () => {
  const { panels } = JSON.parse(renderDashboard()) as {
    panels: { title: string; targets?: { expr: string; legendFormat: string }[] }[];
  };
  for (const { title, targets = [] } of panels)
    for (const { expr, legendFormat } of targets) {
      test(`${title}: ${expr}`, () => {
        checkQuery(expr.replaceAll("$__rate_interval", "5m"));
        const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].flatMap(([, label]) => label ?? []);
        assert.deepEqual(
          shown.filter((label) => !partsOf(expr.replaceAll("$__rate_interval", "5m")).labels.includes(label)),
          [],
          "labels of the legend that the query does not keep",
        );
      });
    }
});

suite("alerts", () => {
  for (const { alert, expr, annotations } of readAlerts()) {
    test(alert, () => {
      checkQuery(expr);
      assert.equal(annotations["runbook_url"], `docs/runbooks/${alert}.md`);
      const page = readFileSync(join(RUNBOOKS, `${alert}.md`), "utf8");
      const titles = [...page.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title);
      assert.deepEqual(titles, [alert, ...HEADINGS]);
    });
  }

  test("no page is without its alert", () => {
    const pages = readdirSync(RUNBOOKS).map((file) => file.replace(".md", ""));
    assert.deepEqual(
      pages.toSorted(),
      readAlerts()
        .map(({ alert }) => alert)
        .toSorted(),
    );
  });
});

test("a metric or a label that does not exist is found", () => {
  assert.throws(() => checkQuery("sum(azlb_service)"), /azlb_service is no metric/);
  assert.throws(() => checkQuery('sum(azlb_services{stat="refused"})'), /no label stat/);
  assert.throws(() => checkQuery("sum(azlb_services"), /not understood/);
});

function checkQuery(query: string): void {
  const { metrics, labels } = partsOf(query);
  assert.ok(metrics.length > 0, `${query} reads no metric`);
  const known = metrics.flatMap((metric) => {
    const names = BY_NAME.get(metric);
    assert.ok(names !== undefined, `${query}: ${metric} is no metric of the controller`);
    return names;
  });
  for (const label of labels) assert.ok(known.includes(label), `${query}: ${metrics.join(", ")} has no label ${label}`);
}

/** Names under which a metric is served, with its labels. */
function seriesOf({ name, type, labelNames = [] }: RegisteredMetric): [string, readonly string[]][] {
  if (String(type) !== "histogram") return [[name, labelNames]];
  return [
    [`${name}_bucket`, [...labelNames, "le"]],
    [`${name}_sum`, labelNames],
    [`${name}_count`, labelNames],
  ];
}
