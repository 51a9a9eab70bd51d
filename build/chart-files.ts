/**
 * `npm run chart`: copies the manifests of `deploy` that the chart installs as they are into its folder, since Helm reads no
 * file outside of it. The manifests are edited in `deploy`; `test/structure/chart.test.ts` compares.
 */
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const DEPLOY = resolve(import.meta.dirname, "../deploy");
const FOLDERS = ["crds", "policies"];
/** kubectl's alone; and what the chart makes itself. */
const NOT_COPIED = new Set(["kustomization.yaml", "deployment.yaml"]);

export const CHART_FILES = join(DEPLOY, "chart/files");

/** Relative to `deploy`. */
export function copiedManifests(): readonly string[] {
  const listed = ["", ...FOLDERS].flatMap((folder) =>
    readdirSync(join(DEPLOY, folder))
      .filter((file) => file.endsWith(".yaml") && !NOT_COPIED.has(file))
      .map((file) => join(folder, file)),
  );
  return listed.toSorted();
}

if (import.meta.main) {
  rmSync(CHART_FILES, { recursive: true, force: true });
  for (const file of copiedManifests()) cpSync(join(DEPLOY, file), join(CHART_FILES, file));
}
