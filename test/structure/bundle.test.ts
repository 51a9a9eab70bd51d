/**
 * Each shipped program can be bundled, and the bundle starts: an import that the bundler cannot follow, or a part that must not be
 * in a program, is noticed here. What the programs do from their images is for `test/e2e/image.e2e.ts`.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { PROGRAMS, bundle, bundleOf, type ProgramName } from "../../build/bundle.ts";
import { VERSION } from "../../src/main/version.ts";

for (const name of Object.keys(PROGRAMS) as ProgramName[]) {
  test(`the program ${name} can be bundled, and starts`, async () => {
    const dist = mkdtempSync(join(tmpdir(), "azlb-bundle-"));
    try {
      await bundle(name, dist);
      const { stdout } = await promisify(execFile)(process.execPath, [bundleOf(name, dist), "--version"]);
      assert.equal(stdout, `${VERSION}\n`);
    } finally {
      rmSync(dist, { recursive: true });
    }
  });
}
