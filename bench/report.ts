/** What a benchmark says: figures, and bars that must hold. `azlb bench` prints it; `--json` prints it as it is. */

export interface Bar {
  readonly value: number;
  readonly bar: number;
  readonly holds: boolean;
}

export interface BenchReport {
  readonly scenario: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly bars: Readonly<Record<string, Bar>>;
  /** What a reader must know beside the figures: limits that were raised, a machine that was busy. */
  readonly notes?: readonly string[];
}

export function atMost(value: number, bar: number): Bar {
  return { value, bar, holds: value <= bar };
}

export function atLeast(value: number, bar: number): Bar {
  return { value, bar, holds: value >= bar };
}

/** A table for people. */
export function renderReport({ scenario, figures, bars, notes = [] }: BenchReport): string {
  const width = Math.max(...[...Object.keys(figures), ...Object.keys(bars)].map((name) => name.length));
  const number = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 }).padStart(12);
  return [
    `bench ${scenario}`,
    ...Object.entries(figures).map(([name, value]) => `  ${name.padEnd(width)} ${number(value)}`),
    ...Object.entries(bars).map(
      ([name, { value, bar, holds }]) =>
        `  ${name.padEnd(width)} ${number(value)}   bar ${bar}: ${holds ? "holds" : "DOES NOT HOLD"}`,
    ),
    ...notes.map((note) => `  ${note}`),
    "",
  ].join("\n");
}
