/**
 * Reads protobuf messages into the JSON form of the same object. Fields that the table does not name are skipped.
 *
 * Kubernetes always sends plain fields, even when unset; pointer fields are sent only when set. So the table marks the fields
 * whose zero value is a value (`!`), and a zero value of any other is unset. build/kubernetes-protobuf.ts lists the types.
 */
import { readFields, type Value } from "./wire.ts";

/** Converts all values of one field to JSON; undefined: unset. */
type Reader = (values: readonly Value[]) => unknown;

/** Field number → its name in JSON, and its reader. A nameless field's own fields stand in the message. */
type Message = ReadonlyMap<number, readonly [name: string, read: Reader]>;

type Table = Readonly<Record<string, Readonly<Record<string, readonly [name: string, type: string]>>>>;

export function readMessage(message: Message, bytes: Buffer): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [number, values] of readFields(bytes)) {
    const [name, read] = message.get(number) ?? [];
    const value = read?.(values);
    if (name === undefined || value === undefined) continue;
    if (name === "") Object.assign(object, value);
    else object[name] = value;
  }
  return object;
}

/** The messages of the table by name, each read when it is first needed: types may have parts of their own type. */
export function typeReaders(table: Table): (name: string) => Message {
  const known = new Map<string, Message>();
  const messageNamed = (name: string): Message => {
    let message = known.get(name);
    if (message === undefined) {
      const fields = Object.entries(table[name] ?? {});
      message = new Map(fields.map(([number, [field, type]]) => [Number(number), [field, readerOf(type)]]));
      known.set(name, message);
    }
    return message;
  };
  const readerOf = (type: string): Reader => {
    if (type.startsWith("!")) return kept(type.slice(1));
    const read = kept(type);
    return type in ZERO ? (values) => orUnset(type, read(values)) : read;
  };
  /** With zero values. */
  const kept = (type: string): Reader => {
    if (type.startsWith("[]")) return list(kept(type.slice(2)));
    if (type.startsWith("{}")) return map(kept(type.slice(2)));
    if (type.startsWith("@")) return (values) => readMessage(messageNamed(type.slice(1)), bytesOf(values));
    const read = SCALARS[type];
    if (read === undefined) throw new Error(`messages.json has the unknown type ${type}`);
    return read;
  };
  return messageNamed;
}

const ZERO: Readonly<Record<string, readonly unknown[]>> = { s: [""], i: [0], b: [false], x: [""], o: [0, ""] };

function orUnset(type: string, value: unknown): unknown {
  return ZERO[type]?.includes(value) ? undefined : value;
}

const text: Reader = (values) => bytesOf(values).toString();

const SCALARS: Readonly<Record<string, Reader>> = {
  s: text,
  i: (values) => integerOf(values),
  b: (values) => integerOf(values) !== 0,
  x: (values) => bytesOf(values).toString("base64"),
  t: (values) => timestamp(values, () => ""),
  u: (values) => timestamp(values, (nanos) => `.${String(Math.floor(nanos / 1_000)).padStart(6, "0")}`),
  /** {1: the amount as text}. */
  q: (values) => text(readFields(bytesOf(values)).get(1) ?? []),
  /** {1: which (0 number, 1 text), 2: number, 3: text}. */
  o: (values) => {
    const fields = readFields(bytesOf(values));
    return integerOf(fields.get(1) ?? []) === 0 ? integerOf(fields.get(2) ?? []) : text(fields.get(3) ?? []);
  },
  r: (values) => json(values),
  f: (values) => json(values),
  e: (values) => list(text)(readFields(bytesOf(values)).get(1) ?? []),
};

/** {1: JSON as text}. */
function json(values: readonly Value[]): unknown {
  const raw = text(readFields(bytesOf(values)).get(1) ?? []);
  return raw === "" ? undefined : (JSON.parse(raw as string) as unknown);
}

function list(read: Reader): Reader {
  return (values) => values.map((value) => read([value]));
}

/** A map is a list of entries {1: key, 2: value}. */
function map(read: Reader): Reader {
  return (values) =>
    Object.fromEntries(
      values.map((value) => {
        const entry = readFields(bytesOf([value]));
        return [text(entry.get(1) ?? []), read(entry.get(2) ?? [])];
      }),
    );
}

/** {1: seconds, 2: nanoseconds}; an empty message is no time. */
function timestamp(values: readonly Value[], fraction: (nanos: number) => string): string | undefined {
  const bytes = bytesOf(values);
  if (bytes.length === 0) return undefined;
  const fields = readFields(bytes);
  const second = new Date(integerOf(fields.get(1) ?? []) * 1_000).toISOString().slice(0, -".000Z".length);
  return `${second}${fraction(integerOf(fields.get(2) ?? []))}Z`;
}

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
