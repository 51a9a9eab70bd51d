/**
 * Parses the values of flags, in the spellings that Go programs accept. Each error names the flag, the value and what is
 * allowed.
 */
import { InputError } from "./input-error.ts";

export function parseFlagBoolean(flag: string, value: string | boolean): boolean {
  if (typeof value === "boolean") return value;
  if (/^(true|t|1)$/i.test(value)) return true;
  if (/^(false|f|0)$/i.test(value)) return false;
  throw new InputError(`${flag} is "${value}"; it takes true or false`);
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `90s`, `1m30s`, `500ms`, as Go writes durations; `0` needs no unit. */
export function parseFlagDurationMs(flag: string, value: string): number {
  if (value === "0") return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(value)) {
    throw new InputError(`${flag} is "${value}"; it takes a duration such as 15s, 1m30s or 500ms`);
  }
  let totalMs = 0;
  for (const [, amount, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    totalMs += Number(amount) * (UNIT_MS[unit ?? ""] ?? 0);
  }
  return totalMs;
}

export function parseFlagNumber(flag: string, value: string, least: number, most: number): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < least || number > most) {
    throw new InputError(`${flag} is "${value}"; it takes a whole number from ${least} to ${most}`);
  }
  return number;
}
