/**
 * Leaves fields out of JSON before it is parsed: reading past bytes costs a third of making objects of them, and
 * `managedFields` alone is often half of an object. Works on lines as Go writes them, without white space; what it
 * does not recognise stays in, so the worst that can happen is that nothing is saved.
 *
 * Left out is the first field of that name whose value is a list and that has a field before it: in objects of
 * Kubernetes, the one meant. The bytes `,"name":[` cannot occur within a string: there the quotes are escaped.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `]` differ from `{` and `}` by this bit alone. */
const CURLY_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

export class FieldOmitter {
  readonly #keys: readonly Buffer[];

  constructor(fields: readonly string[]) {
    this.#keys = fields.map((field) => Buffer.from(`,${JSON.stringify(field)}:[`));
  }

  /** The line as text, without those fields. */
  text(line: Buffer): string {
    let text = "";
    let from = 0;
    for (const { start, end } of this.#cuts(line)) {
      if (start < from) continue; // within a field that is left out already
      text += line.toString("utf8", from, start);
      from = end;
    }
    return text + line.toString("utf8", from);
  }

  #cuts(line: Buffer): Cut[] {
    const cuts: Cut[] = [];
    for (const key of this.#keys) {
      const start = line.indexOf(key);
      if (start === -1) continue;
      const end = endOfValue(line, start + key.length - 1);
      if (end !== -1) cuts.push({ start, end });
    }
    return cuts.length < 2 ? cuts : cuts.sort((a, b) => a.start - b.start);
  }
}

interface Cut {
  readonly start: number;
  readonly end: number;
}

/** Where the list or object that opens here is closed again. */
function endOfValue(line: Buffer, opensAt: number): number {
  let depth = 0;
  for (let at = opensAt; at < line.length; at++) {
    const byte = line[at]!;
    if (byte === QUOTE) {
      at = endOfString(line, at + 1);
      if (at === -1) return -1;
    } else if ((byte | CURLY_BIT) === OPENING) {
      depth += 1;
    } else if ((byte | CURLY_BIT) === CLOSING) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function endOfString(line: Buffer, from: number): number {
  for (let at = from; at < line.length; at++) {
    const byte = line[at]!;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  return -1;
}
