/**
 * The bytes of a watch become events, in three steps: the stream is cut into lines, fields that are never read are left
 * out, and each line is parsed. What an event changes is decided by `reflector.ts`.
 */
import { failureOfStatus, KubeFailure, type KubeStatus } from "../client/kube-failure.ts";
import type { KubeObject } from "../client/resources.ts";

const NEWLINE = 0x0a;

/**
 * Cuts a stream of bytes into lines, still as bytes. An unfinished last line is dropped, because a cut connection
 * may end anywhere.
 */
export class LineCutter {
  /** The pieces of a line that has not ended yet; joined once, so a long line costs no more than its length. */
  #begun: Uint8Array[] = [];

  *push(chunk: Uint8Array): Generator<Buffer> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const rest = bytes.subarray(start, end);
      start = end + 1;
      if (this.#begun.length === 0) {
        yield rest;
      } else {
        const line = Buffer.concat([...this.#begun, rest]);
        this.#begun = [];
        yield line;
      }
    }
    if (start < bytes.length) this.#begun.push(bytes.subarray(start));
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `]` differ from `{` and `}` by this bit alone. */
const CURLY_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/**
 * Leaves fields out of JSON before it is parsed: reading past bytes costs a third of making objects of them, and
 * `managedFields` alone is often half of an object. Works on lines as Go writes them, without white space; what it
 * does not recognise stays in, so the worst that can happen is that nothing is saved.
 *
 * Left out is the first field of that name whose value is a list and that has a field before it: in objects of
 * Kubernetes, the one meant. The bytes `,"name":[` cannot occur within a string: there the quotes are escaped.
 */
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

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  /** Of a bookmark: nothing but a resourceVersion, and perhaps annotations. */
  readonly object: KubeObject;
}

/** Marks the bookmark that ends a streaming list. */
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/** A line of the stream makes no sense; only a new list is sure to help. */
export class UnreadableEvent extends KubeFailure {
  constructor(what: string, line: string) {
    super("transient", `${what}: not a watch event: ${line.slice(0, 100)}`);
  }
}

/** Throws the failure of an ERROR event (status 410: the version to resume from is too old), and `UnreadableEvent`. */
export function parseWatchEvent(what: string, line: string): WatchEvent {
  const event = parse(line);
  if (event?.type === "ERROR") {
    const status = (event.object ?? {}) as KubeStatus;
    throw failureOfStatus(what, status.code ?? 500, status);
  }
  if (!isWatchEvent(event)) throw new UnreadableEvent(what, line);
  return event;
}

function isWatchEvent(event: { type?: string; object?: KubeObject } | undefined): event is WatchEvent {
  const { name, resourceVersion } = event?.object?.metadata ?? {};
  if (typeof resourceVersion !== "string") return false;
  if (event?.type === "BOOKMARK") return true;
  return typeof name === "string" && ["ADDED", "MODIFIED", "DELETED"].includes(event?.type ?? "");
}

export function endsInitialEvents(bookmark: KubeObject): boolean {
  return bookmark.metadata.annotations?.[INITIAL_EVENTS_END] === "true";
}

function parse(line: string): { type?: string; object?: KubeObject } | undefined {
  try {
    return JSON.parse(line) as { type?: string; object?: KubeObject };
  } catch {
    return undefined;
  }
}
