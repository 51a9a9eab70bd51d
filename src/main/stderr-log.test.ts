/** What of the log reaches stderr, in which form. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { stderrLog } from "./stderr-log.ts";

function written(write: () => void): string[] {
  const lines: string[] = [];
  const stderr = mock.method(process.stderr, "write", (line: string) => lines.push(line) > 0);
  try {
    write();
  } finally {
    stderr.mock.restore();
  }
  return lines;
}

test("lines below the level are left out", () => {
  const lines = written(() => {
    const log = stderrLog("json", "warn");
    log.info("one");
    log.warn("two", { key: 1 });
    log.error("three");
  });
  const messages = lines.map((line) => JSON.parse(line) as { level: string; message: string; key?: number });
  assert.deepEqual(
    messages.map(({ level, message, key }) => [level, message, key]),
    [
      ["warn", "two", 1],
      ["error", "three", undefined],
    ],
  );
});

test("as text a line has its time, its level where that is not info, and its fields", () => {
  const [info = "", warn = ""] = written(() => {
    const log = stderrLog("text");
    log.info("one", { a: "b", c: undefined });
    log.warn("two", { d: { e: 1 } });
  });
  assert.match(info, /^[\d:.]{12} {2}one {2}a=b\n$/);
  assert.match(warn, /^[\d:.]{12} {2}warn: two {2}d=\{"e":1\}\n$/);
});
