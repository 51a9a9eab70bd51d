/**
 * One process at a time in a data directory: two that write the same journal would spoil it. The lock is a file that
 * names its holder, and counts only as long as that very process lives: one that was killed, another one that was given
 * its number later, and a copy of the directory hold nothing.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { BadInput } from "./bad-input.ts";

interface Holder {
  readonly pid: number;
  /** When it began, in the kernel's own count; `null` where the system does not tell. */
  readonly began: string | null;
  readonly directory: string;
}

/** Throws `BadInput` where a living process has it; returns how to let go. */
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

/** `false` where there is a lock already. */
function take(file: string, me: Holder): boolean {
  try {
    writeFileSync(file, `${JSON.stringify(me)}\n`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** A file that cannot be read as a lock was torn by a crash, and is nobody's. */
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
  if (began !== null) return false; // the system tells of living processes, and this one is none
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const STATE = 0;
const START_TIME = 19;

/** What Linux says of a process, in the fields that follow its name in parentheses. */
function statusOf(pid: number): { readonly began: string; readonly isEnded: boolean } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { began: fields[START_TIME] ?? "", isEnded: "ZX".includes(fields[STATE] ?? "") };
  } catch {
    return undefined;
  }
}
