/**
 * Files and folders that hold secrets: keys, tokens, the kubeconfig, the state. Only their owner can read them, also where
 * an earlier version, a copy or a wide umask left them readable by others.
 */
import {
  chmodSync,
  existsSync,
  fchmodSync,
  mkdirSync,
  openSync,
  closeSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const PERMISSIONS = 0o777;

/** Opens a file of the owner alone; the caller closes the descriptor. */
export function openPrivate(path: string, flags: "a" | "w"): number {
  const file = openSync(path, flags, FILE_MODE);
  try {
    fchmodSync(file, FILE_MODE);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Writes a file atomically. */
export function writePrivate(path: string, text: string): void {
  const file = openPrivate(`${path}.new`, "w");
  try {
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
}

/** Makes a folder below an existing one, or restricts the one that is there. */
export function makePrivateFolder(path: string): void {
  if (!existsSync(path)) mkdirSync(path, { mode: FOLDER_MODE });
  restrict(path, FOLDER_MODE);
}

/** Restricts an existing file; no-op if there is none. */
export function restrictFile(path: string): void {
  restrict(path, FILE_MODE);
}

/** `chmod` only where needed: it fails for files of another owner, also if nothing would change. */
function restrict(path: string, mode: number): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && (found.mode & PERMISSIONS) !== mode) chmodSync(path, mode);
}
