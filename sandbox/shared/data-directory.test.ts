import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
