/**
 * Reads protobuf messages into the JSON form of the same object. Fields that the tables do not name are skipped.
 *
 * Kubernetes always sends plain fields, even when unset; pointer fields are sent only when set. Hence two readers for each
 * scalar:
 *
 *   reader                            | the zero value
 *   ----------------------------------|------------------------
 *   text, integer, flag               | is unset
 *   sentText, sentInteger, sentFlag   | is a value
 */
import { readFields, type Value } from "./wire.ts";

/** Converts all values of one field to JSON; undefined: unset. */
export type Reader = (values: readonly Value[]) => unknown;

/** Field number → its name in JSON, and its reader. */
export type Message = Readonly<Record<number, readonly [name: string, read: Reader]>>;

export function readMessage(message: Message, bytes: Buffer): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [number, values] of readFields(bytes)) {
    const [name, read] = message[number] ?? [];
    const value = read?.(values);
    if (name !== undefined && value !== undefined) object[name] = value;
  }
  return object;
}

export const sentText: Reader = (values) => bytesOf(values).toString();
export const sentInteger: Reader = (values) => integerOf(values);
export const sentFlag: Reader = (values) => integerOf(values) !== 0;

export const text: Reader = (values) => bytesOf(values).toString() || undefined;
export const integer: Reader = (values) => integerOf(values) || undefined;
export const flag: Reader = (values) => integerOf(values) !== 0 || undefined;

export const base64: Reader = (values) => bytesOf(values).toString("base64");

export function one(message: Message): Reader {
  return (values) => readMessage(message, bytesOf(values));
}

export function list(read: Reader): Reader {
  return (values) => values.map((value) => read([value]));
}

/** A map is a list of entries {1: key, 2: value}. */
export function map(read: Reader): Reader {
  return (values) =>
    Object.fromEntries(
      values.map((value) => {
        const entry = readFields(bytesOf([value]));
        return [sentText(entry.get(1) ?? []), read(entry.get(2) ?? [])];
      }),
    );
}

/** Seconds, `2026-01-02T03:04:05Z`. */
export const time: Reader = (values) => timestamp(values, () => "");

/** Microseconds, `2026-01-02T03:04:05.000006Z`. */
export const microTime: Reader = (values) =>
  timestamp(values, (nanos) => `.${String(Math.floor(nanos / 1_000)).padStart(6, "0")}`);

/** {1: seconds, 2: nanoseconds}; an empty message is no time. */
function timestamp(values: readonly Value[], fraction: (nanos: number) => string): string | undefined {
  const bytes = bytesOf(values);
  if (bytes.length === 0) return undefined;
  const fields = readFields(bytes);
  const second = new Date(integerOf(fields.get(1) ?? []) * 1_000).toISOString().slice(0, -".000Z".length);
  return `${second}${fraction(integerOf(fields.get(2) ?? []))}Z`;
}

/** {1: which (0 number, 1 text), 2: number, 3: text}; number 0 and no text are unset. */
export const integerOrText: Reader = (values) => {
  const fields = readFields(bytesOf(values));
  return integerOf(fields.get(1) ?? []) === 0 ? integer(fields.get(2) ?? []) : text(fields.get(3) ?? []);
};

/** {1: the amount as text}. */
export const quantity: Reader = (values) => sentText(readFields(bytesOf(values)).get(1) ?? []);

/** The last value wins; without one the bytes are empty. */
function bytesOf(values: readonly Value[]): Buffer {
  const value = values.at(-1) ?? Buffer.alloc(0);
  if (typeof value === "number") throw new Error("a number stands where the protobuf body should have bytes");
  return value;
}

function integerOf(values: readonly Value[]): number {
  const value = values.at(-1) ?? 0;
  if (typeof value !== "number") throw new Error("bytes stand where the protobuf body should have a number");
  return value;
}
