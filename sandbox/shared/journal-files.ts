/**
 * Reads the files of a journal, and tells a torn end from damage. A process that is killed in the middle of an append
 * leaves a torn last line, which no client was told of: it is cut. A damaged record with others after it, or a damaged
 * snapshot, would lose acknowledged changes: it is refused unless the user accepts the loss. Accepted damage is kept in
 * a file `*.damaged`.
 */
import { copyFileSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

import { BadInput } from "./input.ts";
import { restrictFile } from "./private-files.ts";

/** What the files hold, up to the end of the last whole record. */
export interface ReadJournal {
  readonly generation: number;
  readonly snapshot: unknown;
  readonly entries: readonly unknown[];
  readonly wholeBytes: number;
}

interface ReadOptions {
  readonly acceptLoss: boolean;
  readonly log: (line: string) => void;
}

const ACCEPT_LOSS_FLAG = "--accept-journal-loss";

export const snapshotPath = (directory: string, generation: number): string =>
  join(directory, `snapshot-${generation}.json`);
export const journalPath = (directory: string, generation: number): string =>
  join(directory, `journal-${generation}.log`);

export function readJournal(directory: string, options: ReadOptions): ReadJournal {
  const { generation, snapshot } = readSnapshot(directory, options);
  const path = journalPath(directory, generation);
  restrictFile(snapshotPath(directory, generation));
  const read = readRecords(readIfThere(path));
  const place = `record ${read.entries.length + 1} (line ${read.entries.length + 1}, byte ${read.wholeBytes})`;
  if (read.recordsAfter > 0) {
    const lost = `this record and ${read.recordsAfter} more`;
    if (!options.acceptLoss) throw damaged(`${path} is damaged at ${place}`, lost);
    copyFileSync(path, `${path}.damaged`);
    restrictFile(`${path}.damaged`);
    options.log(`${path} is damaged at ${place}: ${lost} are dropped, as accepted; see ${path}.damaged`);
  } else if (read.restBytes > 0) {
    options.log(`${path} ends with a torn record at ${place}: ${read.restBytes} bytes are cut`);
  }
  return { generation, snapshot, entries: read.entries, wholeBytes: read.wholeBytes };
}

export function dropGenerationsBefore(directory: string, generation: number): void {
  for (const file of readdirSync(directory)) {
    const digits = /^(?:snapshot|journal)-(\d+)\.(?:json|log)$/.exec(file)?.[1];
    if (digits !== undefined && Number(digits) < generation) rmSync(join(directory, file), { force: true });
  }
}

/** A line with its checksum. JSON has no raw line feed, so the line end is unambiguous. */
export function checksummed(json: string): string {
  return `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
}

/** The JSON of such a line, or `undefined` if it is damaged. */
function verified(line: string): string | undefined {
  const json = line.slice(9);
  return line[8] === " " && crc32(json).toString(16).padStart(8, "0") === line.slice(0, 8) ? json : undefined;
}

interface Base {
  readonly generation: number;
  readonly snapshot: unknown;
}

/**
 * The newest generation with a whole snapshot, or the first one, which has none. Newer ones are passed over where that
 * loses nothing: nothing was appended to their journals, and the files that they were to replace are there.
 */
function readSnapshot(directory: string, options: ReadOptions): Base {
  const generations = generationsIn(directory);
  let base: Base | undefined;
  const unusable: number[] = [];
  for (const generation of generations) {
    base = readBase(directory, generation);
    if (base !== undefined) break;
    unusable.push(generation);
  }
  const lost =
    base === undefined
      ? unusable[0]
      : unusable.find((generation) => readIfThere(journalPath(directory, generation)).length > 0);
  if (lost === undefined) return base ?? { generation: 0, snapshot: undefined };
  const path = snapshotPath(directory, lost);
  if (!options.acceptLoss)
    throw damaged(`${path} is ${isThere(path) ? "damaged" : "missing"}`, "all changes since the snapshot before it");
  for (const generation of unusable) setAside(directory, generation, options.log);
  return base ?? { generation: 0, snapshot: undefined };
}

function readBase(directory: string, generation: number): Base | undefined {
  const json = verified(readIfThere(snapshotPath(directory, generation)).toString("utf8").trimEnd());
  if (json !== undefined) return { generation, snapshot: JSON.parse(json) as unknown };
  return generation === 0 && isThere(journalPath(directory, 0)) ? { generation, snapshot: undefined } : undefined;
}

/** The generations that have a file, newest first. */
function generationsIn(directory: string): number[] {
  const found = readdirSync(directory).flatMap((file) => {
    const digits = /^(?:snapshot-(\d+)\.json|journal-(\d+)\.log)$/.exec(file);
    return digits === null ? [] : [Number(digits[1] ?? digits[2])];
  });
  return [...new Set(found)].sort((a, b) => b - a);
}

function damaged(what: string, lost: string): BadInput {
  return new BadInput(
    `${what}: starting would lose ${lost}; restore the file from a copy, or start with ${ACCEPT_LOSS_FLAG} to accept that`,
  );
}

function setAside(directory: string, generation: number, log: (line: string) => void): void {
  for (const path of [snapshotPath(directory, generation), journalPath(directory, generation)].filter(isThere)) {
    renameSync(path, `${path}.damaged`);
    restrictFile(`${path}.damaged`);
    log(`${path} cannot be used: it is dropped, as accepted; see ${path}.damaged`);
  }
}

interface ReadRecords {
  readonly entries: readonly unknown[];
  readonly wholeBytes: number;
  /** Bytes after the whole records at the start. */
  readonly restBytes: number;
  /** Lines after the first damaged one: unlike that, they cannot come from an interrupted append. */
  readonly recordsAfter: number;
}

function readRecords(bytes: Buffer): ReadRecords {
  const entries: unknown[] = [];
  let wholeBytes = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, wholeBytes)) {
    const json = verified(bytes.toString("utf8", wholeBytes, end));
    if (json === undefined) break;
    entries.push(JSON.parse(json));
    wholeBytes = end + 1;
  }
  const rest = bytes.subarray(wholeBytes);
  return { entries, wholeBytes, restBytes: rest.length, recordsAfter: linesAfterFirst(rest) };
}

function linesAfterFirst(bytes: Buffer): number {
  let lines = 0;
  for (let end = bytes.indexOf(10); end >= 0 && end + 1 < bytes.length; end = bytes.indexOf(10, end + 1)) lines += 1;
  return lines;
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
