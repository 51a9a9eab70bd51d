/**
 * The report of a benchmark: figures, and thresholds that must be met. `azlb bench` prints it as a table, or as it is with
 * `--json`.
 */

/** `bar` is the threshold, `holds` whether the value meets it. */
export interface Threshold {
  readonly value: number;
  readonly bar: number;
  readonly holds: boolean;
}

export interface BenchReport {
  readonly scenario: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly bars: Readonly<Record<string, Threshold>>;
  /** Conditions of the run: limits that were raised, a busy machine. */
  readonly notes?: readonly string[];
}

export function atMost(value: number, bar: number): Threshold {
  return { value, bar, holds: value <= bar };
}

export function atLeast(value: number, bar: number): Threshold {
  return { value, bar, holds: value >= bar };
}

/** A table for a terminal. */
export function renderReport({ scenario, figures, bars, notes = [] }: BenchReport): string {
  const width = Math.max(...[...Object.keys(figures), ...Object.keys(bars)].map((name) => name.length));
  const number = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 }).padStart(12);
  return [
    `bench ${scenario}`,
    ...Object.entries(figures).map(([name, value]) => `  ${name.padEnd(width)} ${number(value)}`),
    ...Object.entries(bars).map(
      ([name, { value, bar, holds }]) =>
        `  ${name.padEnd(width)} ${number(value)}   threshold ${bar}: ${holds ? "met" : "MISSED"}`,
    ),
    ...notes.map((note) => `  ${note}`),
    "",
  ].join("\n");
}
