/** Walks the tour on one cluster and brings back what each step said, made comparable between clusters. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Step } from "./steps.ts";

export interface Outcome {
  readonly code: number | null;
  /** What it wrote, both streams, with all that must differ replaced by a word for it. */
  readonly said: string;
}

const STEP_LIMIT_MS = 120_000;

/** Outcomes by title. A step that fails does not end the walk: the comparison says what it means. */
export async function walk(
  steps: readonly Step[],
  cluster: { kubeconfig: string; url: string },
  kubectl: string,
): Promise<ReadonlyMap<string, Outcome>> {
  const folder = mkdtempSync(join(tmpdir(), "azlb-tour-"));
  symlinkSync(kubectl, join(folder, "kubectl"));
  const env = {
    PATH: `${folder}:${process.env["PATH"]}`,
    HOME: folder, // its caches are this cluster's own
    KUBECONFIG: cluster.kubeconfig,
    TOUR: import.meta.dirname,
    LC_ALL: "C",
  };
  const outcomes = new Map<string, Outcome>();
  try {
    for (const step of steps) {
      const { code, said } = await runScript(step.script, folder, env);
      outcomes.set(step.title, { code, said: comparable(said.replaceAll(cluster.url, "<server>")) });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return outcomes;
}

/** Both streams go through one pipe: read from two, their order would be chance. */
function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  const child = spawn("sh", ["-c", `exec 2>&1\n${script}`], { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  const limit = setTimeout(() => {
    child.kill("SIGKILL");
    child.stdout.destroy(); // what it left behind may hold it open
  }, STEP_LIMIT_MS);
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  return new Promise<Outcome>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, said }));
  }).finally(() => clearTimeout(limit));
}

/** What differs between two runs that behave alike: identities, versions, times, ages, and column widths. */
const DIFFERS: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  [/(resourceVersion"?: ")\d+/g, "$1<version>"],
  [/(Resource Version: +)\d+/g, "$1<version>"],
  [/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>"],
  [/\w{3}, \d\d \w{3} 20\d\d \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [/(?<=[\s(])(\d+y)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(?<=\d[ydhms])(?=[\s)]|$)/gm, "<age>"],
  [/(?<=\S) {2,}/g, "  "],
  [/ +$/gm, ""],
];

function comparable(said: string): string {
  return DIFFERS.reduce((text, [pattern, word]) => text.replace(pattern, word), said);
}
