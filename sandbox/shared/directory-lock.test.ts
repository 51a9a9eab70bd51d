import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { BadInput } from "./input.ts";
import { lockDirectory } from "./directory-lock.ts";

const root = mkdtempSync(join(tmpdir(), "lock-"));
after(() => rmSync(root, { recursive: true }));
const fresh = (): string => mkdtempSync(join(root, "d"));

/** A process that locks the directory and stays until it is killed. */
async function holder(directory: string) {
  const module = JSON.stringify(new URL("./directory-lock.ts", import.meta.url).href);
  const script = `const { lockDirectory } = await import(${module});
    lockDirectory(${JSON.stringify(directory)}); process.stdout.write("held"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

test("a directory has one holder, which is named, until it lets go or is killed", async () => {
  const directory = fresh();
  const child = await holder(directory);
  const inUse = new RegExp(`${directory} is in use by process ${child.pid}: stop it, or choose another one`);
  assert.throws(() => lockDirectory(directory), { name: BadInput.name, message: inUse });
  child.kill("SIGKILL");
  await once(child, "exit");
  const release = lockDirectory(directory);
  assert.throws(() => lockDirectory(directory), BadInput, "also within a process");
  release();
  lockDirectory(directory)();
});

test("a copy, a torn lock and the lock of an earlier process of that number hold nothing", () => {
  const directory = fresh();
  const copy = fresh();
  const file = join(directory, "lock.json");
  const release = lockDirectory(directory);
  cpSync(directory, copy, { recursive: true });
  lockDirectory(copy)();
  const lock = JSON.parse(readFileSync(file, "utf8")) as { began: string | null };
  if (lock.began !== null) {
    writeFileSync(file, JSON.stringify({ ...lock, began: "1" }));
    lockDirectory(directory);
  }
  writeFileSync(file, '{"pid": ');
  lockDirectory(directory);
  release();
});
