/** Reads untrusted values (control requests, seed files) and throws errors that name the key and what it accepts. */

/** A value from the user or a client cannot be used; the message names the key, the value and the fix. */
export class BadInput extends Error {
  override readonly name = "BadInput";
}

export type Fields = Readonly<Record<string, unknown>>;

export function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new BadInput(`${where} is not JSON: ${(error as Error).message}`);
  }
}

export function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw new BadInput(`${where} must be an object, not ${describe(value)}`);
}

export function listOf(value: unknown, where: string): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw new BadInput(`${where} must be a list, not ${describe(value)}`);
}

export function onlyKeys(fields: Fields, known: readonly string[], where: string): void {
  for (const key of Object.keys(fields)) {
    if (!known.includes(key)) throw new BadInput(`${where}: unknown key "${key}"; known are ${known.join(", ")}`);
  }
}

export function textOf(fields: Fields, key: string, where: string, fallback?: string): string {
  const value = fields[key] ?? fallback;
  if (typeof value === "string") return value;
  throw new BadInput(`${where}.${key} must be a string, not ${describe(value)}`);
}

/** A whole number of at least `least`. */
export function countOf(fields: Fields, key: string, where: string, least: number, fallback?: number): number {
  const value = fields[key] ?? fallback;
  if (typeof value === "number" && Number.isInteger(value) && value >= least) return value;
  throw new BadInput(`${where}.${key} must be a whole number of at least ${least}, not ${describe(value)}`);
}

export function choiceOf<Choice extends string>(value: unknown, choices: readonly Choice[], where: string): Choice {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw new BadInput(`${where} must be one of ${choices.join(", ")}, not ${describe(value)}`);
}

export function flagOf(fields: Fields, key: string, where: string): boolean {
  const value = fields[key];
  if (typeof value === "boolean") return value;
  throw new BadInput(`${where}.${key} must be true or false, not ${describe(value)}`);
}

export function describe(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
