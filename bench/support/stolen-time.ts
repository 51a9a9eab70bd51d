/**
 * How much of the processor the host gave to its other guests while something ran. A virtual machine cannot see that
 * otherwise: it was just slow, and figures in milliseconds mean little where it is more than a hundredth.
 */
import { readFileSync } from "node:fs";

interface Ticks {
  readonly stolen: number;
  readonly all: number;
}

/** `undefined` where the system does not say. */
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
    return undefined; // no Linux
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
