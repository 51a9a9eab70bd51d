/** Durations as Go spells them: `90s`, `1m30s`, `1.5h`. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/gy;

/** Every duration is written shorter; the work grows with the length, which a user chooses. */
const LONGEST = 1_000;

/** `undefined` when the text is not a duration. */
export function parseDurationMs(text: string): number | undefined {
  if (text.length > LONGEST) return undefined;
  let totalMs = 0;
  let read = 0;
  PART.lastIndex = 0;
  for (let part = PART.exec(text); part !== null; part = PART.exec(text)) {
    totalMs += Number(part[1]) * (UNIT_MS[part[2] ?? ""] ?? 0);
    read = PART.lastIndex;
  }
  return read === text.length && read > 0 ? totalMs : undefined;
}

/** In whole seconds. */
export function formatDuration(ms: number): string {
  return `${Math.round(ms / 1_000)}s`;
}
