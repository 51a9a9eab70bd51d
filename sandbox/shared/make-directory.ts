/**
 * Makes a directory and those above it, one by one. Node's own recursion never ends where a parent exists and yet says
 * that it does not, as in /proc.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Throws as the file system does. */
export function makeDirectory(path: string): void {
  const whole = resolve(path);
  if (isDirectory(whole)) return;
  const parent = dirname(whole);
  if (parent !== whole) makeDirectory(parent);
  try {
    mkdirSync(whole);
  } catch (error) {
    if (!isDirectory(whole)) throw error; // somebody else was faster
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
