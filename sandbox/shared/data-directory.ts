/**
 * Where a part of the sandbox keeps its files. With a directory of the user's everything outlives the process; without
 * one the certificates and small files stand in a temporary directory that goes with it, and the state is in memory.
 *
 *   pki/        certificate authority
 *   state/      journal and snapshots of the model
 *   *.json      small facts: ports, seed, tokens; the cloud config of a seeded cluster
 *   lock.json   who has it open: `directory-lock.ts`
 */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { BadInput } from "./bad-input.ts";
import { lockDirectory } from "./directory-lock.ts";
import { makeDirectory } from "./make-directory.ts";

export interface DataDirectory {
  readonly pki: string;
  /** `undefined`: the state is not kept. */
  readonly state: string | undefined;
  /** Writes a file whole, or not at all; returns its path. */
  write(name: string, value: unknown): string;
  /** The value last written under this name, or `undefined`. */
  read(name: string): unknown;
  /** Removes what was only temporary, and lets others have the rest. */
  dispose(): void;
}

/** Throws `BadInput` where another process has it open, and where it cannot be made or written to. */
export function openDataDirectory(path: string | undefined): DataDirectory {
  const root = path ?? mkdtempSync(join(tmpdir(), "azlb-"));
  const unlock = path === undefined ? undefined : hold(path);
  return {
    pki: join(root, "pki"),
    state: path === undefined ? undefined : join(root, "state"),
    write(name, value) {
      const file = join(root, name);
      writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
      renameSync(`${file}.new`, file);
      return file;
    },
    read(name) {
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

/** Makes it where it is not there, and keeps others out of it. */
function hold(path: string): () => void {
  try {
    makeDirectory(path);
    return lockDirectory(path);
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw new BadInput(
      `--data-dir ${path} cannot be used (${(error as Error).message}): choose a directory that can be made and written to`,
      { cause: error },
    );
  }
}
