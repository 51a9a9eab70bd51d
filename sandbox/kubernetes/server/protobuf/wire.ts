/** Parses protobuf's wire format into numbered fields. `message.ts` gives the numbers their meaning. */

/** Bytes of a length-delimited field, or the number of a varint. */
export type Value = Buffer | number;

const CONTINUES = 128;
const LONGEST_VARINT = 10;

/**
 * Field number → its values in order.
 *
 *   wire type | holds
 *   ----------|------------------------------------------------
 *   0         | varint: integers, flags
 *   2         | length-delimited: text, bytes, messages
 *   others    | occur in no kind that is served: refused
 */
export function readFields(bytes: Buffer): ReadonlyMap<number, readonly Value[]> {
  const fields = new Map<number, Value[]>();
  const cursor = { bytes, at: 0 };
  while (cursor.at < bytes.length) {
    const tag = readVarint(cursor);
    const number = Math.floor(tag / 8);
    const values = fields.get(number) ?? [];
    fields.set(number, values);
    values.push(readValue(cursor, tag % 8));
  }
  return fields;
}

interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

function readValue(cursor: Cursor, wireType: number): Value {
  if (wireType === 0) return readVarint(cursor);
  if (wireType !== 2) throw new Error(`unexpected wire type ${wireType} in the protobuf body`);
  const length = readVarint(cursor);
  const end = cursor.at + length;
  if (length < 0 || end > cursor.bytes.length) throw endsEarly();
  const value = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return value;
}

/** Seven bits a byte, lowest first, 64 at most; negative numbers are the upper half of those. */
function readVarint(cursor: Cursor): number {
  let value = 0n;
  for (let read = 0; read < LONGEST_VARINT; read++) {
    const byte = cursor.bytes[cursor.at++];
    if (byte === undefined) throw endsEarly();
    value |= BigInt(byte % CONTINUES) << BigInt(7 * read);
    if (byte < CONTINUES) return Number(BigInt.asIntN(64, value));
  }
  throw new Error("a number in the protobuf body is too long");
}

function endsEarly(): Error {
  return new Error("the protobuf body ends too early");
}
