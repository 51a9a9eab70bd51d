/**
 * `npm run chart`: makes the Grafana dashboard, and copies what the chart installs as it is in `deploy` into its folder, since
 * Helm reads no file outside of it. Manifests and alert rules are edited in `deploy`; `test/structure/chart.test.ts` compares.
 */
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { renderDashboard } from "./grafana-dashboard.ts";

const DEPLOY = resolve(import.meta.dirname, "../deploy");
const FOLDERS = ["crds", "monitoring", "policies"];
/** kubectl's alone, what the chart makes itself, and what is for Azure. */
const NOT_COPIED = new Set(["kustomization.yaml", "deployment.yaml", "shadow.yaml", "azure-role.json"]);

export const CHART_FILES = join(DEPLOY, "chart/files");
export const DASHBOARD = join(DEPLOY, "monitoring/dashboard.json");

/** Relative to `deploy`. */
export function copiedManifests(): readonly string[] {
  const listed = ["", ...FOLDERS].flatMap((folder) =>
    readdirSync(join(DEPLOY, folder))
      .filter((file) => /\.(yaml|json)$/.test(file) && !NOT_COPIED.has(file))
      .map((file) => join(folder, file)),
  );
  return listed.toSorted();
}

if (import.meta.main) {
  writeFileSync(DASHBOARD, renderDashboard());
  rmSync(CHART_FILES, { recursive: true, force: true });
  for (const file of copiedManifests()) cpSync(join(DEPLOY, file), join(CHART_FILES, file));
}
