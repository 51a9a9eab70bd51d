import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

test("a closed pipe is not a failure", async () => {
  const azlb = spawn(process.execPath, [fileURLToPath(new URL("azlb.ts", import.meta.url)), "--help"]);
  azlb.stdout.destroy(); // before anything is written
  const [said, [code]] = await Promise.all([text(azlb.stderr), once(azlb, "exit")]);
  assert.deepEqual([code, said], [0, ""]);
});
