/** The shape of what the server sent, where a wrong one would pass for something that is absent. */

/** The message names the field and what stood there instead. */
class MisshapenError extends Error {
  override readonly name = "MisshapenError";
}

/** A JSON object, or nothing; `null` is neither, a server leaves out what it has not. */
export function record<T extends object>(field: string, value: T | undefined): T | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new MisshapenError(`${field} must be an object, not ${described(value)}`);
}

/** A list whose items are something, or nothing. */
export function list<T>(field: string, value: readonly T[] | undefined): readonly T[] | undefined {
  if (value === undefined || value === null) return undefined; // Go's way to write an empty list
  if (!Array.isArray(value)) throw new MisshapenError(`${field} must be a list, not ${described(value)}`);
  if (value.includes(null)) throw new MisshapenError(`${field} must not hold null`);
  return value;
}

function described(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}
