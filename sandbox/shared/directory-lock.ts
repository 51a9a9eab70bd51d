/**
 * Locks a data directory to one process: two writers would corrupt the journal. The lock is a file that names its holder
 * and is valid only while that process lives. A killed process, a later process with the same pid, and a copy of the
 * directory do not hold it.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { BadInput } from "./input.ts";

interface Holder {
  readonly pid: number;
  /** The kernel's start time of the process; `null` where the system does not report it. */
  readonly began: string | null;
  readonly directory: string;
}

/** Throws `BadInput` if a living process holds the lock; returns a function that releases it. */
export function lockDirectory(directory: string): () => void {
  const file = join(directory, "lock.json");
  const me: Holder = {
    pid: process.pid,
    began: statusOf(process.pid)?.began ?? null,
    directory: resolve(directory),
  };
  if (!take(file, me)) {
    const other = holderOf(file);
    if (other !== undefined && other.directory === me.directory && isAlive(other)) {
      throw new BadInput(
        `data directory ${directory} is in use by process ${other.pid}: stop it, or choose another one`,
      );
    }
    rmSync(file, { force: true });
    take(file, me);
  }
  return () => rmSync(file, { force: true });
}

/** `false` if the lock file exists. */
function take(file: string, me: Holder): boolean {
  try {
    writeFileSync(file, `${JSON.stringify(me)}\n`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** A lock file that cannot be parsed was torn by a crash and has no holder. */
function holderOf(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Holder;
  } catch {
    return undefined;
  }
}

function isAlive({ pid, began }: Holder): boolean {
  const status = statusOf(pid);
  if (status !== undefined) return !status.isEnded && status.began === (began ?? status.began);
  if (began !== null) return false; // the system reports start times, and found no such process
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const STATE = 0;
const START_TIME = 19;

/** The fields of Linux's /proc/PID/stat after the process name in parentheses. */
function statusOf(pid: number): { readonly began: string; readonly isEnded: boolean } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { began: fields[START_TIME] ?? "", isEnded: "ZX".includes(fields[STATE] ?? "") };
  } catch {
    return undefined;
  }
}
