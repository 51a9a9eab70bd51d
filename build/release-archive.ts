/**
 * Archives that are the same bytes for the same content: entries by name, one time, no owner, rights from one rule, and no time
 * in the compressed file's header. GNU tar writes them, zlib of this Node compresses them.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, createWriteStream, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

const STICKY = 0o1000;

/** `entries` of `folder` into `file`; every entry has the time `seconds` (since 1970). */
export async function writeArchive(
  file: string,
  folder: string,
  entries: readonly string[],
  seconds: number,
): Promise<void> {
  for (const entry of entries) levelRights(join(folder, entry));
  const flags = ["--sort=name", `--mtime=@${seconds}`, "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"];
  const tar = spawn("tar", ["--create", ...flags, "--directory", folder, ...entries], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(tar, "close") as Promise<[number | null]>;
  await pipeline(tar.stdout, createGzip(), createWriteStream(file));
  const [code] = await ended;
  if (code !== 0) throw new Error(`${file}: tar ended with ${code}; it has to be GNU tar`);
}

/** The rights of a checkout depend on who made it: what is executable stays so, all users may read, the owner alone may write. */
function levelRights(path: string): void {
  const { mode } = statSync(path);
  if ((mode & STICKY) !== 0) return; // an image's /tmp, where all users may write
  const isFolder = statSync(path).isDirectory();
  chmodSync(path, isFolder || (mode & 0o100) !== 0 ? 0o755 : 0o644);
  if (isFolder) for (const entry of readdirSync(path)) levelRights(join(path, entry));
}
