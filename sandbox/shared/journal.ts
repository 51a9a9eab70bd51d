/**
 * A durable log of JSON records with snapshots, safe against a kill at any moment: `append` returns after the kernel has
 * the bytes, and opening detects a torn last line by its checksum and truncates it. The records are opaque here.
 *
 *   file in the directory | content
 *   ----------------------|--------------------------------------------------------------
 *   snapshot-N.json       | checksum and JSON of everything before journal N
 *   journal-N.log         | one line a record since then: checksum, space, JSON
 *
 * Generation N replaces N-1: its snapshot is written to a temporary file and renamed, then the older files are removed.
 * Opening uses the newest snapshot that is complete.
 */
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

export interface Opened<Snapshot, Entry> {
  readonly snapshot: Snapshot | undefined;
  /** Every record since the snapshot, oldest first. */
  readonly entries: readonly Entry[];
  readonly journal: Journal<Snapshot, Entry>;
}

export interface Journal<Snapshot, Entry> {
  append(entry: Entry): void;
  /** Bytes since the last snapshot; the caller decides when to compact. */
  readonly size: number;
  compact(snapshot: Snapshot): void;
  close(): void;
}

export function openJournal<Snapshot, Entry>(directory: string): Opened<Snapshot, Entry> {
  mkdirSync(directory, { recursive: true });
  const found = newestSnapshot(directory);
  let generation = found?.generation ?? 0;
  const read = readEntries(journalPath(directory, generation));
  let file = openSync(journalPath(directory, generation), "a");
  ftruncateSync(file, read.wholeBytes);
  dropGenerationsBefore(directory, generation);
  let size = read.wholeBytes;

  return {
    snapshot: found?.snapshot as Snapshot | undefined,
    entries: read.entries as Entry[],
    journal: {
      append(entry) {
        const line = Buffer.from(sealed(JSON.stringify(entry)));
        writeAll(file, line);
        size += line.length;
      },
      get size() {
        return size;
      },
      compact(snapshot) {
        const next = generation + 1;
        writeSnapshot(snapshotPath(directory, next), JSON.stringify(snapshot));
        const nextFile = openSync(journalPath(directory, next), "w");
        closeSync(file);
        [file, generation, size] = [nextFile, next, 0];
        dropGenerationsBefore(directory, generation);
      },
      close() {
        closeSync(file);
      },
    },
  };
}

const snapshotPath = (directory: string, generation: number): string => join(directory, `snapshot-${generation}.json`);
const journalPath = (directory: string, generation: number): string => join(directory, `journal-${generation}.log`);

function newestSnapshot(directory: string): { generation: number; snapshot: unknown } | undefined {
  const generations = readdirSync(directory)
    .map((file) => /^snapshot-(\d+)\.json$/.exec(file)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => b - a);
  for (const generation of generations) {
    const json = unsealed(readFileSync(snapshotPath(directory, generation), "utf8").trimEnd());
    if (json !== undefined) return { generation, snapshot: JSON.parse(json) as unknown };
  }
  return undefined;
}

function writeSnapshot(path: string, json: string): void {
  const aside = `${path}.new`;
  const file = openSync(aside, "w");
  writeAll(file, Buffer.from(sealed(json)));
  fsyncSync(file);
  closeSync(file);
  renameSync(aside, path);
}

function dropGenerationsBefore(directory: string, generation: number): void {
  for (const file of readdirSync(directory)) {
    const digits = /^(?:snapshot|journal)-(\d+)\.(?:json|log)$/.exec(file)?.[1];
    if (digits !== undefined && Number(digits) < generation) rmSync(join(directory, file), { force: true });
  }
}

/** The complete records at the start of the file; nothing after the first damaged line was acknowledged. */
function readEntries(path: string): { entries: unknown[]; wholeBytes: number } {
  const entries: unknown[] = [];
  let wholeBytes = 0;
  const bytes = readIfThere(path);
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, wholeBytes)) {
    const json = unsealed(bytes.toString("utf8", wholeBytes, end));
    if (json === undefined) break;
    entries.push(JSON.parse(json));
    wholeBytes = end + 1;
  }
  return { entries, wholeBytes };
}

/** A line with its checksum. JSON has no raw line feed, so the line end is unambiguous. */
function sealed(json: string): string {
  return `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
}

function unsealed(line: string): string | undefined {
  const json = line.slice(9);
  return line[8] === " " && crc32(json).toString(16).padStart(8, "0") === line.slice(0, 8) ? json : undefined;
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
