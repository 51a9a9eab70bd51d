import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { openDataDirectory } from "./data-directory.ts";

const root = mkdtempSync(join(tmpdir(), "data-"));
after(() => rmSync(root, { recursive: true }));

test("a directory is made with all that is missing above it, and opened again", () => {
  const path = join(root, "a", "b", "c");
  for (const value of [1, 2]) {
    const directory = openDataDirectory(path);
    directory.write("fact.json", value);
    assert.equal(directory.read("fact.json"), value);
    directory.dispose();
  }
});

test("one that cannot be is refused in one line with the flag, the value and the fix", () => {
  const file = join(root, "file");
  writeFileSync(file, "");
  const wrong = [join(file, "inside"), ...(existsSync("/proc/self") ? ["/proc/nowhere/inside", "/proc/self"] : [])];
  for (const path of wrong) {
    assert.throws(() => openDataDirectory(path), {
      name: "BadInput",
      message: new RegExp(
        `^--data-dir ${path} cannot be used \\(E[A-Z]+: .*\\): choose a directory that .* written to$`,
      ),
    });
  }
});

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test("it and its files are readable by their owner only, also where they were readable by others", () => {
  const path = join(root, "private");
  const first = openDataDirectory(path);
  const file = first.write("token.json", "secret");
  mkdirSync(first.pki);
  first.dispose();
  assert.deepEqual([modeOf(path), modeOf(file)], ["700", "600"]);

  chmodSync(path, 0o755);
  chmodSync(file, 0o644);
  writeFileSync(`${file}.new`, "", { mode: 0o644 }); // a write that was killed
  const again = openDataDirectory(path);
  assert.equal(again.read("token.json"), "secret");
  assert.deepEqual([modeOf(path), modeOf(file)], ["700", "600"]);
  again.write("token.json", "other");
  assert.equal(modeOf(file), "600");
  again.dispose();
});

test("a directory with files of others keeps its mode", () => {
  const path = join(root, "shared");
  mkdirSync(path);
  chmodSync(path, 0o755);
  writeFileSync(join(path, "notes.txt"), "");
  openDataDirectory(path).dispose();
  assert.equal(modeOf(path), "755");
});
