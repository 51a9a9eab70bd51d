/**
 * The share of processor time that the host gave to other guests during a run ("steal" in `/proc/stat`). A virtual machine
 * cannot see it otherwise; above one per cent, figures in milliseconds mean little.
 */
import { readFileSync } from "node:fs";

interface Ticks {
  readonly stolen: number;
  readonly all: number;
}

/** `undefined` if the system does not report it. */
export async function withStolenShare<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly stolenShare: number | undefined }> {
  const before = ticks();
  const result = await work();
  const after = ticks();
  if (before === undefined || after === undefined) return { result, stolenShare: undefined };
  return { result, stolenShare: (after.stolen - before.stolen) / Math.max(1, after.all - before.all) };
}

function ticks(): Ticks | undefined {
  try {
    return parseTicks(readFileSync("/proc/stat", "utf8"));
  } catch {
    return undefined; // not Linux
  }
}

/** The first line: `cpu`, then user, nice, system, idle, iowait, irq, softirq, steal, and two that are in user already. */
export function parseTicks(stat: string): Ticks | undefined {
  const [name, ...counts] = (stat.split("\n")[0] ?? "").split(/\s+/);
  const values = counts.slice(0, 8).map(Number);
  const stolen = values[7];
  if (name !== "cpu" || stolen === undefined || values.some(Number.isNaN)) return undefined;
  return { stolen, all: values.reduce((sum, value) => sum + value, 0) };
}
