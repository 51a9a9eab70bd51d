/**
 * A durable log of JSON records with snapshots, safe against a kill at any moment: `append` returns after the kernel has
 * the bytes, and opening cuts a torn last line, which was never acknowledged. The records are opaque here.
 *
 *   file in the directory | content
 *   ----------------------|--------------------------------------------------------------
 *   snapshot-N.json       | checksum and JSON of everything before journal N
 *   journal-N.log         | one line a record since then: checksum, space, JSON
 *
 * Generation N replaces N-1: its journal is created, its snapshot is written to a temporary file and renamed, then the
 * older files are removed. `journal-files.ts` reads them, and decides what is torn and what is damaged.
 */
import { closeSync, fsyncSync, ftruncateSync, renameSync, rmSync, writeSync } from "node:fs";

import { checksummed, dropGenerationsBefore, journalPath, readJournal, snapshotPath } from "./journal-files.ts";
import { makePrivateFolder, openPrivate } from "./private-files.ts";

export interface Opened<Snapshot, Entry> {
  readonly snapshot: Snapshot | undefined;
  /** Every record since the snapshot, oldest first. */
  readonly entries: readonly Entry[];
  readonly journal: Journal<Snapshot, Entry>;
}

export interface Journal<Snapshot, Entry> {
  /** Throws `JournalWriteError` if the record cannot be kept; the journal then holds what it held before. */
  append(entry: Entry): void;
  /** Replaces the records by a snapshot once they exceed the limit. A failure is logged: the records stay. */
  compactIfLong(snapshot: () => Snapshot): void;
  close(): void;
}

export interface JournalOptions {
  /** Journals beyond this size are compacted, unless the state itself is about as large. */
  readonly compactAtBytes: number;
  /** Opens a damaged journal without its damaged record and those after it. */
  readonly acceptLoss: boolean;
  readonly log: (line: string) => void;
}

/** A change could not be written to the disk, so it must be neither applied nor acknowledged. */
export class JournalWriteError extends Error {
  override readonly name = "JournalWriteError";
}

const SNAPSHOT_FACTOR = 4;

/** Throws `BadInput` if a record other than the last is damaged and the loss is not accepted. */
export function openJournal<Snapshot, Entry>(directory: string, options: JournalOptions): Opened<Snapshot, Entry> {
  makePrivateFolder(directory);
  const read = readJournal(directory, options);
  const writer = new JournalWriter<Snapshot, Entry>(directory, options, read);
  return { snapshot: read.snapshot as Snapshot | undefined, entries: read.entries as Entry[], journal: writer };
}

class JournalWriter<Snapshot, Entry> implements Journal<Snapshot, Entry> {
  readonly #directory: string;
  readonly #log: (line: string) => void;
  readonly #leastCompactAtBytes: number;
  #compactAtBytes: number;
  #generation: number;
  #file: number;
  /** Bytes of whole records. */
  #size: number;
  /** Whether bytes of a failed write may follow the whole records. */
  #torn = true;

  constructor(directory: string, options: JournalOptions, read: { generation: number; wholeBytes: number }) {
    this.#directory = directory;
    this.#log = options.log;
    this.#leastCompactAtBytes = options.compactAtBytes;
    this.#compactAtBytes = options.compactAtBytes;
    this.#generation = read.generation;
    this.#size = read.wholeBytes;
    this.#file = openPrivate(journalPath(directory, read.generation), "a");
    this.#cutTorn();
    dropGenerationsBefore(directory, read.generation);
  }

  append(entry: Entry): void {
    const line = Buffer.from(checksummed(JSON.stringify(entry)));
    try {
      if (this.#torn) this.#cutTorn();
      this.#torn = true;
      writeAll(this.#file, line);
    } catch (error) {
      this.#cutTornIfPossible();
      const path = journalPath(this.#directory, this.#generation);
      throw new JournalWriteError(`the change could not be written to ${path}: ${(error as Error).message}`, {
        cause: error,
      });
    }
    this.#torn = false;
    this.#size += line.length;
  }

  compactIfLong(snapshot: () => Snapshot): void {
    if (this.#size <= this.#compactAtBytes) return;
    const json = JSON.stringify(snapshot());
    try {
      this.#compact(json);
      this.#compactAtBytes = Math.max(this.#leastCompactAtBytes, SNAPSHOT_FACTOR * json.length);
    } catch (error) {
      this.#compactAtBytes = 2 * this.#size; // not again at every change
      this.#log(`the journal could not be replaced by a snapshot, and stays: ${(error as Error).message}`);
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  /** A failure before the rename leaves this generation as it was. */
  #compact(json: string): void {
    const next = this.#generation + 1;
    const nextFile = openPrivate(journalPath(this.#directory, next), "w");
    try {
      writeSnapshot(snapshotPath(this.#directory, next), json);
    } catch (error) {
      closeSync(nextFile);
      rmSync(journalPath(this.#directory, next), { force: true });
      throw error;
    }
    closeSync(this.#file);
    [this.#file, this.#generation, this.#size, this.#torn] = [nextFile, next, 0, false];
    dropGenerationsBefore(this.#directory, next);
  }

  #cutTorn(): void {
    ftruncateSync(this.#file, this.#size);
    this.#torn = false;
  }

  /** At once, so that a process killed later leaves a clean end; `append` tries again if it fails. */
  #cutTornIfPossible(): void {
    try {
      this.#cutTorn();
    } catch {
      // The append has failed already, and the next one cuts first.
    }
  }
}

function writeSnapshot(path: string, json: string): void {
  const aside = `${path}.new`;
  try {
    const file = openPrivate(aside, "w");
    try {
      writeAll(file, Buffer.from(checksummed(json)));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(aside, path);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}
