/**
 * Prometheus' own `promtool`: the program that `PROMTOOL` names, else the one on PATH. It judges rules on series over time; here
 * series are written by hand, or continued from two scrapes of a controller.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { stringify } from "yaml";

import { findProgram } from "./find-program.ts";

/** `undefined`: there is none. */
export function findPromtool(): string | undefined {
  return findProgram("promtool");
}

export interface Scrape {
  readonly atMs: number;
  /** As Prometheus is served it. */
  readonly text: string;
}

/** Each series of both scrapes as it would be if it went on in the same way, minute by minute. */
function continued(first: Scrape, second: Scrape, minutes: number): { series: string; values: string }[] {
  const before = valuesOf(first.text);
  const perMinute = 60_000 / (second.atMs - first.atMs);
  return [...valuesOf(second.text)].map(([series, value]) => {
    const step = (value - (before.get(series) ?? value)) * perMinute;
    return { series, values: `${value.toFixed(6)}${step < 0 ? "-" : "+"}${Math.abs(step).toFixed(6)}x${minutes}` };
  });
}

/** The alerts that fire when what two scrapes show has gone on for so long. */
export async function firingAlerts(
  promtool: string,
  rules: string,
  scrapes: readonly [Scrape, Scrape],
  minutes = 40,
): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "azlb-alerts-"));
  try {
    const file = join(folder, "situation.test.yaml");
    const expr = 'count by (alertname) (ALERTS{alertstate="firing"})';
    const promql_expr_test = [{ expr, eval_time: `${minutes}m`, exp_samples: [] }];
    const input_series = continued(...scrapes, minutes);
    writeFileSync(
      file,
      stringify({ rule_files: [rules], tests: [{ interval: "1m", input_series, promql_expr_test }] }),
    );
    return await toldAgainst(promtool, file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What promtool found where the file expects nothing. */
async function toldAgainst(promtool: string, file: string): Promise<string[]> {
  try {
    await promisify(execFile)(promtool, ["test", "rules", file]);
    return [];
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const got = /got: (.*)/.exec(stdout + stderr)?.[1];
    if (got === undefined) throw new Error(`promtool: ${stdout}${stderr}`, { cause: error });
    return [...got.matchAll(/alertname="(\w+)"/g)].flatMap(([, alert]) => alert ?? []).toSorted();
  }
}

function valuesOf(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const pairs = lines.map((line): [string, number] => {
    const at = line.lastIndexOf(" ");
    return [line.slice(0, at), Number(line.slice(at + 1))];
  });
  return new Map(pairs.filter(([, value]) => Number.isFinite(value)));
}
