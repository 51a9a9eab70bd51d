/**
 * The files of one server of the sandbox. In a directory that the user names, everything survives a restart; without one,
 * certificates and small files are in a temporary directory, removed at the end, and the state is in memory. Files and
 * folders are readable by their owner only; a directory that holds files of others keeps its mode.
 *
 *   pki/        certificate authority
 *   state/      journal and snapshots of the model
 *   *.json      ports, seed, tokens; the cloud config of a seeded cluster
 *   lock.json   the process that has it open: `directory-lock.ts`
 */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { BadInput } from "./input.ts";
import { lockDirectory } from "./directory-lock.ts";
import { makePrivateFolder, restrictFile, writePrivate } from "./private-files.ts";

const PKI = "pki";

export interface DataDirectory {
  readonly pki: string;
  /** `undefined`: the state is not kept. */
  readonly state: string | undefined;
  /** Writes a file atomically; returns its path. */
  write(name: string, value: unknown): string;
  /** The value last written under this name, or `undefined`. */
  read(name: string): unknown;
  /** Removes a temporary directory, or releases the lock of a lasting one. */
  dispose(): void;
}

/** Throws `BadInput` if another process has it open, or if it cannot be created or written. */
export function openDataDirectory(path: string | undefined): DataDirectory {
  const root = path ?? mkdtempSync(join(tmpdir(), "azlb-"));
  const unlock = path === undefined ? undefined : createAndLock(path);
  return {
    pki: join(root, PKI),
    state: path === undefined ? undefined : join(root, "state"),
    write(name, value) {
      const file = join(root, name);
      writePrivate(file, `${JSON.stringify(value, null, 2)}\n`);
      return file;
    },
    read(name) {
      restrictFile(join(root, name));
      try {
        return JSON.parse(readFileSync(join(root, name), "utf8")) as unknown;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    dispose() {
      if (unlock === undefined) rmSync(root, { recursive: true, force: true });
      else unlock();
    },
  };
}

/** Creates the directory if needed, and locks it against other processes. */
function createAndLock(path: string): () => void {
  try {
    makeDirectory(dirname(resolve(path)));
    if (!isDirectory(path) || isOurs(path)) makePrivateFolder(path);
    return lockDirectory(path);
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw new BadInput(
      `--data-dir ${path} cannot be used (${(error as Error).message}): choose a directory that can be made and written to`,
      { cause: error },
    );
  }
}

/**
 * Makes a directory and its parents, one by one. Node's recursive mkdir never returns where a parent exists but reports
 * ENOENT, as in /proc. Throws the file system's error.
 */
function makeDirectory(path: string): void {
  const whole = resolve(path);
  if (isDirectory(whole)) return;
  const parent = dirname(whole);
  if (parent !== whole) makeDirectory(parent);
  try {
    mkdirSync(whole);
  } catch (error) {
    if (!isDirectory(whole)) throw error; // another process made it first
  }
}

/** Whether it is empty, or was used as a data directory before. */
function isOurs(path: string): boolean {
  const files = readdirSync(path);
  return files.length === 0 || files.includes(PKI);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
